"""`/openapi/v2` as a protocol buffer, the only form in which client-go reads it (gnostic openapiv2/OpenAPIv2.proto).

kubectl asks for it when OpenAPI v3 knows nothing of a group and version, as for a kind that does not exist. The
messages are a table of their fields: number and how a value is written. Values of extensions, defaults and enums are
YAML text, as in gnostic; JSON is YAML.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from engine.api.protobuf_writing import delimited, key, varint

# What clients ask for it by: the name of today and the one before.
MEDIA_TYPES = frozenset(
    {
        "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    }
)

Writer = Callable[[int, Any], bytes]  # field number and value to the field's bytes
Fields = Mapping[str, tuple[int, Writer]]


def document(spec: Mapping[str, Any]) -> bytes:
    """The whole of a Swagger 2.0 document."""
    return _message(_DOCUMENT, spec)


# -- the wire


def _delimited(number: int, payload: bytes) -> bytes:
    return key(number, 2) + delimited(payload)


def _text(number: int, value: str) -> bytes:
    return _delimited(number, value.encode())


def _texts(number: int, values: list[str]) -> bytes:
    return b"".join(_text(number, value) for value in values)


def _flag(number: int, value: bool) -> bytes:
    return key(number, 0) + varint(int(value))


def _integer(number: int, value: int) -> bytes:
    return key(number, 0) + varint(value)


def _double(number: int, value: float) -> bytes:
    return key(number, 1) + struct.pack("<d", value)


def _any(number: int, value: Any) -> bytes:
    """message Any, by its YAML."""
    return _delimited(number, _text(2, orjson.dumps(value).decode()))


def _anys(number: int, values: list[Any]) -> bytes:
    return b"".join(_any(number, value) for value in values)


def _message(fields: Fields, value: Mapping[str, Any]) -> bytes:
    """A message: the fields that the table has, and what starts with `x-` as vendor extensions."""
    out = []
    for name, item in value.items():
        if name in fields:
            number, write = fields[name]
            out.append(write(number, item))
        elif name.startswith("x-") and "x-" in fields:
            number, _ = fields["x-"]
            out.append(_delimited(number, _text(1, name) + _any(2, item)))
    return b"".join(out)


def _of(fields: Callable[[], Fields]) -> Writer:
    """A field that is a message; the table is looked up late, since schemas hold schemas."""
    return lambda number, value: _delimited(number, _message(fields(), value))


def _each(write: Writer) -> Writer:
    return lambda number, values: b"".join(write(number, value) for value in values)


def _named(write: Writer, entry: int = 1) -> Writer:
    """A map, written as a message whose field `entry` repeats pairs of name and value."""

    def pairs(number: int, values: Mapping[str, Any]) -> bytes:
        return _delimited(
            number, b"".join(_delimited(entry, _text(1, name) + write(2, value)) for name, value in values.items())
        )

    return pairs


def _one_of(choose: Callable[[Any], tuple[int, Writer]]) -> Writer:
    """A message that holds one of several."""

    def wrapped(number: int, value: Any) -> bytes:
        inner, write = choose(value)
        return _delimited(number, write(inner, value))

    return wrapped


# -- the messages


def _extended(number: int) -> Fields:
    return {"x-": (number, _any)}


_schema = _of(lambda: _SCHEMA)


def _type_item(number: int, value: str | list[str]) -> bytes:
    return _delimited(number, _texts(1, [value] if isinstance(value, str) else value))


def _items_item(number: int, value: Mapping[str, Any]) -> bytes:
    return _delimited(number, _schema(1, value))


_SCHEMA: Fields = {
    "$ref": (1, _text),
    "format": (2, _text),
    "title": (3, _text),
    "description": (4, _text),
    "default": (5, _any),
    "maximum": (7, _double),
    "minimum": (9, _double),
    "maxLength": (11, _integer),
    "minLength": (12, _integer),
    "pattern": (13, _text),
    "maxItems": (14, _integer),
    "minItems": (15, _integer),
    "uniqueItems": (16, _flag),
    "maxProperties": (17, _integer),
    "minProperties": (18, _integer),
    "required": (19, _texts),
    "enum": (20, _anys),
    "additionalProperties": (21, _one_of(lambda value: (2, _flag) if isinstance(value, bool) else (1, _schema))),
    "type": (22, _type_item),
    "items": (23, _items_item),
    "allOf": (24, _each(_schema)),
    "properties": (25, _named(_schema)),
    **_extended(31),
}

_BODY_PARAMETER: Fields = {
    "description": (1, _text),
    "name": (2, _text),
    "in": (3, _text),
    "required": (4, _flag),
    "schema": (5, _schema),
    **_extended(6),
}
_QUERY_PARAMETER: Fields = {
    "required": (1, _flag),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (6, _text),
    "format": (7, _text),
    "uniqueItems": (20, _flag),
    **_extended(23),
}
_PATH_PARAMETER: Fields = {
    "required": (1, _flag),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (5, _text),
    "format": (6, _text),
    "uniqueItems": (19, _flag),
    **_extended(22),
}
_REFERENCE: Fields = {"$ref": (1, _text), "description": (2, _text)}


def _plain_parameter(value: Mapping[str, Any]) -> tuple[int, Writer]:
    if value["in"] == "path":
        return 4, _of(lambda: _PATH_PARAMETER)
    return 3, _of(lambda: _QUERY_PARAMETER)


_parameter = _one_of(
    lambda value: (1, _of(lambda: _BODY_PARAMETER)) if value["in"] == "body" else (2, _one_of(_plain_parameter))
)
_parameters = _each(_one_of(lambda value: (2, _of(lambda: _REFERENCE)) if "$ref" in value else (1, _parameter)))

_RESPONSE: Fields = {
    "description": (1, _text),
    "schema": (2, _one_of(lambda _: (1, _schema))),
    **_extended(5),
}
_response = _one_of(lambda value: (2, _of(lambda: _REFERENCE)) if "$ref" in value else (1, _of(lambda: _RESPONSE)))

_OPERATION: Fields = {
    "tags": (1, _texts),
    "summary": (2, _text),
    "description": (3, _text),
    "operationId": (5, _text),
    "produces": (6, _texts),
    "consumes": (7, _texts),
    "parameters": (8, _parameters),
    "responses": (9, _named(_response)),
    "schemes": (10, _texts),
    "deprecated": (11, _flag),
    **_extended(13),
}
_operation = _of(lambda: _OPERATION)

_PATH_ITEM: Fields = {
    "get": (2, _operation),
    "put": (3, _operation),
    "post": (4, _operation),
    "delete": (5, _operation),
    "options": (6, _operation),
    "head": (7, _operation),
    "patch": (8, _operation),
    "parameters": (9, _parameters),
    **_extended(10),
}
_API_KEY: Fields = {"type": (1, _text), "name": (2, _text), "in": (3, _text), "description": (4, _text)}


def _string_array(number: int, values: list[str]) -> bytes:
    return _delimited(number, _texts(1, values))


_DOCUMENT: Fields = {
    "swagger": (1, _text),
    "info": (2, _of(lambda: {"title": (1, _text), "version": (2, _text), "description": (3, _text)})),
    "paths": (8, _named(_of(lambda: _PATH_ITEM), entry=2)),
    "definitions": (9, _named(_schema)),
    "parameters": (10, _named(_parameter)),
    "security": (12, _each(_named(_string_array))),
    "securityDefinitions": (13, _named(_one_of(lambda _: (2, _of(lambda: _API_KEY))))),
    **_extended(16),
}
