"""Media types as Go reads them from a header (mime, ParseMediaType), as far as the type itself is asked for."""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_TYPE = re.compile(rf"{_TOKEN}(/{_TOKEN})?")
_SPACE = r"[ \t\n\v\f\r\x85\xa0]*"
# A value in quotes may hold any character that is no line's end, and \ before any.
_VALUE = rf'{_TOKEN}|"(?:[^"\\\r\n]|\\.)*"'
_PARAMETER = re.compile(rf"{_SPACE};{_SPACE}({_TOKEN}){_SPACE}={_SPACE}({_VALUE})")
_END = re.compile(rf"{_SPACE};?{_SPACE}")


class MediaTypeError(ValueError):
    """What is no media type, or has parameters that are none."""


@lru_cache(maxsize=256)
def parse_media_type(text: str) -> str:
    """The type without its parameters, in small letters. Raises MediaTypeError."""
    base, _, _ = text.partition(";")
    found = base.strip().lower()
    if not _TYPE.fullmatch(found):
        raise MediaTypeError(text)
    at, values = len(base), dict[str, str]()
    while (parameter := _PARAMETER.match(text, at)) is not None:
        at, name, value = parameter.end(), parameter[1].lower(), parameter[2].removeprefix('"').removesuffix('"')
        if values.setdefault(name, value) != value:
            raise MediaTypeError(text)
    if not _END.fullmatch(text, at):
        raise MediaTypeError(text)
    return found
