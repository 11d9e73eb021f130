"""What is typed after `/`: label selectors, conditions on columns and fuzzy words, all of which a row must meet.

web                  a cell with `web` in it, or with parts that begin so: `wx2` finds `web-x2k9p`
!web                 no such cell
-l app=web,tier      kubectl's label selector
status=Running       the column STATUS says so; `status!=Running`: it does not
--field-selector X   kubectl's field selector, which only the server can apply (Objects)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.api.errors import ApiError
from engine.api.selectors import EVERYTHING, LabelSelector
from ktui.models.grid_row import GridRow

LABELS = frozenset({"-l", "--selector"})
FIELDS = frozenset({"-F", "--field-selector"})
_WORD = re.compile(r"\S+\s+(?:not)?in\s*\([^)]*\)\S*|\S+")  # `env in (a, b)` is one word
_BETWEEN = frozenset(" -./_:,")
Condition = Callable[[GridRow], bool]


@dataclass(frozen=True, slots=True)
class RowFilter:
    """`problem` is what is wrong with the text; then nothing is filtered."""

    text: str = ""
    labels: LabelSelector = EVERYTHING
    fields: str = ""
    words: tuple[str, ...] = ()
    conditions: tuple[tuple[int, bool, str], ...] = ()  # the column's index, whether it must be equal, the value
    problem: str = ""

    @classmethod
    def parse(cls, text: str, titles: Sequence[str]) -> RowFilter:
        columns = {title.rstrip("↑↓").lower().replace(" ", "-"): index for index, title in enumerate(titles)}
        labels, fields, words, conditions = "", "", [], []
        pending = iter(_WORD.findall(text))
        for word in pending:
            flag, equals, value = word.partition("=")
            column = columns.get(flag.removesuffix("!").lower())
            if flag in LABELS | FIELDS:
                value = value if equals else next(pending, "")
                labels, fields = (value, fields) if flag in LABELS else (labels, value)
            elif equals and column is not None:
                conditions.append((column, not flag.endswith("!"), value.removeprefix("=").lower()))
            else:
                words.append(word.lower())
        try:
            selector = LabelSelector.parse(labels)
        except ApiError as error:
            return cls(text, problem=error.message)
        return cls(text, selector, fields, tuple(words), tuple(conditions))

    def takes(self, row: GridRow) -> bool:
        return (
            (self.labels.empty or self.labels.matches(row.labels))
            and all(_is(row, *condition) for condition in self.conditions)
            and all(_has(row, word) for word in self.words)
        )


def _is(row: GridRow, column: int, equal: bool, value: str) -> bool:
    cell = row.cells[column].lower() if column < len(row.cells) else ""
    return (cell == value) == equal


def _has(row: GridRow, word: str) -> bool:
    if word.startswith("!") and len(word) > 1:
        return not _has(row, word[1:])
    return any(word in cell.lower() or is_abbreviation(word, cell.lower()) for cell in row.cells)


@lru_cache(maxsize=50_000)
def is_abbreviation(word: str, text: str) -> bool:
    """Whether `word` is made of beginnings of the text's parts, in their order: `wx2` of `web-7d8d2f-x2k9p`."""
    if not word:
        return True
    starts = [at for at in range(len(text)) if at == 0 or (text[at - 1] in _BETWEEN and text[at] not in _BETWEEN)]
    return _begins(word, text, starts, 0)


def _begins(word: str, text: str, starts: Sequence[int], first: int) -> bool:
    for index in range(first, len(starts)):
        at, taken = starts[index], 0
        while taken < len(word) and at + taken < len(text) and text[at + taken] == word[taken]:
            taken += 1
        if taken == len(word):
            return True
        if any(_begins(word[length:], text, starts, index + 1) for length in range(taken, 0, -1)):
            return True
    return False
