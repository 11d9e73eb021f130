"""POSIX regular expressions as Python's: basic ones, where `\\(` groups and `+` is a plus, and extended ones."""

from __future__ import annotations

import re

_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s",
    "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\[:[a-z]+:\]|[^\]])*\]|.", re.DOTALL)


def translated(pattern: str, *, extended: bool) -> str:
    """Python's spelling of a POSIX pattern."""
    return "".join(_token(match[0], match.start(), extended) for match in _TOKEN.finditer(pattern))


def _token(token: str, at: int, extended: bool) -> str:
    if len(token) > 1 and token[0] == "[":
        body = token[1:-1].replace("\\", "\\\\")
        return "[" + re.sub(r"\[:([a-z]+):\]", lambda name: _CLASSES.get(name[1], ""), body) + "]"
    if token[0] == "\\" and len(token) == 2:
        if token[1] in "(){}|+?" and not extended:
            return token[1]
        return {"<": r"\b(?=\w)", ">": r"\b(?<=\w)"}.get(token[1], token)
    if not extended and (token in "(){}|+?" or (token == "*" and at == 0)):
        return re.escape(token)
    return token


def compiled(pattern: str, *, extended: bool, ignore_case: bool = False) -> re.Pattern[str]:
    """Raises ValueError for what is no pattern."""
    try:
        return re.compile(translated(pattern, extended=extended), re.IGNORECASE if ignore_case else 0)
    except re.error as error:
        raise ValueError(f"bad regex '{pattern}': {error}") from None
