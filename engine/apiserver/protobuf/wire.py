"""Protocol buffers' wire format: keys, varints and length-delimited fields (protobuf.dev, Encoding)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """The bytes are no message."""


class Field(NamedTuple):
    """`value` is a number for a varint, a double for 64 bits, else bytes."""

    number: int
    value: int | float | bytes


def fields(data: bytes) -> Iterator[Field]:
    """The fields of a message in the order of the bytes. Raises WireError."""
    position, end = 0, len(data)
    while position < end:
        key, position = _varint(data, position)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            number_value, position = _varint(data, position)
            yield Field(number, number_value)
        elif kind == LENGTH:
            length, position = _varint(data, position)
            if position + length > end:
                raise WireError("unexpected EOF")
            yield Field(number, data[position : position + length])
            position += length
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
            if position + size > end:
                raise WireError("unexpected EOF")
            yield Field(number, struct.unpack_from("<d" if size == 8 else "<f", data, position)[0])
            position += size
        else:
            raise WireError(f"proto: illegal wireType {kind}")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(data):
            raise WireError("unexpected EOF")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, position
        shift += 7
        if shift >= 70:
            raise WireError("proto: integer overflow")


def signed(value: int) -> int:
    """int32 and int64 are sent as 64 bits in two's complement."""
    return value - (1 << 64) if value >> 63 else value
