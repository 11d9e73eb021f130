"""Kubernetes' protobuf encoding of request bodies, which kubectl's typed commands send."""

from engine.apiserver.protobuf.decoding import MEDIA_TYPE, decode_body

__all__ = ["MEDIA_TYPE", "decode_body"]
