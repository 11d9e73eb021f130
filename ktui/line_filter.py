"""All filters of lines as one, as Textual keeps a line of its own for what each of them makes of it; and their use."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip
from textual.widget import Widget


def filtered(widget: Widget, strips: list[Strip]) -> list[Strip]:
    """What a widget has drawn by itself, as the terminal gets it."""
    ground = widget.background_colors[1]
    for line_filter in widget.get_line_filters():
        strips = [strip.apply_filter(line_filter, ground) for strip in strips]
    return strips


class Joined(LineFilter):
    """Applies `parts` one after another."""

    def __init__(self, parts: tuple[LineFilter, ...]) -> None:
        super().__init__()
        self.parts = parts

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        for part in self.parts:
            segments = part.apply(segments, background)
        return segments
