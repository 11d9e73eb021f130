"""What is typed after `/`: label selectors, conditions on columns and fuzzy words, all of which a row must meet.

web                  a cell with `web` in it, or with parts that begin so: `wx2` finds `web-x2k9p`
!web                 no such cell
^web|db$             a regular expression, where it has any of its signs
-f wbx2              a cell with these characters in this order
-l app=web,tier      kubectl's label selector
status=Running       the column STATUS says so, with a sign before it or without; `status!=Running`: it does not
--field-selector X   kubectl's field selector, which only the server can apply (Objects)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.api.errors import ApiError
from engine.api.selectors import EVERYTHING, LabelSelector
from ktui.models.grid_row import GridRow

LABELS = frozenset({"-l", "--selector"})
FIELDS = frozenset({"-F", "--field-selector"})
FUZZY = "-f"
EXPRESSION_SIGNS = frozenset("^$|*+?\\[(")
_WORD = re.compile(r"\S+\s+(?:not)?in\s*\([^)]*\)\S*|\S+")  # `env in (a, b)` is one word
_SIGN = re.compile(r"^[^\w\s-] ")  # what goes with a colour: `✓ ready`
_NAME = re.compile(r"[A-Za-z][A-Za-z-]*!?")
BETWEEN = " -./_:,"
CELL_END = "\0"
Condition = Callable[[GridRow], bool]


def split(text: str) -> list[str]:
    """The words of a filter; an `in (a, b)` of a selector is a part of one."""
    return _WORD.findall(text)


@dataclass(frozen=True, slots=True)
class RowFilter:
    """`problem` is what is wrong with the text; then nothing is filtered. `unknown` are the names of columns that there
    are not: such a word is looked for as it stands."""

    text: str = ""
    labels: LabelSelector = EVERYTHING
    fields: str = ""
    words: tuple[str, ...] = ()
    patterns: tuple[re.Pattern[str], ...] = ()  # of characters in their order
    conditions: tuple[tuple[int, bool, str], ...] = ()  # the column's index, whether it must be equal, the value
    unknown: tuple[str, ...] = ()
    problem: str = ""

    @classmethod
    def parse(cls, text: str, titles: Sequence[str]) -> RowFilter:
        columns = {title.rstrip("↑↓").lower().replace(" ", "-"): index for index, title in enumerate(titles)}
        labels, fields, words, conditions, patterns, unknown = "", "", [], [], [], []
        pending = iter(split(text))
        for word in pending:
            flag, equals, value = word.partition("=")
            column = columns.get(flag.removesuffix("!").lower())
            if flag in LABELS | FIELDS:
                value = value if equals else next(pending, "")
                labels, fields = (value, fields) if flag in LABELS else (labels, value)
            elif flag == FUZZY:
                patterns.append(_in_order(next(pending, "").lower()))
            elif equals and column is not None:
                conditions.append((column, not flag.endswith("!"), value.removeprefix("=").lower()))
            else:
                words.append(word.lower())
                unknown += [flag] if equals and _NAME.fullmatch(flag) else []
        try:
            selector = LabelSelector.parse(labels)
        except ApiError as error:
            return cls(text, problem=error.message)
        return cls(text, selector, fields, tuple(words), tuple(patterns), tuple(conditions), tuple(unknown))

    def takes(self, row: GridRow) -> bool:
        return (
            (self.labels.empty or self.labels.matches(row.labels))
            and all(_is(row, *condition) for condition in self.conditions)
            and (not (self.words or self.patterns) or self._has_words(CELL_END.join(row.cells).lower()))
        )

    def _has_words(self, text: str) -> bool:
        return all(_has(text, word) for word in self.words) and all(found.search(text) for found in self.patterns)


def has_words(text: str, words: Iterable[str]) -> bool:
    """Whether a line has all of these, in lower case, wherever; of `!word` whether it has it not."""
    said = text.lower()
    return all((word[1:] not in said) if len(word) > 1 and word.startswith("!") else (word in said) for word in words)


def _is(row: GridRow, column: int, equal: bool, value: str) -> bool:
    cell = row.cells[column].lower() if column < len(row.cells) else ""
    return (value in (cell, _SIGN.sub("", cell))) == equal


def _has(text: str, word: str) -> bool:
    if word.startswith("!") and len(word) > 1:
        return not _has(text, word[1:])
    if word in text:
        return True
    expression = _expression(word)
    if expression is not None:
        return any(expression.search(cell) for cell in text.split(CELL_END))
    return _beginnings(word).search(text) is not None


@lru_cache(maxsize=256)
def _expression(word: str) -> re.Pattern[str] | None:
    """None for a word that has no sign of one, or odd characters, or that is one when it is typed to its end."""
    if EXPRESSION_SIGNS.isdisjoint(word):
        return None
    try:
        return re.compile(word)
    except re.error:
        return None


def _in_order(characters: str) -> re.Pattern[str]:
    return re.compile(f"[^{CELL_END}]*?".join(map(re.escape, characters)))


@lru_cache(maxsize=256)
def _beginnings(word: str) -> re.Pattern[str]:
    """Finds a cell with parts that begin, in their order, with pieces of the word: `wx2` in `web-7d8d2f-x2k9p`."""
    between = f"[{re.escape(BETWEEN)}]"
    jump = f"(?:[^{CELL_END}]*?{between})?"
    return re.compile(f"(?:^|{CELL_END}|{between})" + jump.join(re.escape(character) for character in word))
