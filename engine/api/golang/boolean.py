"""Booleans as Go reads them from text, with its words for what is none (strconv, ParseBool)."""

from __future__ import annotations

from engine.api.golang.text import quoted

_WORDS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


def parse_bool(text: str) -> bool:
    """Raises ValueError."""
    if text not in _WORDS:
        raise ValueError(f"strconv.ParseBool: parsing {quoted(text)}: invalid syntax")
    return _WORDS[text]


def is_true(text: str) -> bool:
    """Whether it is read as true, by who takes what is no boolean for false."""
    return _WORDS.get(text, False)
