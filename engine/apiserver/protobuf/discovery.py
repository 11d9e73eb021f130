"""Aggregated discovery as protobuf, for who asks for it so; no client of Kubernetes' own does.

Its types are in no published schema, so their fields are a table here: number, and what is written there. Texts and
messages that are no pointers in Go are written also where they are empty. Source: k8s.io/api apidiscovery/v2
generated.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from engine.api.protobuf_writing import delimited, key
from engine.apiserver.protobuf.encoding import envelope
from engine.apiserver.protobuf.wire import LENGTH

Write = Callable[[int, Any], bytes]


def discovery_protobuf(document: dict[str, Any]) -> bytes:
    """An APIGroupDiscoveryList in its envelope."""
    return envelope(document, _message(_LIST, document))


def _message(fields: Mapping[str, tuple[int, Write]], value: Mapping[str, Any]) -> bytes:
    return b"".join(write(number, value.get(name)) for name, (number, write) in fields.items())


def _field(number: int, payload: bytes) -> bytes:
    return key(number, LENGTH) + delimited(payload)


def _text(number: int, value: str | None) -> bytes:
    return _field(number, (value or "").encode())


def _texts(number: int, values: list[str] | None) -> bytes:
    return b"".join(_text(number, value) for value in values or ())


def _one(number: int, value: Mapping[str, Any] | None, *, of: Mapping[str, tuple[int, Write]]) -> bytes:
    """A pointer."""
    return b"" if value is None else _field(number, _message(of, value))


def _many(number: int, values: list[Any] | None, *, of: Mapping[str, tuple[int, Write]]) -> bytes:
    return b"".join(_field(number, _message(of, value)) for value in values or ())


def _object_meta(number: int, value: Mapping[str, Any] | None) -> bytes:
    """Of which a group has its name alone: the others are there and empty, creationTimestamp as a message."""
    texts = [(value or {}).get("name", ""), "", "", "", "", ""]
    before = b"".join(_text(place, text) for place, text in enumerate(texts, 1))
    return _field(number, before + key(7, 0) + b"\0" + _field(8, b""))


def _list_meta(number: int, value: Mapping[str, Any] | None) -> bytes:
    return _field(number, b"".join(_text(place, "") for place in (1, 2, 3)))


_KIND: Mapping[str, tuple[int, Write]] = {"group": (1, _text), "version": (2, _text), "kind": (3, _text)}
_SUBRESOURCE: Mapping[str, tuple[int, Write]] = {
    "subresource": (1, _text),
    "responseKind": (2, partial(_one, of=_KIND)),
    "acceptedTypes": (3, partial(_many, of=_KIND)),
    "verbs": (4, _texts),
}
_RESOURCE: Mapping[str, tuple[int, Write]] = {
    "resource": (1, _text),
    "responseKind": (2, partial(_one, of=_KIND)),
    "scope": (3, _text),
    "singularResource": (4, _text),
    "verbs": (5, _texts),
    "shortNames": (6, _texts),
    "categories": (7, _texts),
    "subresources": (8, partial(_many, of=_SUBRESOURCE)),
}
_VERSION: Mapping[str, tuple[int, Write]] = {
    "version": (1, _text),
    "resources": (2, partial(_many, of=_RESOURCE)),
    "freshness": (3, _text),
}
_GROUP: Mapping[str, tuple[int, Write]] = {"metadata": (1, _object_meta), "versions": (2, partial(_many, of=_VERSION))}
_LIST: Mapping[str, tuple[int, Write]] = {"metadata": (1, _list_meta), "items": (2, partial(_many, of=_GROUP))}
