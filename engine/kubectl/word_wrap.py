"""Lines broken between words as kubectl breaks them (kubectl pkg/util/term, go-wordwrap): spaces within a line stay,
those at a break go, and a word that is wider than a line is not broken."""

from __future__ import annotations

import re

# A no-break space is part of its word.
_WORD = re.compile(r"([^\S\xa0]*)([\S\xa0]*)")


def word_wrapped(text: str, width: int) -> str:
    return "\n".join(_wrapped(line, width) for line in text.split("\n"))


def _wrapped(line: str, width: int) -> str:
    parts, column = [], 0
    for spaces, word in _WORD.findall(line):
        if not word:
            parts.append(spaces if column + len(spaces) <= width else "")
        # Whether a word fits is looked at until it is as wide as a line.
        elif column + len(spaces) + min(len(word), width - 1) > width:
            parts.append(f"\n{word}")
            column = len(word)
        else:
            parts.append(spaces + word)
            column += len(spaces) + len(word)
    return "".join(parts)
