"""etcd's answers as protobuf messages (api/etcdserverpb rpc.proto, api/mvccpb kv.proto), made of the documents that the
debug endpoints send: etcdctl's `--write-out=protobuf`."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping
from typing import Any

from engine.api.protobuf_writing import delimited, key, varint

Document = Mapping[str, Any]

_NUMBER, _BYTES, _TEXT = "number", "bytes", "text"
# The fields of each message: name, number, and type, which is the name of a message or one of the three above.
_HEADER = (("cluster_id", 1, _NUMBER), ("member_id", 2, _NUMBER), ("revision", 3, _NUMBER), ("raft_term", 4, _NUMBER))
_MESSAGES: dict[str, tuple[tuple[str, int, str], ...]] = {
    "ResponseHeader": _HEADER,
    "KeyValue": (
        ("key", 1, _BYTES),
        ("create_revision", 2, _NUMBER),
        ("mod_revision", 3, _NUMBER),
        ("version", 4, _NUMBER),
        ("value", 5, _BYTES),
        ("lease", 6, _NUMBER),
    ),
    "Event": (("type", 1, _NUMBER), ("kv", 2, "KeyValue"), ("prev_kv", 3, "KeyValue")),
    "RangeResponse": (
        ("header", 1, "ResponseHeader"),
        ("kvs", 2, "KeyValue"),
        ("more", 3, _NUMBER),
        ("count", 4, _NUMBER),
    ),
    "PutResponse": (("header", 1, "ResponseHeader"), ("prev_kv", 2, "KeyValue")),
    "DeleteRangeResponse": (("header", 1, "ResponseHeader"), ("deleted", 2, _NUMBER), ("prev_kvs", 3, "KeyValue")),
    "ResponseOp": (
        ("ResponseRange", 1, "RangeResponse"),
        ("ResponsePut", 2, "PutResponse"),
        ("ResponseDeleteRange", 3, "DeleteRangeResponse"),
    ),
    "TxnResponseOp": (("Response", 0, "ResponseOp"),),
    "TxnResponse": (("header", 1, "ResponseHeader"), ("succeeded", 2, _NUMBER), ("responses", 3, "TxnResponseOp")),
    "WatchResponse": (
        ("Header", 1, "ResponseHeader"),
        ("Created", 3, _NUMBER),
        ("Canceled", 4, _NUMBER),
        ("CompactRevision", 5, _NUMBER),
        ("Events", 11, "Event"),
    ),
    "Member": (
        ("ID", 1, _NUMBER),
        ("name", 2, _TEXT),
        ("peerURLs", 3, _TEXT),
        ("clientURLs", 4, _TEXT),
        ("isLearner", 5, _NUMBER),
    ),
    "MemberListResponse": (("header", 1, "ResponseHeader"), ("members", 2, "Member")),
    "AlarmMember": (("memberID", 1, _NUMBER), ("alarm", 2, _NUMBER)),
    "AlarmResponse": (("header", 1, "ResponseHeader"), ("alarms", 2, "AlarmMember")),
}


def message(kind: str, document: Document) -> bytes:
    return b"".join(_fields(kind, document))


def _fields(kind: str, document: Document) -> Iterable[bytes]:
    for name, number, type_ in _MESSAGES[kind]:
        found = document.get(name)
        for value in found if isinstance(found, list) else [found]:
            if type_ == _NUMBER:
                if value:
                    yield key(number, 0) + varint(int(value))
            elif value is not None:
                yield _delimited(number, type_, value)


def _delimited(number: int, kind: str, value: Any) -> bytes:
    if kind == _BYTES:
        content = b64decode(value)
    elif kind == _TEXT:
        content = value.encode()
    else:
        content = message(kind, value)
    if not number:  # a document within the document that is none of its own on the wire
        return content
    return key(number, 2) + delimited(content)
