"""A view that draws each of its lines whole, from end to end.

Textual draws a line of a widget anew with what stands around it (borders, padding, opacity), and what it works out for
the new line, it forgets with it. These views have nothing around them: a line that is drawn as before is the same
`Strip`, which remembers how it was cut and coloured.
"""

from __future__ import annotations

from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widget import Widget

from ktui.guard import Guarded, drawn
from ktui.line_filter import filtered
from ktui.widgets.scrollbar import SelfDrawnBar


class SelfDrawn(Guarded, ScrollView):
    """`render_line` gives lines as wide as the view."""

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = SelfDrawnBar(
                vertical=True, name="vertical", thickness=self.scrollbar_size_vertical
            )
            self._vertical_scrollbar.display = False
            self.app._start_widget(self, self._vertical_scrollbar)
        return self._vertical_scrollbar

    def watch_has_focus(self, _: bool) -> None:
        """It shows by itself that it has the focus; Textual looks for styles that would."""
        self.refresh()

    def reach(self, size: Size) -> None:
        """What there is to scroll through is so large now; Textual would lay the whole screen out for each row more."""
        self.set_reactive(Widget.virtual_size, size)
        self._scroll_update(size)

    def render_lines(self, crop: Region) -> list[Strip]:
        return drawn(self, crop, self._lines)

    def _lines(self, crop: Region) -> list[Strip]:
        strips = filtered(self, [self.render_line(y) for y in crop.line_range])
        if crop.column_span == (0, self.size.width):
            return strips
        return [strip.crop(crop.x, crop.right) for strip in strips]
