"""Functions of strings (cel-go ext/strings.go, version 2) and of regular expressions (pkg/cel/library/regex.go)."""

from __future__ import annotations

import string as ascii_letters
from itertools import islice
from typing import Any

from engine.api.cel.functions import Library
from engine.api.cel.library.formatting import formatted, shown
from engine.api.cel.regexes import found
from engine.api.cel.types import DYN, INT, STRING, STRINGS, list_of
from engine.api.cel.values import EvaluationError

_LOWER = str.maketrans(ascii_letters.ascii_uppercase, ascii_letters.ascii_lowercase)
_UPPER = str.maketrans(ascii_letters.ascii_lowercase, ascii_letters.ascii_uppercase)
_QUOTED = {
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\""
}  # fmt: skip
_SPACE = (
    " \t\n\v\f\r\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def texts() -> Library:
    made = Library()
    made.member("charAt", (STRING, INT), STRING, _char_at)
    for args in ((STRING, STRING), (STRING, STRING, INT)):
        made.member("indexOf", args, INT, _index_of)
        made.member("lastIndexOf", args, INT, _last_index_of)
    made.member("lowerAscii", (STRING,), STRING, lambda text: text.translate(_LOWER))
    made.member("upperAscii", (STRING,), STRING, lambda text: text.translate(_UPPER))
    made.member("replace", (STRING, STRING, STRING), STRING, lambda text, old, new: text.replace(old, new))
    made.member(
        "replace", (STRING, STRING, STRING, INT), STRING, lambda text, old, new, limit: text.replace(old, new, limit)
    )
    made.member("split", (STRING, STRING), STRINGS, lambda text, by: _split(text, by, -1))
    made.member("split", (STRING, STRING, INT), STRINGS, _split)
    made.member("substring", (STRING, INT), STRING, _rest)
    made.member("substring", (STRING, INT, INT), STRING, _substring)
    made.member("trim", (STRING,), STRING, lambda text: text.strip(_SPACE))
    made.member("join", (STRINGS,), STRING, _join)
    made.member("join", (STRINGS, STRING), STRING, _join)
    made.member("find", (STRING, STRING), STRING, _find)
    made.member("findAll", (STRING, STRING), STRINGS, lambda text, pattern: _find_all(text, pattern, -1))
    made.member("findAll", (STRING, STRING, INT), STRINGS, _find_all)
    return made


def later_texts() -> Library:
    """What cel-go's strings have had since their version 1."""
    made = Library()
    made.member("format", (STRING, list_of(DYN)), STRING, formatted, identity="string_format")
    made.add("strings.quote", (STRING,), STRING, lambda text: f'"{"".join(_QUOTED.get(each, each) for each in text)}"',
             identity="strings_quote")  # fmt: skip
    return made


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise EvaluationError(f"index out of range: {index}")
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    if part == "":
        return min(start, len(text))
    return text.find(part, start)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    if part == "":
        return min(start, len(text))
    return text.rfind(part, 0, start + len(part)) if start < len(text) else -1


def _join(items: list[Any], by: str = "") -> str:
    for item in items:
        if not isinstance(item, str):
            raise EvaluationError(f"join: invalid input: {shown(item)}")
    return by.join(items)


def _split(text: str, by: str, limit: int) -> list[str]:
    if limit == 0:
        return []
    if by == "":
        letters = list(text)
        return letters if limit < 0 or len(letters) <= limit else [*letters[: limit - 1], text[limit - 1 :]]
    return text.split(by) if limit < 0 else text.split(by, limit - 1)


def _rest(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise EvaluationError(f"index out of range: {start}")
    return text[start:]


def _substring(text: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise EvaluationError(f"index out of range: {index}")
    return text[start:end]


def _find(text: str, pattern: str) -> str:
    return next(found(text, pattern), "")


def _find_all(text: str, pattern: str, limit: int) -> list[str]:
    return list(islice(found(text, pattern), None if limit < 0 else limit))
