"""The words of an expression (cel-go parser/gen/CEL.g4)."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from engine.api.cel.values import UInt

_STRING = (
    r"[rR]\"\"\"(?:.|\n)*?\"\"\"|[rR]'''(?:.|\n)*?'''|[rR]\"[^\"\n\r]*\"|[rR]'[^'\n\r]*'"
    r"|\"\"\"(?:ESC|[^\\])*?\"\"\"|'''(?:ESC|[^\\])*?'''|\"(?:ESC|[^\\\"\n\r])*\"|'(?:ESC|[^\\'\n\r])*'"
).replace(
    "ESC", r"\\(?:[abfnrtv\"'\\?`]|x[0-9a-fA-F]{2}|X[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"
)
_TOKEN = re.compile(
    rf"""(?P<space>[\t\x20\r\n\f]+|//[^\n]*)
      | (?P<bytes>[bB](?:{_STRING}))
      | (?P<string>{_STRING})
      | (?P<float>(?:\d+)?\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
      | (?P<uint>(?:0x[0-9a-fA-F]+|\d+)[uU])
      | (?P<int>0x[0-9a-fA-F]+|\d+)
      | (?P<ident>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<quoted>`[A-Za-z0-9_.\-/ ]+`)
      | (?P<op>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))"
)
_ENOUGH = 100  # digits of a number
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Token(NamedTuple):
    """`kind` is the operator itself, or ident, quoted, int, uint, float, string, bytes, in, true, false, null, end."""

    kind: str
    text: str
    offset: int
    value: Any = None


class NoToken(ValueError):
    """Something that is no word of the language."""


def tokens(source: str) -> list[Token]:
    """Raises NoToken."""
    found, place = [], 0
    while place < len(source):
        match = _TOKEN.match(source, place)
        if match is None:
            raise NoToken(source[place])
        if match.lastgroup != "space":
            found.append(_token(match))
        place = match.end()
    return [*found, Token("end", "", len(source))]


def _whole(text: str) -> int:
    """However long: from some length on, any number is one that 64 bits do not hold."""
    base, digits = (16, text[2:]) if text.startswith("0x") else (10, text)
    return int(digits.lstrip("0")[:_ENOUGH] or "0", base)


def _token(match: re.Match[str]) -> Token:
    text, kind, offset = match[0], match.lastgroup or "", match.start()
    match kind:
        case "op":
            return Token(text, text, offset)
        case "ident" if text in ("in", "true", "false", "null"):
            return Token(text, text, offset)
        case "quoted":
            return Token(kind, text[1:-1], offset)
        case "int":
            return Token(kind, text, offset, _whole(text))
        case "uint":
            return Token(kind, text, offset, UInt(_whole(text[:-1])))
        case "float":
            return Token(kind, text, offset, float(text))
        case "string":
            return Token(kind, text, offset, _unquoted(text))
        case "bytes":
            return Token(kind, text, offset, _bytes(text[1:]))
    return Token(kind, text, offset)


def _inner(text: str) -> tuple[str, bool]:
    raw = text[0] in "rR"
    text = text[1:] if raw else text
    width = 3 if text.startswith(('"""', "'''")) else 1
    return text[width:-width], raw


def _unquoted(text: str) -> str | None:
    """None for an escape that stands for no letter: half of a pair of UTF-16, or what is above all letters."""
    inner, raw = _inner(text)
    if raw:
        return inner
    try:
        made = _ESCAPE.sub(_letter, inner)
        made.encode()
    except (ValueError, OverflowError):
        return None
    return made


def _letter(match: re.Match[str]) -> str:
    for group, base in ((1, 16), (2, 16), (3, 16), (4, 16), (5, 8)):
        if match[group] is not None:
            return chr(int(match[group], base))
    return _SIMPLE.get(match[6], match[6])


def _bytes(text: str) -> bytes:
    inner, raw = _inner(text)
    if raw:
        return inner.encode()
    made, place = bytearray(), 0
    for match in _ESCAPE.finditer(inner):
        made += inner[place : match.start()].encode()
        octet = match[1] or match[2]
        if octet is not None:
            made.append(int(octet, 16))
        elif match[5] is not None:
            made.append(int(match[5], 8))
        else:
            made += _letter(match).encode()
        place = match.end()
    return bytes(made + inner[place:].encode())
