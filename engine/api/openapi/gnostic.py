"""How gnostic's messages of OpenAPI documents are written: a table of fields for each, number and how a value is
written.

Values of extensions, defaults and enums are YAML text, as in gnostic; JSON is YAML.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from engine.api.protobuf_writing import delimited, key, varint

Writer = Callable[[int, Any], bytes]  # field number and value to the field's bytes
Fields = Mapping[str, tuple[int, Writer]]


def delimited_field(number: int, payload: bytes) -> bytes:
    return key(number, 2) + delimited(payload)


def text(number: int, value: str) -> bytes:
    return delimited_field(number, value.encode())


def texts(number: int, values: list[str]) -> bytes:
    return b"".join(text(number, value) for value in values)


def flag(number: int, value: bool) -> bytes:
    return key(number, 0) + varint(int(value))


def integer(number: int, value: int) -> bytes:
    return key(number, 0) + varint(value)


def double(number: int, value: float) -> bytes:
    return key(number, 1) + struct.pack("<d", value)


def any_value(number: int, value: Any) -> bytes:
    """message Any, by its YAML."""
    return delimited_field(number, text(2, orjson.dumps(value).decode()))


def any_values(number: int, values: list[Any]) -> bytes:
    return b"".join(any_value(number, value) for value in values)


def message(fields: Fields, value: Mapping[str, Any]) -> bytes:
    """A message: the fields that the table has, and what starts with `x-` as vendor extensions."""
    out = []
    for name, item in value.items():
        if name in fields:
            number, write = fields[name]
            out.append(write(number, item))
        elif name.startswith("x-") and "x-" in fields:
            number, _ = fields["x-"]
            out.append(delimited_field(number, text(1, name) + any_value(2, item)))
    return b"".join(out)


def of(fields: Callable[[], Fields]) -> Writer:
    """A field that is a message; the table is looked up late, since schemas hold schemas."""
    return lambda number, value: delimited_field(number, message(fields(), value))


def each(write: Writer) -> Writer:
    return lambda number, values: b"".join(write(number, value) for value in values)


def named(write: Writer, entry: int = 1) -> Writer:
    """A map, written as a message whose field `entry` repeats pairs of name and value."""

    def pairs(number: int, values: Mapping[str, Any]) -> bytes:
        return delimited_field(
            number, b"".join(delimited_field(entry, text(1, name) + write(2, value)) for name, value in values.items())
        )

    return pairs


def one_of(choose: Callable[[Any], tuple[int, Writer]]) -> Writer:
    """A message that holds one of several."""

    def wrapped(number: int, value: Any) -> bytes:
        inner, write = choose(value)
        return delimited_field(number, write(inner, value))

    return wrapped


def extended(number: int) -> Fields:
    return {"x-": (number, any_value)}
