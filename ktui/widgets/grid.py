"""A virtualised table: any number of rows, only the visible ones drawn."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from ktui.models.grid_row import GridRow
from ktui.models.live_rows import LiveRows
from ktui.models.prose import Prose
from ktui.models.tiles import Tiles
from ktui.widgets.ink import inks, style
from ktui.widgets.line import Line, fit, fit_middle
from ktui.widgets.self_drawn import SelfDrawn

WIDEST = 60
NARROWEST = 16
NARROWEST_LAST = 8
GAP = 3
NARROW_GAP = 2
MARKED = "◆"
MORE_LEFT, MORE_RIGHT = "‹", "›"  # there are columns beyond the edge
LIT = "•"
DRAWN_KEPT = 1_000  # rows
FEW = 200  # rows whose cells may all be measured for a frame


class Grid(SelfDrawn, can_focus=True):
    """Rows under a head. The cursor stays on its key when rows come, go or move."""

    DEFAULT_CSS = """
    Grid { height: 1fr; width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("home,g", "move(-1000000000)", "First", show=False),
        Binding("end,G", "move(1000000000)", "Last", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]

    class Moved(Message):
        """The cursor is on another key now ("" for none)."""

        def __init__(self, grid: Grid, key: str) -> None:
            super().__init__()
            self.grid = grid
            self.key = key

        @property
        def control(self) -> Grid:
            return self.grid

    class TitleChosen(Message):
        """A click on the title of a column."""

        def __init__(self, grid: Grid, column: int) -> None:
            super().__init__()
            self.grid = grid
            self.column = column

        @property
        def control(self) -> Grid:
            return self.grid

    class Chosen(Moved):
        """Enter, or a click on the row under the cursor."""

    def __init__(self, *, empty: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self._empty = empty
        self._columns: tuple[str, ...] = ()
        self._widths: list[int] = []  # what the cells need
        self._fitted: list[int] = []  # what they get
        self._rows: Sequence[GridRow] = ()
        self._gap = GAP
        self._cursor = 0
        self._key = ""
        self._height = 0  # of the view, when it was last resized
        self._drawn: dict[tuple[object, ...], Strip] = {}  # by whatever can be seen of a row

    # -- data in

    def show(self, columns: Sequence[str], rows: Sequence[GridRow], *, empty: str | None = None) -> None:
        """Replace what is shown; `empty` is what to say where there are no rows.

        Rows that come above the cursor do not push it out of sight. Who has paged away from it stays.
        """
        was_seen = self._is_cursor_seen(self.size.height)
        if empty is not None:
            self._empty = empty
        if tuple(columns) != self._columns:
            self._columns = tuple(columns)
            self._widths = [cell_len(column) for column in columns]
            self._cursor = self._cursor if self._key else 0
        self._rows = rows
        self._widen(rows)
        self._keep_cursor()
        self._measure()
        if was_seen:
            self._show_cursor()
        self.refresh()

    def on_resize(self) -> None:
        """What is shown beside or below the table may leave it less room. Who has paged away from the cursor stays."""
        was_seen = self._is_cursor_seen(self._height)
        self._height = self.size.height
        self._measure()
        if was_seen:
            self._show_cursor()

    def watch_show_vertical_scrollbar(self) -> None:
        self._measure()

    def _measure(self) -> None:
        """Where the columns are too wide for the view, they get what they need now; then the widest gives way, but not
        below what it can be read at."""
        view = self._room
        self._fitted = list(self._widths)
        if self._whole_with(NARROW_GAP) > view:
            self._fitted = self._needed()
        self._gap = GAP if self._whole_with(GAP) <= view else NARROW_GAP
        while self._fitted and self._whole > view and max(self._fitted) > NARROWEST:
            self._fitted[self._fitted.index(max(self._fitted))] -= 1
        over = self._whole - view
        if self._fitted and 0 < over <= self._fitted[-1] - NARROWEST_LAST:
            self._fitted[-1] -= over  # it ends in an ellipsis, where the edge of the view would cut it off
        self.reach(Size(max(self._whole, view), len(self._rows) + 1))

    def _needed(self) -> list[int]:
        """What is shown takes so much, however wide the columns have been; of many rows that is not looked at."""
        if len(self._rows) > FEW:
            return list(self._widths)
        needed = [cell_len(column) for column in self._columns]
        for row in self._rows:
            for index, cell in enumerate(row.cells[: len(needed)]):
                needed[index] = max(needed[index], cell_len(cell))
        return list(map(min, needed, self._widths))

    @property
    def _room(self) -> int:
        """How wide the lines can be, beside the bar that comes once there are more rows than are seen.

        The bar itself comes later: what was measured without it was too wide by it, and a bar came below that stayed.
        """
        inside = self.content_region
        return inside.width - (self.styles.scrollbar_size_vertical if len(self._rows) + 1 > inside.height else 0)

    @property
    def _whole(self) -> int:
        return self._whole_with(self._gap)

    def _whole_with(self, gap: int) -> int:
        return sum(self._fitted) + gap * max(0, len(self._fitted) - 1) + 1

    def _widen(self, rows: Sequence[GridRow]) -> None:
        """Columns only grow while the columns stay, so that live changes do not make them dance."""
        if isinstance(rows, LiveRows):
            known = rows.widths[: len(self._widths)]
            self._widths[: len(known)] = map(max, self._widths, (min(WIDEST, width) for width in known))
            return
        for row in rows:
            for index, cell in enumerate(row.cells[: len(self._widths)]):
                width = len(cell) if cell.isascii() else cell_len(cell)
                if self._widths[index] < width:
                    self._widths[index] = min(WIDEST, width)

    def narrow(self) -> None:
        """Let the columns be as wide as what is shown next needs: somebody asked for other rows."""
        self._widths = [cell_len(column) for column in self._columns]

    def _keep_cursor(self) -> None:
        """Follow the key to where it is now; where it has gone, stay on the line."""
        if self.key != self._key or not self._key:
            found = self._index_of(self._key) if self._key else None
            self._cursor = found if found is not None else max(0, min(self._cursor, len(self._rows) - 1))
        self._settle()

    def _index_of(self, key: str) -> int | None:
        if isinstance(self._rows, LiveRows):
            return self._rows.index_of(key)
        return next((index for index, row in enumerate(self._rows) if row.key == key), None)

    @property
    def rows(self) -> Sequence[GridRow]:
        """What is shown, in its order."""
        return self._rows

    # -- the cursor

    @property
    def key(self) -> str:
        """What the cursor is on; "" for nothing."""
        if self._cursor >= len(self._rows):
            return ""
        return self._rows.key_at(self._cursor) if isinstance(self._rows, LiveRows) else self._rows[self._cursor].key

    def move_to(self, key: str) -> None:
        index = self._index_of(key)
        if index is not None:
            self.action_move(index - self._cursor)

    def action_move(self, by: int) -> None:
        self._cursor = max(0, min(len(self._rows) - 1, self._cursor + by))
        self._show_cursor()
        self._settle()
        self.refresh()

    def _is_cursor_seen(self, height: int) -> bool:
        """In a view that is so high, of which the head has a line."""
        return 0 <= self._cursor - int(self.scroll_offset.y) < max(1, height - 1)

    def _show_cursor(self) -> None:
        top, height = int(self.scroll_offset.y), max(1, self.size.height - 1)
        if self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False, immediate=True)
        elif self._cursor >= top + height:
            self.scroll_to(y=self._cursor - height + 1, animate=False, immediate=True)

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self.size.height - 2))

    def _settle(self) -> None:
        if self.key != self._key:
            self._key = self.key
            self.post_message(self.Moved(self, self._key))

    def action_choose(self) -> None:
        if self.key:
            self.post_message(self.Chosen(self, self.key))

    def on_click(self, event: events.Click) -> None:
        index = event.y - 1 + int(self.scroll_offset.y)
        if event.y < 1:
            self._choose_title(event.x + int(self.scroll_offset.x))
            return
        if index >= len(self._rows):
            return
        if index == self._cursor:
            self.action_choose()
        else:
            self.action_move(index - self._cursor)

    def _choose_title(self, at: int) -> None:
        column = 1
        for index, width in enumerate(self._fitted):
            if column <= at < column + width:
                self.post_message(self.TitleChosen(self, index))
                return
            column += width + self._gap

    # -- drawing

    def render_line(self, y: int) -> Strip:
        offset, width = int(self.scroll_offset.x), self.scrollable_content_region.width
        whole = max(int(self.virtual_size.width), width)
        if y == 0:
            line = Line(whole)
            self._put_cells(line, self._columns, self._style(bold=True, dim=True))
            if offset + width < whole:
                line.put(offset + width - 1, MORE_RIGHT, self._style("accent", bold=True))
            if offset:
                line.put(offset, MORE_LEFT, self._style("accent", bold=True))
            return line.strip(self._style()).crop(offset, offset + width)
        index = y - 1 + int(self.scroll_offset.y)
        if index >= len(self._rows):
            return self._empty_line(y, width)
        row = self._rows[index]
        if index == self._cursor:
            return self._under_cursor(row, whole).crop(offset, offset + width)
        looks = (whole, self._gap, *self._fitted, self.app.theme, row.tone, _sign(row), *row.cells, *_tones(row))
        strip = self._drawn.get(looks)
        if strip is None:
            if len(self._drawn) >= DRAWN_KEPT:
                self._drawn.clear()
            strip = self._drawn[looks] = self._row_line(row, whole).strip(self._style())
        return strip.crop(offset, offset + width)

    def _row_line(self, row: GridRow, whole: int) -> Line:
        line = Line(whole)
        self._put_cells(line, row.cells, self._style(row.tone, bold=row.is_lit or row.is_marked))
        if sign := _sign(row):
            line.put(0, sign, self._style("accent", bold=True))
        return line

    def _under_cursor(self, row: GridRow, whole: int) -> Strip:
        line = self._row_line(row, whole)
        line.put(0, MARKED if row.is_marked else "▌", self._style("accent", bold=True))
        ground = Style(bgcolor=self._colour("secondary" if self.has_focus else "panel"), bold=True)
        return Strip(list(Segment.apply_style(line.strip(self._style()), post_style=ground)), whole)

    def _put_cells(self, line: Line, cells: Sequence[str], style: Style) -> None:
        column = 1
        for cell, width in zip(cells, self._fitted, strict=False):
            if isinstance(cell, Tiles):
                self._put_tiles(line, column, cell, width, style)
            else:
                line.put(column, (fit if isinstance(cell, Prose) else fit_middle)(cell, width), style)
            column += width + self._gap

    def _put_tiles(self, line: Line, column: int, tiles: Tiles, width: int, style: Style) -> None:
        line.put(column, fit(tiles, width), style)
        shown = len(tiles) if len(tiles) <= width else width - 1
        for offset, tone in enumerate(tiles.tones[:shown]):
            line.put(column + offset, tiles[offset], self._style(tone))

    def _empty_line(self, y: int, width: int) -> Strip:
        line = Line(width)
        words = self._words_if_empty(width)
        if 0 <= y - 2 < len(words):
            line.put(1, words[y - 2], self._style("accent"))
        return line.strip(self._style())

    def _words_if_empty(self, width: int) -> list[str]:
        if self._rows:
            return []
        return [line for part in self._empty.splitlines() for line in wrap(part, max(10, width - 2))]

    def _colour(self, variable: str) -> str:
        return inks(self.app).get(variable, "default")

    def _style(self, variable: str = "foreground", *, bold: bool = False, dim: bool = False) -> Style:
        return style(self._colour(variable), self._colour("background"), bold, dim)


def _sign(row: GridRow) -> str:
    """Before its cells: whether it is chosen with others, or changed a moment ago."""
    return MARKED if row.is_marked else LIT if row.is_lit else ""


def _tones(row: GridRow) -> list[object]:
    """What the cells' words do not tell."""
    return [cell.tones for cell in row.cells if isinstance(cell, Tiles)]
