"""The six lanes: a virtualised canvas that draws one `FlowRow` a line.

Only the visible lines are drawn, so a hundred thousand spans cost no more than a screenful.
"""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ktui.models.flow import LANES, FlowModel, FlowRow
from ktui.trace_tree import milliseconds
from ktui.widgets.line import Line

GUTTER = 7
TIMES = 20
SHORT_HEADS = ("cl", "api", "etcd", "ctl", "sched", "node")


class FlowCanvas(ScrollView, can_focus=True):
    """Shows a model's rows. Follows the end until the cursor leaves it."""

    DEFAULT_CSS = """
    FlowCanvas { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup,ctrl+b", "move(-20)", "Page up", show=False),
        Binding("pagedown,ctrl+f", "move(20)", "Page down", show=False),
        Binding("home,g", "move(-1000000)", "Oldest", show=False),
        Binding("end,G", "follow", "Follow", show=True),
        Binding("enter", "inspect", "Inspect", show=True),
    ]

    cursor: reactive[int] = reactive(0)
    following: reactive[bool] = reactive(True)

    class Selected(Message):
        """The cursor came to rest on a row (None: there is no row)."""

        def __init__(self, row: FlowRow | None) -> None:
            super().__init__()
            self.row = row

    class Inspected(Selected):
        """The person asked to see all of the row."""

    def __init__(self, model: FlowModel, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.model = model
        self._drawn = (-1, 0, 0)  # what the model and the widget were like at the last frame
        self._left_at = 0  # rows that there were when the cursor left the end

    def on_mount(self) -> None:
        self.set_interval(0.05, self._frame)

    # -- data in

    def show(self, model: FlowModel) -> None:
        """Draw another model, from its end."""
        self.model = model
        self.action_follow()

    @property
    def missed(self) -> int:
        """How many rows came since the cursor left the end."""
        return len(self.model.rows) + self.model.dropped - self._left_at

    def _frame(self) -> None:
        """Draw again if anything changed: at most twenty times a second, whatever comes in."""
        now = (self.model.seen, self.size.width, self.size.height)
        if now == self._drawn:
            return
        self._drawn = now
        self.virtual_size = Size(self.size.width, len(self.model.rows) + 1)
        if self.following and self.model.rows:
            self.cursor = len(self.model.rows) - 1
            self.scroll_to(y=self.max_scroll_y, animate=False)
        self.refresh()

    # -- keys and mouse

    def action_move(self, by: int) -> None:
        last = len(self.model.rows) - 1
        was_following = self.following
        self.cursor = max(0, min(last, self.cursor + by))
        self.following = self.cursor >= last
        if was_following and not self.following:
            self._left_at = len(self.model.rows) + self.model.dropped
        self.scroll_to_region_of_cursor()
        self.post_message(self.Selected(self.current))

    def action_follow(self) -> None:
        self.following = True
        self._drawn = (-1, 0, 0)
        self.post_message(self.Selected(self.current))

    def action_inspect(self) -> None:
        self.post_message(self.Inspected(self.current))

    def on_click(self, event: events.Click) -> None:
        row = event.y + int(self.scroll_offset.y) - 1
        if 0 <= row < len(self.model.rows):
            self.following = False
            self.cursor = row
            self.post_message(self.Selected(self.current))

    def scroll_to_region_of_cursor(self) -> None:
        top, height = int(self.scroll_offset.y), max(1, self.size.height - 1)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)
        self.refresh()

    @property
    def current(self) -> FlowRow | None:
        rows = self.model.rows
        return rows[self.cursor] if 0 <= self.cursor < len(rows) else None

    # -- drawing

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y == 0:
            return self._heads(width)
        index = y - 1 + int(self.scroll_offset.y)
        if index >= len(self.model.rows):
            return self._empty_line(y, width)
        strip = self._row_strip(self.model.rows[index], width)
        if index == self.cursor and self.has_focus:
            return strip.apply_style(Style(bgcolor=self._colour("panel"), bold=True))
        return strip

    def _colour(self, variable: str) -> str:
        return self.app.theme_variables.get(variable, "default")

    def _style(self, variable: str = "foreground", *, bold: bool = False, dim: bool = False) -> Style:
        return Style(color=self._colour(variable), bgcolor=self._colour("background"), bold=bold, dim=dim)

    def _lane_style(self, lane: int, *, bold: bool = False, dim: bool = False) -> Style:
        return self._style(f"lane-{LANES[lane]}", bold=bold, dim=dim)

    def _positions(self, width: int) -> list[int]:
        """The column of each lane's line."""
        times = TIMES if width >= 100 else 10
        room = width - GUTTER - times
        return [GUTTER + 2 + round(room * lane / len(LANES)) for lane in range(len(LANES))]

    def _heads(self, width: int) -> Strip:
        positions = self._positions(width)
        heads = LANES if width >= 90 else SHORT_HEADS
        line = Line(width)
        for lane, (position, head) in enumerate(zip(positions, heads, strict=True)):
            line.put(max(0, position - 1), head, self._lane_style(lane, bold=True))
        times = "wall     model~" if width >= 100 else "wall"
        line.put(width - len(times) - 1, times, self._style(dim=True))
        return line.strip(self._style())

    def _empty_line(self, y: int, width: int) -> Strip:
        line = Line(width)
        self._lane_lines(line, width)
        if not self.model.rows and y == 3:
            hint = "Nothing has happened yet. Try  :apply -f samples/web.yaml  or kubectl in another terminal."
            line.put(2, hint[: width - 4], self._style("accent", bold=True))
        return line.strip(self._style())

    def _lane_lines(self, line: Line, width: int) -> None:
        for lane, position in enumerate(self._positions(width)):
            line.put(position, "│", self._lane_style(lane, dim=True))

    def _row_strip(self, row: FlowRow, width: int) -> Strip:
        line = Line(width)
        self._lane_lines(line, width)
        positions = self._positions(width)
        lit = self._style("error", bold=True) if not row.ok else self._lane_style(row.target)
        line.put(0, _lamps(row), self._style("success") if row.ok else self._style("error", bold=True))
        text = row.text if row.count == 1 else f"{row.text} ×{row.count}"
        if not row.ok and row.outcome not in text:
            text = f"{text} ✖ {row.outcome}"
        end = width - (TIMES if width >= 100 else 10)
        if row.source == row.target:
            line.put(positions[row.target] + 2, text, lit, until=end)
        else:
            self._arrow(line, positions, row, text, lit, end)
        line.put(end, self._times(row, width), self._style(dim=True))
        return line.strip(self._style())

    def _arrow(self, line: Line, positions: list[int], row: FlowRow, text: str, style: Style, end: int) -> None:
        left, right = sorted((positions[row.source], positions[row.target]))
        dash = "┄" if row.dotted else "─"
        forward = row.source < row.target
        line.put(left + 1, dash * (right - left - 1), style)
        if forward:
            line.put(right - 1, "►", style)
        else:
            line.put(left + 1, "◄", style)
        room = right - left - 5
        if len(text) <= room:
            line.put(left + 3, f"{text}", style)
        else:
            line.put(right + 2, text, style, until=end)

    @staticmethod
    def _times(row: FlowRow, width: int) -> str:
        wall = milliseconds(row.wall_ms).rjust(9)
        return f"{wall} {milliseconds(row.model_ms).rjust(9)}" if width >= 100 else wall


def _lamps(row: FlowRow) -> str:
    lamps = row.lamps
    return lamps if len(lamps) <= 3 else f"{lamps[0]}-{lamps[-1]}"
