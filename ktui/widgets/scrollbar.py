"""The scrollbar of a view that draws itself: a few kinds of cells, one below the other.

The end of a list moves with every row that comes in, and its scrollbar with it: Textual draws each cell of that column
anew, with what could stand around it. That took a quarter of a picture.
"""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip

from ktui.guard import drawn
from ktui.line_filter import filtered


class SelfDrawnBar(ScrollBar):
    """Looks and takes the mouse as Textual's."""

    def render_lines(self, crop: Region) -> list[Strip]:
        return drawn(self, crop, self._lines)

    def _lines(self, crop: Region) -> list[Strip]:
        bar = self.render()
        if not isinstance(bar, ScrollBarRender) or not isinstance(bar.style, Style) or not bar.vertical:
            return super().render_lines(crop)
        looks = bar.style, self.visual_style.rich_style
        height = max(self.size.height, crop.bottom)  # it may be laid out higher before it is told its size
        cells = _cells(height, bar.virtual_size, bar.window_size, bar.position, bar.thickness, *looks)
        return filtered(self, [cells[y] for y in crop.line_range])


@lru_cache(maxsize=64)
def _cells(
    height: int, virtual: int, window: int, position: float, thickness: int, style: Style, ground: Style
) -> list[Strip]:
    if style.color is None or style.bgcolor is None:
        return [Strip.blank(thickness)] * height
    drawn = ScrollBarRender.render_bar(
        size=height,
        virtual_size=virtual,
        window_size=window,
        position=position,
        thickness=thickness,
        vertical=True,
        back_color=style.bgcolor,
        bar_color=style.color,
    )
    segments = list(Segment.apply_style(drawn.segments, ground))
    strips = {segment: Strip([segment], thickness) for segment in segments}  # the same one stands in many lines
    return [strips[segment] for segment in segments]
