"""What a command has printed: its newest lines, as far as they meet a filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ktui.models.row_filter import has_words

LINES_KEPT = 100_000
SLACK = 10_000  # lines more, until the oldest are dropped


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """`stream` says how it is shown: `out`, `err`, or `in` for what was typed."""

    text: str
    stream: str = "out"


@dataclass(slots=True)
class Printed:
    """`shown` are the lines that meet the filter; `count` is of all that were ever printed."""

    count: int = 0
    _filter: str = ""
    _words: tuple[str, ...] = ()
    _lines: list[PrintedLine] = field(default_factory=list)
    _shown: list[PrintedLine] = field(default_factory=list)

    @property
    def shown(self) -> Sequence[PrintedLine]:
        return self._shown

    @property
    def left_out(self) -> int:
        """Lines that are no longer kept."""
        return self.count - len(self._lines)

    @property
    def filter(self) -> str:
        """Words that a line must have, each with a `!` in front for not; case does not matter."""
        return self._filter

    @filter.setter
    def filter(self, text: str) -> None:
        self._filter, self._words = text, tuple(text.lower().split())
        self._shown = [line for line in self._lines if self._takes(line)]

    def add(self, lines: Sequence[PrintedLine]) -> tuple[Sequence[PrintedLine], int]:
        """Those of them that are shown, and how many of those shown before are no longer kept."""
        self.count += len(lines)
        lines = lines[-LINES_KEPT:]
        fresh = [line for line in lines if self._takes(line)]
        self._lines += lines
        self._shown += fresh
        return fresh, self._drop()

    def _drop(self) -> int:
        """The oldest of too many; not at each line, as all others move up."""
        too_many = len(self._lines) - LINES_KEPT
        if too_many <= SLACK:
            return 0
        gone = sum(map(self._takes, self._lines[:too_many]))
        del self._lines[:too_many], self._shown[:gone]
        return gone

    def _takes(self, line: PrintedLine) -> bool:
        return not self._words or has_words(line.text, self._words)

    @property
    def text(self) -> str:
        """What is shown, to be copied."""
        return "\n".join(line.text for line in self._shown)
