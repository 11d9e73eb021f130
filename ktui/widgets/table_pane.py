"""A table with its head, its filter line and its order: what every screen shows rows in."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input, Static

from ktui.guard import Guarded
from ktui.models.branches import Branches
from ktui.models.grid_row import GridRow
from ktui.models.live_rows import LiveRows
from ktui.models.signs import CLOCK
from ktui.models.table_view import TableView
from ktui.models.trouble import advice
from ktui.widgets.filter_line import FilterLine
from ktui.widgets.grid import Grid
from ktui.widgets.ground import Stack
from ktui.widgets.ink import inks

HINT = "web  ·  !web  ·  -l app=web  ·  status=Running"


class TablePane(Guarded, Stack):
    """Give it rows with `show`; it filters and sorts them. `view` says how."""

    DEFAULT_CSS = """
    TablePane { height: 1fr; width: 1fr; }
    TablePane > .pane-head { height: 1; background: $surface; text-wrap: nowrap; text-overflow: ellipsis; }
    TablePane > .pane-filter { height: 1; border: none; background: $panel; padding: 0 1; display: none; }
    TablePane.-filtering > .pane-filter { display: block; }
    """

    class Filtered(Message):
        """What the filter says is another now: `view.filter(titles)` reads it."""

        def __init__(self, pane: TablePane) -> None:
            super().__init__()
            self.pane = pane

        @property
        def control(self) -> TablePane:
            return self.pane

    def __init__(self, title: str = "", *, empty: str = "", hint: str = HINT, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = TableView()
        self.title = title
        self.problem = ""  # what hinders the rows from being current
        self.note = ""  # said behind the counts
        self.left_out = ""  # what is not among the rows, and so not filtered, as in "not shown: 40 more wait"
        self.late = ""  # since when newer rows are waited for, where that is long
        self._empty = empty
        self._hint = hint
        self.titles: tuple[str, ...] = ()
        self._rows: Sequence[GridRow] = ()

    def compose(self) -> ComposeResult:
        yield Static("", classes="pane-head")
        yield Grid(empty=self._empty, id=f"{self.id}-grid" if self.id else None)
        yield FilterLine(placeholder=self._hint, classes="pane-filter", compact=True)

    @property
    def grid(self) -> Grid:
        return self.query_one(Grid)

    @property
    def line(self) -> Input:
        return self.query_one(Input)

    @property
    def key(self) -> str:
        """What the cursor is on; "" for nothing."""
        return self.grid.key

    # -- data in

    def show(self, titles: Sequence[str], rows: Sequence[GridRow], *, empty: str | None = None) -> None:
        """Take all rows; call it when they changed, at most once a frame."""
        self.titles, self._rows = tuple(titles), rows
        if empty is not None:
            self._empty = empty
        self.again()

    def again(self) -> None:
        """Filter, sort and draw what there is."""
        shown = self._arranged()
        empty = self._if_filtered if self._total and self.view.text else self._why_empty()
        self.grid.show(self.view.heads(self.titles), shown, empty=empty)
        self.say()

    @property
    def _if_filtered(self) -> str:
        unseen = f"\n{self.left_out.capitalize()}; the filter does not look there." if self.left_out else ""
        unknown = self.view.filter(self.titles).unknown
        missing = (
            f"\nThere is no column {' or '.join(name.rstrip('!').upper() for name in unknown)} here." if unknown else ""
        )
        return f"No row meets the filter. Esc takes it away.{missing}{unseen}"

    def _why_empty(self) -> str:
        if not self.problem:
            return self._empty
        from ktui.app import KtuiApp

        starts_engine = isinstance(self.app, KtuiApp) and self.app.session.begin is not None
        return f"✖ {self.problem}\n{advice(self.problem, starts_engine=starts_engine)}"

    def _arranged(self) -> Sequence[GridRow]:
        if isinstance(self._rows, LiveRows):
            self._rows.arrange(self.view, self.titles)
            return self._rows
        if isinstance(self._rows, Branches):
            return self._rows.arranged(self.view, self.titles)
        return self.view.shown(self.titles, self._rows)

    @property
    def _total(self) -> int:
        return self._rows.total if isinstance(self._rows, LiveRows) else len(self._rows)

    def say(self) -> None:
        """The head: what this is, how many of how many, the filter, and what is wrong."""
        colours = inks(self.app)
        shown, all_rows = len(self.grid.rows), self._total
        head = Text.assemble(
            (f" {self.title}", "bold"), f"  {shown}" + (f" of {all_rows}" if shown != all_rows else "")
        )
        if note := "  ".join(filter(None, (self.note, self.left_out))):
            head.append(f"  {note}", "dim")
        if self.view.text:
            head.append(f"  /{self.view.text}", colours.get("accent", ""))
        if self.late:
            head.append(f"  {CLOCK} {self.late}", colours.get("warning", ""))
        problem = self.problem or self.view.filter(self.titles).problem
        if problem:
            head.append(f"  ✖ {problem}", colours.get("error", ""))
        self.query_one(".pane-head", Static).update(head, layout=False)

    # -- the filter

    def open_filter(self) -> None:
        self.add_class("-filtering")
        self.line.focus()

    def close_filter(self) -> bool:
        """Take the filter away; says whether there was one."""
        was_open = self.has_class("-filtering") or bool(self.view.text)
        self.remove_class("-filtering")
        self.line.value = ""
        return was_open

    def set_filter(self, text: str) -> None:
        self.set_class(bool(text), "-filtering")
        self.line.value = text

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value == self.view.text:
            return
        self.view.text = event.value
        self.grid.narrow()
        self.again()
        self.post_message(self.Filtered(self))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value:
            self.remove_class("-filtering")
        self.grid.focus()

    def on_key(self, event: events.Key) -> None:
        if event.key in ("down", "up") and self.line.has_focus:
            event.stop()
            self.grid.focus()

    # -- the order

    def sort(self) -> None:
        self.view.sort_by_next(self.titles)
        self._in_new_order()

    def _in_new_order(self) -> None:
        """The cursor stays on its row, and that row stays in sight."""
        self.again()
        self.grid.action_move(0)

    def on_grid_title_chosen(self, message: Grid.TitleChosen) -> None:
        message.stop()
        self.sort_by(self.titles[message.column])

    def sort_by(self, title: str) -> None:
        """Sort by that column; the other way round where it is sorted by it."""
        if self.view.sort == title:
            self.view.descending = not self.view.descending
        else:
            self.view.sort, self.view.descending = title, False
        self._in_new_order()

    def reverse(self) -> None:
        self.view.descending = not self.view.descending
        self._in_new_order()
