"""What a command has printed: its newest lines, as far as they meet a filter."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

LINES_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """`stream` says how it is shown: `out`, `err`, or `in` for what was typed."""

    text: str
    stream: str = "out"


@dataclass(slots=True)
class Printed:
    """`filter` are words that a line must have, each with a `!` in front for not; case does not matter."""

    filter: str = ""
    count: int = 0
    _lines: deque[PrintedLine] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))

    def add(self, line: PrintedLine) -> bool:
        """Says whether it is to be shown."""
        self._lines.append(line)
        self.count += 1
        return self.takes(line)

    def takes(self, line: PrintedLine) -> bool:
        said = line.text.lower()
        return all(
            (word[1:] not in said) if len(word) > 1 and word.startswith("!") else (word in said)
            for word in self.filter.lower().split()
        )

    @property
    def shown(self) -> Iterator[PrintedLine]:
        return (line for line in self._lines if self.takes(line))

    @property
    def text(self) -> str:
        """What is shown, to be copied."""
        return "\n".join(line.text for line in self.shown)
