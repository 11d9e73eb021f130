"""Integers of 64 bits as Go reads them from text, with its words for what is none (strconv ParseInt, ParseUint)."""

from __future__ import annotations

import re

import orjson

MAX_INT64 = (1 << 63) - 1
_DIGITS = {
    0: re.compile("0[xX](_?[0-9a-fA-F])+|0[bB](_?[01])+|0[oO]?(_?[0-7])+|0|[1-9](_?[0-9])*"),
    10: re.compile("[0-9]+"),
    16: re.compile("[0-9a-fA-F]+"),
}
_PREFIXES = {"0x": 16, "0b": 2, "0o": 8}
_MOST_DIGITS = 64  # of 64 bits, in any base; Python would convert far longer ones, and then refuse to


def parse_int(text: str, *, base: int = 10) -> int:
    """Base 0 takes what Go's integer literals are: 0x1f, 0o17 or 017, 0b11, 1_000. Raises ValueError."""
    sign = text[:1] if text[:1] in ("+", "-") else ""
    number = _magnitude("ParseInt", text, text[len(sign) :], base)
    number = -number if sign == "-" else number
    if not -MAX_INT64 - 1 <= number <= MAX_INT64:
        raise _error("ParseInt", text, "value out of range")
    return number


def parse_uint(text: str, *, base: int = 10) -> int:
    """Raises ValueError."""
    number = _magnitude("ParseUint", text, text, base)
    if number >= 1 << 64:
        raise _error("ParseUint", text, "value out of range")
    return number


def _magnitude(function: str, text: str, digits: str, base: int) -> int:
    if not _DIGITS[base].fullmatch(digits):
        raise _error(function, text, "invalid syntax")
    if not base:
        base, digits = _literal(digits)
    if len(digits := digits.lstrip("0")) > _MOST_DIGITS:
        raise _error(function, text, "value out of range")
    return int(digits or "0", base)


def _literal(text: str) -> tuple[int, str]:
    """The base of an integer literal, and its digits."""
    digits = text.lower().replace("_", "")
    if base := _PREFIXES.get(digits[:2]):
        return base, digits[2:]
    return (8 if digits.startswith("0") else 10), digits


def _error(function: str, text: str, problem: str) -> ValueError:
    quoted = orjson.dumps(text.encode(errors="replace").decode()).decode()
    return ValueError(f"strconv.{function}: parsing {quoted}: {problem}")
