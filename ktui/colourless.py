"""What NO_COLOR asks for (no-color.org): no colour at all, where Textual's own filter for it turns colours into greys.

What a ground of its own makes out, such as the row under the cursor, is shown in reverse instead.
"""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

STANDS_OUT = 0.12  # between the brightness of two grounds, of 1 from black to white: bars and frames are nearer


class NoColours(LineFilter):
    """Attributes stay: bold, dim, underline, reverse."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment if segment.control or segment.style is None
            else Segment(segment.text, _plain(segment.style, background))
            for segment in segments
        ]  # fmt: skip


@lru_cache(maxsize=4096)
def _plain(style: Style, background: Color) -> Style:
    ground = style.bgcolor
    if ground is None or ground.is_default:
        return style.without_color
    distance = abs(Color.from_rich_color(ground).brightness - background.brightness)
    return style.without_color + Style(reverse=True) if distance > STANDS_OUT else style.without_color
