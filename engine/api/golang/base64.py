"""Standard base64 as Go reads it (encoding/base64, decodeQuantum): line breaks count for nothing, padding is a must.

What was read is written without them, and without the bits that nothing is made of.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64

_QUANTA = re.compile(rb"(?:(?:[\r\n]*[A-Za-z0-9+/]){4})*[\r\n]*")
_LETTERS = re.compile(rb"[A-Za-z0-9+/\r\n]*")
_BREAKS = re.compile(rb"[\r\n]*")


def rewritten(value: str) -> str:
    """How Go writes what it has read from `value`, which is base64."""
    if "\n" in value or "\r" in value:
        value = value.replace("\r", "").replace("\n", "")
    if not value.endswith("="):
        return value
    last = value[-4:]
    return value[:-4] + b2a_base64(a2b_base64(last), newline=False).decode()


def first_illegal_byte(value: str) -> int | None:
    """Where Go's decoder stops; None for what it takes in."""
    if _is_base64(value):
        return None
    data = value.encode(errors="surrogatepass")
    start = _end(_QUANTA, data, 0)
    stop = _end(_LETTERS, data, start)
    letters = len(data[start:stop].translate(None, b"\r\n"))
    if stop == len(data):  # an incomplete quantum is told of by what it has read of it, line breaks not counted
        return len(data) - letters if letters else None
    if data[stop : stop + 1] != b"=" or letters < 2:
        return stop
    after = _end(_BREAKS, data, stop + 1)
    if letters == 2:
        if after == len(data):
            return after
        if data[after : after + 1] != b"=":
            return after - 1
        after = _end(_BREAKS, data, after + 1)
    return after if after < len(data) else None


def _is_base64(value: str) -> bool:
    """The quick answer, which is right where it is yes."""
    text = value.replace("\r", "").replace("\n", "")
    try:
        a2b_base64(text, strict_mode=True)
    except ValueError:
        return False
    return len(text) % 4 == 0 and not text.endswith("===")


def _end(pattern: re.Pattern[bytes], data: bytes, start: int) -> int:
    found = pattern.match(data, start)
    return found.end() if found is not None else start
