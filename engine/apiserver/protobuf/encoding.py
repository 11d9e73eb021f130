"""From an object to its protobuf: the way back of `decoding`, byte for byte as Go's generated code writes it.

Fields come in the order of their numbers. One that is no pointer in Go is written also where it is zero, a map sorted
by its keys. How the objects of a definition are written is worked out once.
Source: apimachinery pkg/runtime/serializer/protobuf, k8s.io/api generated.pb.go.
"""

from __future__ import annotations

import struct
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

import orjson

from engine.api.field_numbers import field_numbers, message_name
from engine.api.golang.duration import parse_duration
from engine.api.protobuf_writing import delimited, key, varint
from engine.api.schema import DURATION, INT_OR_STRING, MICRO_TIME, QUANTITY, TIME, Definitions, Schema
from engine.api.types import GVK, Object
from engine.apiserver.protobuf.decoding import (
    FIELDS_V1,
    JSON_SCHEMAS,
    MAGIC,
    RAW,
    TYPED_LISTS,
    schema_of,
)
from engine.apiserver.protobuf.wire import FIXED64, LENGTH, VARINT

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_PARTIAL, _PARTIAL_LIST = "PartialObjectMetadata", "PartialObjectMetadataList"

Message = Callable[[Mapping[str, Any]], bytes]
_Place = tuple[int, Callable[[Any], bytes]]


class NoProtobuf(Exception):
    """A kind that has no protobuf: a custom one, or a Table."""


class _Codec(NamedTuple):
    """How a value is written. `zero` is what a plain field of Go's has where there is no value; None for nothing."""

    kind: int
    payload: Callable[[Any], bytes]
    zero: Callable[[], bytes] | None


class _Field(NamedTuple):
    name: str  # "" for a message whose fields belong to the outer object
    put: Callable[[Any], bytes]
    zero: Callable[[], bytes]


class Encoder:
    """Raises NoProtobuf for what has none."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._messages: dict[str, _Message] = {}

    def encode(self, obj: Object) -> bytes:
        """An object of any kind in its envelope."""
        return envelope(obj, self.message_of(obj)(obj))

    def message_of(self, obj: Object) -> Message:
        """How the objects of the kind are written, without their envelope."""
        kind = str(obj.get("kind", ""))
        if kind in (_PARTIAL, _PARTIAL_LIST):
            return self._partial() if kind == _PARTIAL else self._partial_list()
        schema = schema_of(self._definitions, GVK(*_group_version(str(obj.get("apiVersion", ""))), kind))
        if schema is None:
            raise NoProtobuf(kind)
        return self._message(schema)

    def item_of(self, body: Object) -> Callable[[Object], bytes]:
        """How an item of a list is written as the field of the list's message that it is."""
        if body["kind"] == _PARTIAL_LIST:
            return _repeated(2, self._partial())
        schema = schema_of(self._definitions, GVK(*_group_version(body["apiVersion"]), body["kind"]))
        items = schema.properties.get("items") if schema is not None else None
        if items is None or items.items is None:
            raise NoProtobuf(body["kind"])
        return _repeated(2, self._message(items.items))

    def _partial(self) -> Message:
        return _Message([_field(1, "metadata", self._codec(self._definitions[f"{_META}ObjectMeta"]), plain=True)])

    def _partial_list(self) -> Message:
        return _Message([_field(1, "metadata", self._codec(self._definitions[f"{_META}ListMeta"]), plain=True)])

    # -- by schema

    def _message(self, schema: Schema) -> _Message:
        name = message_name(schema.definition)
        known = self._messages.get(name)
        if known is None:
            known = self._messages[name] = _Message([])  # before its fields, which may be of the same type
            try:
                known.fields += self._fields(schema, name)
            except NoProtobuf:
                del self._messages[name]
                raise
        return known

    def _fields(self, schema: Schema, message: str) -> list[_Field]:
        numbers = field_numbers().get(message)
        if numbers is None:
            if schema.properties:
                raise NoProtobuf(message)
            return []  # an empty struct
        found = []
        for number, (name, keeps_zero) in sorted(numbers.items()):
            if name.startswith("+"):
                found.append(_Field("", _repeated(number, _Message(self._fields(schema, name[1:]))), bytes))
            elif (node := schema.properties.get(name)) is not None:
                if (message, name) in TYPED_LISTS:
                    found.append(_Field(name, _written(key(number, LENGTH), self._typed(node).payload), bytes))
                else:
                    found.append(self._field(number, name, node, plain=not keeps_zero))
        return found

    def _field(self, number: int, name: str, node: Schema, *, plain: bool) -> _Field:
        if node.type == "array" and node.items is not None:
            codec = self._codec(node.items)
            return _Field(name, _each(key(number, codec.kind), codec.payload), bytes)
        if node.type == "object" and node.values is not None:
            return _Field(name, _map(key(number, LENGTH), self._typed(node.values)), bytes)
        return _field(number, name, self._codec(node), plain=plain)

    def _typed(self, node: Schema) -> _Codec:
        """Of a value that has a type of its own: a list is a message then, whose field 1 repeats."""
        if node.type != "array" or node.items is None:
            return self._codec(node)
        inner = self._codec(node.items)
        put = _each(key(1, inner.kind), inner.payload)
        return _Codec(LENGTH, lambda value: delimited(put(value)), None)

    def _codec(self, node: Schema) -> _Codec:
        if node.quantity or node.definition == QUANTITY:
            return _Codec(LENGTH, _quantity, lambda: _quantity("0"))
        if node.int_or_string or node.definition == INT_OR_STRING:
            return _Codec(LENGTH, _int_or_string, lambda: _int_or_string(0))
        if node.definition in (TIME, MICRO_TIME):
            return _Codec(LENGTH, _time, lambda: b"\0")
        if node.definition == DURATION:
            return _Codec(LENGTH, _duration, lambda: _duration("0"))
        if node.definition in (RAW, FIELDS_V1):
            return _Codec(LENGTH, _raw, lambda: b"\0")
        if node.definition.startswith(JSON_SCHEMAS) and node.type != "object":
            return self._schema_part(node)
        if node.type == "object":
            message = self._message(node)
            return _Codec(LENGTH, lambda value: delimited(message(value)), lambda: delimited(message({})))
        return _scalar(node)

    def _schema_part(self, node: Schema) -> _Codec:
        """What in a JSON schema has no one type: any JSON, or a schema or else a truth value, schemas or names."""
        kind = node.definition.removeprefix(JSON_SCHEMAS)
        if kind == "":
            return _Codec(LENGTH, _raw, None)
        props = self._message(self._definitions[f"{JSON_SCHEMAS}SchemaProps"])
        first, second = key(1, LENGTH), key(2, LENGTH)

        def put(value: Any) -> bytes:
            if kind == "SchemaPropsOrBool":
                is_schema = isinstance(value, Mapping)
                allows = key(1, VARINT) + varint(is_schema or bool(value))
                return delimited(allows + (second + delimited(props(value)) if is_schema else b""))
            if isinstance(value, Mapping):
                return delimited(first + delimited(props(value)))
            each = (props(item) if isinstance(item, Mapping) else str(item).encode() for item in value)
            return delimited(b"".join(second + delimited(item) for item in each))

        return _Codec(LENGTH, put, None)


class _Message:
    """Its fields in the order of their numbers. An object has few of the fields of its kind: those that it has are put
    among what all others are where they have no value."""

    def __init__(self, fields: list[_Field]) -> None:
        self.fields = fields

    def __call__(self, value: Mapping[str, Any]) -> bytes:
        places = self._places
        parts = self._empty.copy()
        for name, found in value.items():
            if found is not None and (place := places.get(name)) is not None:
                index, put = place
                parts[index] = put(found)
        for index, put in self._inlined:
            parts[index] = put(value)
        return b"".join(parts)

    @cached_property
    def _empty(self) -> list[bytes]:
        return [field.zero() for field in self.fields]

    @cached_property
    def _places(self) -> dict[str, _Place]:
        return {field.name: (index, field.put) for index, field in enumerate(self.fields) if field.name}

    @cached_property
    def _inlined(self) -> list[_Place]:
        return [(index, field.put) for index, field in enumerate(self.fields) if not field.name]


def envelope(obj: Object, message: bytes) -> bytes:
    """runtime.Unknown, whose encoding and media type are left empty; what /api answers is of no version."""
    texts = (str(obj.get("apiVersion", "")), str(obj["kind"]))
    of_type = b"".join(key(number, LENGTH) + delimited(text.encode()) for number, text in enumerate(texts, 1))
    parts = (of_type, message, b"", b"")
    return MAGIC + b"".join(key(number, LENGTH) + delimited(part) for number, part in enumerate(parts, 1))


def _group_version(api_version: str) -> tuple[str, str]:
    group, _, version = api_version.rpartition("/")
    return group, version


def _field(number: int, name: str, codec: _Codec, *, plain: bool) -> _Field:
    before, absent = key(number, codec.kind), codec.zero
    if not plain or absent is None:
        return _Field(name, _written(before, codec.payload), bytes)
    return _Field(name, _written(before, codec.payload), lambda: before + absent())


def _written(before: bytes, payload: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    return lambda value: before + payload(value)


def _each(before: bytes, payload: Callable[[Any], bytes]) -> Callable[[Sequence[Any]], bytes]:
    return lambda values: b"".join(before + payload(value) for value in values)


def _repeated(number: int, message: Message) -> Callable[[Object], bytes]:
    before = key(number, LENGTH)
    return lambda item: before + delimited(message(item))


def _map(before: bytes, codec: _Codec) -> Callable[[Mapping[str, Any]], bytes]:
    value_key = key(2, codec.kind)

    def put(entries: Mapping[str, Any]) -> bytes:
        return b"".join(
            before + delimited(b"\n" + delimited(name.encode()) + value_key + codec.payload(entries[name]))
            for name in sorted(entries)
        )

    return put


def _scalar(node: Schema) -> _Codec:
    match node.type:
        case "boolean":
            return _Codec(VARINT, lambda value: b"\1" if value else b"\0", lambda: b"\0")
        case "integer":
            return _Codec(VARINT, varint, lambda: b"\0")
        case "number":
            return _Codec(FIXED64, lambda value: struct.pack("<d", value), lambda: bytes(8))
        case "string" if node.format == "byte":
            return _Codec(LENGTH, lambda value: delimited(b64decode(value)), None)
        case "string":
            return _Codec(LENGTH, lambda value: delimited(str(value).encode()), lambda: b"\0")
        case _:
            raise NoProtobuf(node.definition)


def _quantity(value: Any) -> bytes:
    return delimited(b"\n" + delimited(str(value).encode()))


def _int_or_string(value: Any) -> bytes:
    is_text = isinstance(value, str)
    number, text = (0, value) if is_text else (value, "")
    return delimited(b"\x08" + varint(is_text) + b"\x10" + varint(number) + b"\x1a" + delimited(text.encode()))


def _time(value: str) -> bytes:
    since = datetime.fromisoformat(value) - _EPOCH
    seconds = since.days * 86_400 + since.seconds
    return delimited(b"\x08" + varint(seconds) + b"\x10" + varint(since.microseconds * 1000))


def _duration(value: str) -> bytes:
    return delimited(b"\x08" + varint(round(parse_duration(value) * 10**9)))


def _raw(value: Any) -> bytes:
    return delimited(b"\n" + delimited(orjson.dumps(value)))
