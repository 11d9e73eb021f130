"""A view that draws each of its lines whole, from end to end.

Textual draws a line of a widget anew with what stands around it (borders, padding, opacity), and what it works out for
the new line, it forgets with it. These views have nothing around them: a line that is drawn as before is the same
`Strip`, which remembers how it was cut and coloured.
"""

from __future__ import annotations

from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ktui.guard import Guarded, drawn


class SelfDrawn(Guarded, ScrollView):
    """`render_line` gives lines as wide as the view."""

    def render_lines(self, crop: Region) -> list[Strip]:
        return drawn(self, crop, self._lines)

    def _lines(self, crop: Region) -> list[Strip]:
        filters, ground = self.get_line_filters(), self.background_colors[1]
        strips = [self.render_line(y) for y in crop.line_range]
        for line_filter in filters:
            strips = [strip.apply_filter(line_filter, ground) for strip in strips]
        if crop.column_span == (0, self.size.width):
            return strips
        return [strip.crop(crop.x, crop.right) for strip in strips]
