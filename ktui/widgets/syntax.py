"""YAML in the theme's colours: keys stand out, values read."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rich.text import Text

_KEY = re.compile(r"^[ ]*(?:- )*(?P<key>[^\s#'\"\[{-][^:\n]*|'[^'\n]*'|\"[^\"\n]*\"):(?=\s|$)", re.MULTILINE)
_PLAIN = re.compile(r"(?<=[:-] )(?P<plain>-?\d+(?:\.\d+)?|true|false|null|\[\]|\{\})$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
_DASH = re.compile(r"^[ ]*(?P<dash>(?:- )+)", re.MULTILINE)


def yaml_text(text: str, colours: Mapping[str, str]) -> Text:
    """YAML as text that is cut off, not wrapped, where it is too long."""
    shown = Text(text, no_wrap=True, overflow="ellipsis")
    for pattern, group, colour in (
        (_KEY, "key", colours.get("primary", "")),
        (_PLAIN, "plain", colours.get("accent", "")),
        (_DASH, "dash", colours.get("accent", "")),
    ):
        for match in pattern.finditer(text):
            shown.stylize(colour, *match.span(group))
    for match in _COMMENT.finditer(text):
        shown.stylize("dim", *match.span())
    return shown
