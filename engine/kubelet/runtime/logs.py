"""Container logs: one bounded file per attempt, lines as the CRI log format has them (timestamp, stream, text)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import islice

from engine.streaming import LogLine

# The kubelet rotates at 10 MiB; lines are what is counted here.
MAX_LINES = 5_000
FLUSH_AT = 16_384


class LogFile:
    """A file-like ring. `dropped` counts what was rotated away; followers are told of each line."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._lines: deque[LogLine] = deque(maxlen=MAX_LINES)
        self._opening: tuple[datetime, Callable[[], list[tuple[str, str]]]] | None = None
        self.dropped = 0
        self.closed = False
        self._now = now
        self._partial: dict[str, str] = {}
        self._followers: dict[Callable[[LogLine | None], None], None] = {}

    @property
    def lines(self) -> deque[LogLine]:
        if self._opening is not None:
            (moment, told), self._opening = self._opening, None
            self._lines.extend(LogLine(_stamp(moment), stream, line) for stream, line in told())
        return self._lines

    def open_with(self, told: Callable[[], list[tuple[str, str]]]) -> None:
        """The first lines, by stream, which are made only once somebody writes or reads."""
        self._opening = self._now(), told

    def write(self, stream: str, text: str) -> None:
        text = self._partial.pop(stream, "") + text
        *whole, rest = text.split("\n")
        for line in whole:
            self._append(stream, line)
        if len(rest) >= FLUSH_AT:
            self._append(stream, rest, partial=True)
        elif rest:
            self._partial[stream] = rest

    def close(self) -> None:
        """The process has ended: what it left unfinished becomes a line."""
        for stream, rest in self._partial.items():
            self._append(stream, rest, partial=True)
        self._partial.clear()
        self.closed = True
        for follower in list(self._followers):
            follower(None)

    def follow(self, follower: Callable[[LogLine | None], None]) -> Callable[[], object]:
        """Tell of each further line, and None at the end; returns what stops it."""
        self._followers[follower] = None
        return lambda: self._followers.pop(follower, None)

    @property
    def written(self) -> int:
        return self.dropped + len(self.lines)

    def read(self, after: int = 0) -> Sequence[LogLine]:
        begin = max(0, after - self.dropped)
        return list(islice(self.lines, begin, None)) if begin else list(self.lines)

    def _append(self, stream: str, text: str, *, partial: bool = False) -> None:
        lines = self._lines if self._opening is None else self.lines
        if len(lines) == MAX_LINES:
            self.dropped += 1
        line = LogLine(_stamp(self._now()), stream, text, partial)
        lines.append(line)
        for follower in list(self._followers):
            follower(line)


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}000Z"
