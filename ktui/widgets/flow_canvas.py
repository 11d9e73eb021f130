"""The six lanes: a virtualised canvas that draws one `FlowRow` a line.

Only the visible lines are drawn, so a hundred thousand spans cost no more than a screenful.
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from ktui.models.flow import FlowModel
from ktui.models.flow_empty import why_empty
from ktui.models.flow_rows import FlowRow
from ktui.widgets.flow_painter import FlowPainter, Geometry
from ktui.widgets.ink import inks, style
from ktui.widgets.self_drawn import SelfDrawn

FRAME_SECONDS = 0.05
LIT_SECONDS = 1.0


class FlowCanvas(SelfDrawn, can_focus=True):
    """Shows a model's rows. Follows the end until the cursor leaves it."""

    DEFAULT_CSS = """
    FlowCanvas { height: 1fr; scrollbar-size-vertical: 1; overflow-x: hidden; overflow-y: scroll; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("home,g", "move(-1000000)", "Oldest", show=False),
        Binding("end,G", "follow", "Follow", show=True),
        Binding("enter", "inspect", "Inspect", show=True),
    ]

    class Selected(Message):
        """The cursor came to rest on a row (None: it follows the end)."""

        def __init__(self, row: FlowRow | None) -> None:
            super().__init__()
            self.row = row

    class Inspected(Selected):
        """The person asked to see all of the row."""

    def __init__(self, model: FlowModel, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.model = model
        self._is_pinned = False
        self.following = True
        self.cursor = 0
        self._row: FlowRow | None = None  # what the cursor is on, wherever it moves
        self._drawn: tuple[object, ...] = ()
        self._lit_until = 0.0
        self._left_at = 0  # rows that there were when the cursor left the end
        self._looks: tuple[int, str, bool] = (0, "", False)
        self._known_painter: FlowPainter

    def on_mount(self) -> None:
        self.set_interval(FRAME_SECONDS, self._frame)

    # -- data in

    def show(self, model: FlowModel, *, is_pinned: bool = False) -> None:
        """Draw another model, from its end; `is_pinned` where it is of one trace alone."""
        self.model = model
        self._is_pinned = is_pinned
        self.action_follow()

    @property
    def missed(self) -> int:
        """How many rows came since the cursor left the end."""
        return max(0, len(self.model.rows) + self.model.dropped - self._left_at)

    @property
    def current(self) -> FlowRow | None:
        rows = self.model.rows
        return rows[self.cursor] if 0 <= self.cursor < len(rows) else None

    @property
    def _width(self) -> int:
        """Without the scrollbar."""
        return self.scrollable_content_region.width

    def _frame(self) -> None:
        """Draw again if anything changed: at most twenty times a second, whatever comes in."""
        if not (self.screen.is_current and self.is_on_screen) or self._is_key_under_way():
            return
        now = self._now()
        state = (id(self.model), self.model.version, self.size, self.following, now < self._lit_until)
        if state == self._drawn:
            return
        if not self._drawn or state[:2] != self._drawn[:2]:
            self._lit_until = now + LIT_SECONDS
        self._drawn = state
        rows = self.model.rows
        self.reach(Size(self._width, len(rows) + 1))
        if self.following:
            self.cursor = max(0, len(rows) - 1)
            self.scroll_to(y=self.max_scroll_y, animate=False)
        else:
            self._keep_cursor(rows)
        self.refresh()

    def _keep_cursor(self, rows: list[FlowRow]) -> None:
        """Rows that came in between push the cursor's row down: the view goes with it."""
        if self._row is None or self.current is self._row:
            return
        found = next((index for index in range(len(rows) - 1, -1, -1) if rows[index] is self._row), None)
        if found is not None:
            moved, self.cursor = found - self.cursor, found
            self.scroll_to(y=self.scroll_offset.y + moved, animate=False)
        else:
            self.cursor = min(self.cursor, max(0, len(rows) - 1))

    def _now(self) -> float:
        return self.app.session.world.clock.monotonic() if hasattr(self.app, "session") else 0.0

    def _is_key_under_way(self) -> bool:
        return hasattr(self.app, "haste") and self.app.haste.is_under_way()

    # -- keys and mouse

    def action_move(self, by: int) -> None:
        self._go(self.cursor + by)

    def action_page(self, pages: int) -> None:
        self._go(self.cursor + pages * max(1, self.size.height - 2))

    def _go(self, to: int) -> None:
        rows = self.model.rows
        if self.following:
            self._left_at = len(rows) + self.model.dropped
        self.following = False
        self.cursor = max(0, min(len(rows) - 1, to))
        self._row = self.current
        self._show_cursor()
        self.post_message(self.Selected(self.current))

    def move_to(self, row: FlowRow) -> None:
        """Put the cursor on a row that the model shows."""
        self._go(self.model.rows.index(row))

    def action_follow(self) -> None:
        self.following, self._row, self._drawn = True, None, ()
        self.post_message(self.Selected(None))

    def action_inspect(self) -> None:
        if self.following:
            self._go(self.cursor)
        self.post_message(self.Inspected(self.current))

    def on_click(self, event: events.Click) -> None:
        row = event.y + int(self.scroll_offset.y) - 1
        if event.y > 0 and row < len(self.model.rows):
            self._go(row)

    def on_mouse_scroll_up(self, _: events.MouseScrollUp) -> None:
        """The view does not run away from who looks back."""
        if self.following and self.model.rows:
            self._go(self.cursor)

    def on_mouse_scroll_down(self, _: events.MouseScrollDown) -> None:
        """At the end again it follows again."""
        if not self.following and self.scroll_offset.y >= self.max_scroll_y:
            self.action_follow()

    def _show_cursor(self) -> None:
        top, height = int(self.scroll_offset.y), max(1, self.size.height - 1)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)
        self.refresh()

    # -- drawing

    @property
    def _painter(self) -> FlowPainter:
        """One for each width and theme: it remembers the lines that it drew."""
        looks = (self._width, self.app.theme, self.model.has_model_time)
        if looks != self._looks:
            self._looks = looks
            self._known_painter = FlowPainter(Geometry.of(looks[0]), self._style, model_time=looks[2])
        return self._known_painter

    def render_line(self, y: int) -> Strip:
        painter = self._painter
        if y == 0:
            return painter.heads()
        rows = self.model.rows
        index = y - 1 + int(self.scroll_offset.y)
        if index >= len(rows):
            words = why_empty(self.model, is_pinned=self._is_pinned) if not rows else ()
            return painter.empty(words[y - 3] if 0 <= y - 3 < len(words) else "")
        row = rows[index]
        strip = painter.row(row, lit=0 < row.touched > self._now() - LIT_SECONDS)
        return self._marked(strip) if index == self.cursor and not self.following else strip

    def _marked(self, strip: Strip) -> Strip:
        """The cursor's row: another ground and a sign at its start."""
        ground = Style(bgcolor=self._colour("secondary" if self.has_focus else "panel"), bold=True)
        marker = Segment("▌", self._style("accent", True, False))
        segments = [marker, *strip.crop(1, self._width)]
        return Strip(list(Segment.apply_style(segments, post_style=ground)), self._width)

    def _colour(self, variable: str) -> str:
        return inks(self.app).get(variable, "default")

    def _style(self, variable: str, bold: bool, dim: bool) -> Style:
        return style(self._colour(variable), self._colour("background"), bold, dim)
