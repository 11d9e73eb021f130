"""Quoted texts of a JSONPath: as strconv.Unquote reads them, single quotes allowed (UnquoteExtend in parser.go)."""

from __future__ import annotations

import re

from engine.api.jsonpath.nodes import JsonPathError

_PLAIN = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_CHARACTER = re.compile(
    r"\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<octal>[0-7]{3})|(?P<plain>.))|(?P<bare>[^\\])",
    re.DOTALL,
)


def unquoted(text: str) -> str:
    """Raises JsonPathError."""
    quote, inner = text[0], text[1:-1]
    if "\\" not in inner and quote not in inner:
        return inner
    place, parts = 0, []
    while place < len(inner):
        match = _CHARACTER.match(inner, place)
        char = None if match is None else _character(match, quote)
        if match is None or char is None:
            raise JsonPathError(f"unquote string {text} error invalid syntax")
        parts.append(char)
        place = match.end()
    return "".join(parts)


def _character(match: re.Match[str], quote: str) -> str | None:
    """None for what is no escape, or a quote without one."""
    if match["bare"] is not None:
        return None if match["bare"] == quote else match["bare"]
    if match["plain"] is not None:
        return quote if match["plain"] == quote else _PLAIN.get(match["plain"])
    value = int(match["octal"], 8) if match["octal"] else int(match["x"] or match["u"] or match["U"], 16)
    if value > (0xFF if match["octal"] else 0x10FFFF) or 0xD800 <= value < 0xE000:
        return None
    return chr(value)
