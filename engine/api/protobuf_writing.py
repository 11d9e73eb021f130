"""Bytes of protocol buffers' wire format (protobuf.dev, Encoding); `engine.apiserver.protobuf.wire` reads them."""

from __future__ import annotations

_ALL_ONES = (1 << 64) - 1
_SMALL = tuple(size.to_bytes(1, "little") for size in range(0x80))


def varint(value: int) -> bytes:
    """A number; a negative one in two's complement of 64 bits."""
    value &= _ALL_ONES
    if value < 0x80:
        return value.to_bytes(1, "little")
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def delimited(data: bytes) -> bytes:
    """Text, bytes or a message, with their length before them."""
    size = len(data)
    return (_SMALL[size] if size < 0x80 else varint(size)) + data


def key(number: int, kind: int) -> bytes:
    """What stands before the value of a field; `kind` is one of the wire's types."""
    return varint(number << 3 | kind)
