"""What every main screen shares: its keys for tables, copying, links and the way back.

The bar above, the names of the screens, the keys below and the command line are the window's
(`ktui/screens/window.py`), which shows one screen, or two: a screen lays itself out for its own size, not for the
terminal's.

A new screen is a subclass of `FrameScreen` in a file of its own, and a line in `ktui/screens/catalogue.py`, which gives
it its key, its tab, its `:name` and its entry in the command palette. It has to give

* `mode` and `purpose` (the first words of its help), `BINDINGS` for keys of its own. Each `Binding` has
  `id="MODE.ACTION"`: under that name people give it another key in their config file. `?` lists them by themselves.
* `compose_body`, which yields its parts, and `focus_body`.

In return it gets, without a line of its own:

* `/`, `o`, `O`: filter, sort and reverse the `TablePane` that has the focus, else the first on the screen. Show rows
  with `pane.show(titles, rows, empty=what_to_do)`; give a `GridRow` the `labels` of its object, so that `-l` finds it.
  A screen whose rows are not in a `TablePane` overrides `action_filter` and its like.
* `c`: copy `copied()`, by default what the `DetailPane` has to copy, or the row under the cursor.
* Enter on a row: goes to `link_of(key)`, where that gives a `Link`; else the focus goes to the `DetailPane`. Links in a
  `DetailPane` (`show(parts, links=...)`) are followed in the same way; `self.ktui.go_to(link)` does it from anywhere.
* Backspace: from a detail to its table, with what `leave_inside` closes; from there, and `[` from anywhere, back to
  where one came from, cursor included; `]` forward again. What else makes the place up is in `place` and `return_to`.
  A screen that has steps of its own to go through binds `[` and `]` itself.
* Esc: closes, in this order, the filter and what `close_one` closes.
* `redraw`, called when the theme has changed, for text that keeps the colours that it was made with.
* `show_summary`, called four times a second with the cluster's summary, whose `now` is the model's time.

Draw at most twenty times a second: let a feed only change the model, and draw what changed from `set_interval`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container

from ktui.guard import Guarded
from ktui.models.link import Link
from ktui.models.summary import ClusterSummary
from ktui.widgets.detail_pane import DetailPane
from ktui.widgets.grid import Grid
from ktui.widgets.ground import Ground
from ktui.widgets.scrolled import Scrolled
from ktui.widgets.table_pane import TablePane

if TYPE_CHECKING:
    from ktui.app import KtuiApp

NARROW_BELOW = 110
_OF_A_PANE = {"filter": "filter", "sort": "sort", "reverse": "reverse"}


class FrameScreen(Guarded, Container, Ground):
    """A main screen: subclasses give `mode`, `compose_body` and `focus_body`."""

    mode: ClassVar[str]
    purpose: ClassVar[str] = ""  # for the help
    newest_is_last: ClassVar[bool] = False  # what is said must not lie over its last lines
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/", id="table.filter", tooltip="show only some rows"),
        Binding("o", "sort", "Sort", show=False, id="table.sort", tooltip="sort by the next column"),
        Binding("O", "reverse", "Reverse", show=False, id="table.reverse", tooltip="reverse the order"),
        Binding("c", "copy", "Copy", show=False, id="frame.copy", tooltip="copy what is under the cursor"),
        Binding("backspace", "back", "Back", show=False, id="frame.back", tooltip="back to where one came from"),
        Binding("escape", "escape", "Close", show=False, id="frame.close", tooltip="leave the filter, then the detail"),
    ]

    @property
    def ktui(self) -> KtuiApp:
        from ktui.app import KtuiApp

        assert isinstance(self.app, KtuiApp)
        return self.app

    @property
    def is_current(self) -> bool:
        """Whether a person sees it, with nothing over it."""
        return self.is_attached and self.screen.is_current and all(node.display for node in self.ancestors_with_self)

    def compose(self) -> ComposeResult:
        return self.compose_body()

    def compose_body(self) -> ComposeResult:
        raise NotImplementedError

    def focus_body(self) -> None:
        """Put the focus where it belongs while nothing else is open."""
        raise NotImplementedError

    def on_resize(self) -> None:
        self.set_class(self.size.width < NARROW_BELOW, "narrow")

    def resume(self) -> None:
        """It is looked at again."""
        self.show_summary(self.ktui.summary)

    def show_summary(self, summary: ClusterSummary) -> None:
        """For screens that show something of the cluster as a whole, such as its time."""

    def redraw(self) -> None:
        """The theme is another: what was drawn in the colours of the last one is drawn again."""
        for pane in self.query(TablePane):
            pane.say()

    def namespace_changed(self) -> None:
        """For screens that show the objects of one namespace: it is another one now."""

    # -- tables

    @property
    def pane(self) -> TablePane | None:
        """The table that has the focus, else the first one that is shown."""
        panes = [pane for pane in self.query(TablePane) if pane.display]
        return next((pane for pane in panes if pane.has_focus_within), panes[0] if panes else None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No filter where there is nothing to filter, unless the screen has one of its own."""
        is_own = action in _OF_A_PANE and getattr(type(self), f"action_{action}") is not getattr(
            FrameScreen, f"action_{action}"
        )
        return action not in _OF_A_PANE or is_own or (self.is_mounted and self.pane is not None)

    def action_filter(self) -> None:
        if self.pane is not None:
            self.pane.open_filter()

    def action_sort(self) -> None:
        if self.pane is not None:
            self.pane.sort()

    def action_reverse(self) -> None:
        if self.pane is not None:
            self.pane.reverse()

    def action_escape(self) -> None:
        """Close one thing: the filter, then what the screen has open."""
        if self.pane is None or not self.pane.close_filter():
            self.close_one()
        self.focus_body()

    def on_filter_line_left(self) -> None:
        self.action_escape()

    def close_one(self) -> None:
        """For screens that open something beside their table."""

    # -- copying

    def copied(self) -> str:
        """What the copy key takes."""
        for detail in self.query(DetailPane):
            if detail.copied and detail.display:
                return detail.copied
        pane = self.pane
        row = next((row for row in pane.grid.rows if row.key == pane.key), None) if pane is not None else None
        return "\t".join(row.cells) if row is not None else ""

    def action_copy(self) -> None:
        text = self.copied()
        if text:
            self.app.copy_to_clipboard(text)
            lines = text.count("\n")
            self.notify(f"copied {f'{lines + 1} lines' if lines else text[:60]}", timeout=1.5, markup=False)

    # -- links and places

    def action_back(self) -> None:
        """One step: to the table whose detail is looked into, else to where one came from."""
        focused = self.screen.focused
        if focused is not None and any(isinstance(node, Scrolled) for node in focused.ancestors_with_self):
            self.leave_inside()
            self.focus_body()
        else:
            self.ktui.action_go_back()

    def leave_inside(self) -> None:
        """For screens that made room for the detail that one leaves."""

    def link_of(self, key: str) -> Link | None:
        """Where Enter on the row of that key leads."""
        return None

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        link = self.link_of(message.key)
        if link is not None:
            self.ktui.go_to(link)
            return
        for detail in self.query(DetailPane):
            detail.focus()

    def on_detail_pane_followed(self, message: DetailPane.Followed) -> None:
        self.ktui.go_to(message.link)

    def place(self) -> object:
        """Where on the screen one is: what `return_to` needs to come back."""
        return self.pane.key if self.pane is not None else None

    def return_to(self, place: object) -> None:
        if self.pane is not None and isinstance(place, str):
            self.pane.grid.move_to(place)
