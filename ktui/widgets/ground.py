"""Containers of which nothing is seen but the ground that their parts leave free.

Textual draws each line of a container, though others cover it, and six of them lie over one another: that took longer
than what stands on them. Here all lines are one `Strip`, which remembers how it was cut and coloured.
"""

from __future__ import annotations

from functools import lru_cache

from rich.style import Style
from textual.color import Color
from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from ktui.line_filter import filtered


class Ground(Widget):
    """A container without words; one with a border is drawn as any other. The last base of a class: Textual takes the
    styles of the first.
    """

    def render_lines(self, crop: Region) -> list[Strip]:
        if any(self.gutter):
            return super().render_lines(crop)
        below, ground = self.background_colors
        return filtered(self, [_blank(crop.width, below + ground)]) * crop.height


class Beside(Horizontal, Ground):
    """Parts beside one another."""


class Stack(Vertical, Ground):
    """Parts below one another."""


@lru_cache(maxsize=256)
def _blank(width: int, colour: Color) -> Strip:
    return Strip.blank(width, Style.from_color(bgcolor=colour.rich_color))
