"""PEM as Go reads it (encoding/pem, Decode): a block that is not well formed is passed over, and the search goes on."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import NamedTuple

from engine.api.golang.base64 import first_illegal_byte

_BEGIN, _END, _DASHES = "-----BEGIN ", "-----END ", "-----"


class PemBlock(NamedTuple):
    kind: str
    content: bytes
    headers: bool = False


def pem_blocks(text: str) -> list[PemBlock]:
    """The blocks of a text, without what stands around them."""
    return list(_blocks(text))


def _blocks(text: str) -> Iterator[PemBlock]:
    rest = text
    while (begin := _line_start(rest, _BEGIN)) >= 0:
        first, rest = _line(rest[begin + len(_BEGIN) :])
        if not first.endswith(_DASHES):
            continue
        kind = first.removesuffix(_DASHES)
        body, headers = _past_headers(rest)
        if not body and headers:
            return
        end = _line_start(body, _END) if not headers else _found_after(body, "\n" + _END)
        content = None if end < 0 else _content(body[:end], body[end + len(_END) :], kind)
        rest = body
        if content is not None:
            yield PemBlock(kind, content, headers)
            _, rest = _line(body[end:])


def _line_start(text: str, mark: str) -> int:
    """Where a line starts so; -1 for nowhere."""
    return 0 if text.startswith(mark) else _found_after(text, "\n" + mark)


def _found_after(text: str, mark: str) -> int:
    found = text.find(mark)
    return found + 1 if found >= 0 else -1


def _line(text: str) -> tuple[str, str]:
    line, _, rest = text.partition("\n")
    return line.removesuffix("\r").rstrip(" \t"), rest


def _past_headers(text: str) -> tuple[str, bool]:
    """What follows the lines with a colon, and whether there was one."""
    headers = False
    while text:
        line, rest = _line(text)
        if ":" not in line:
            break
        text, headers = rest, True
    return text, headers


def _content(body: str, after: str, kind: str) -> bytes | None:
    """None unless the last line speaks of the same kind, with nothing else in it, and all before it is base64."""
    trailer = kind + _DASHES
    if not after.startswith(trailer) or _line(after[len(trailer) :])[0]:
        return None
    encoded = body.replace(" ", "").replace("\t", "")
    return base64.b64decode(encoded) if first_illegal_byte(encoded) is None else None
