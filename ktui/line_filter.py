"""All filters of lines as one: Textual keeps a line of its own for what each of them makes of it."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter


class Joined(LineFilter):
    """Applies `parts` one after another."""

    def __init__(self, parts: tuple[LineFilter, ...]) -> None:
        super().__init__()
        self.parts = parts

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        for part in self.parts:
            segments = part.apply(segments, background)
        return segments
