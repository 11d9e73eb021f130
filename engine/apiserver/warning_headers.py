"""What clients are warned of, as the header that says it (apiserver pkg/endpoints/filters/warning.go, apimachinery
pkg/util/net http.go)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_ALL = 4 * 1024  # letters of all texts, beyond which each is cut
_ONE = 256
_VALUE = re.compile(r'299 - "(?:[^"\\]|\\.)*"')


def warning_header(texts: Iterable[str]) -> str:
    """The values of the header, each text once; "" where there are none.

    With the text that comes to too much all are cut, and those that then come beyond it are not said. Nor is one that a
    header cannot hold.
    """
    asked: list[str] = []
    said: list[str] = []
    size, is_cut = 0, False
    for text in dict.fromkeys(texts):
        if not text:
            continue
        if is_cut and size >= _ALL:
            break
        asked.append(text)
        shown = text[:_ONE] if is_cut else text
        if _cannot_be_said(shown):
            continue
        said.append(shown)
        size += len(shown)
        if size > _ALL and not is_cut:
            is_cut = True
            said = [start for each in asked if not _cannot_be_said(start := each[:_ONE])]
            size = sum(map(len, said))
    return ", ".join(f"299 - {_quoted(text)}" for text in said)


def warnings_in(header: str) -> list[str]:
    """The values of a header of `warning_header`, each by itself."""
    return _VALUE.findall(header)


def _cannot_be_said(text: str) -> bool:
    """Control characters, and halves of pairs, which are no UTF-8."""
    return any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text)


def _quoted(text: str) -> str:
    marked = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{marked}"'
