"""Kubernetes' protobuf: bodies of requests, which kubectl's typed commands send, and answers for who wants them so."""

from engine.apiserver.protobuf.decoding import decode_body
from engine.apiserver.protobuf.encoding import Encoder

__all__ = ["Encoder", "decode_body"]
