"""What is on the terminal: the bar, the names of the screens, one main screen or two, the command line and the keys.

Two screens stand beside one another where there is room, else one above the other; where there is room for neither, the
one that has the keys is shown alone until the terminal is larger again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.reactive import Reactive
from textual.screen import Screen
from textual.theme import Theme
from textual.widget import Widget

from ktui.guard import Guarded
from ktui.models.halves import Layout, layout_for
from ktui.models.summary import ClusterSummary
from ktui.screens.frame import NARROW_BELOW, FrameScreen
from ktui.screens.half import Half
from ktui.widgets.cluster_bar import ClusterBar
from ktui.widgets.command_line import CommandLine
from ktui.widgets.compositor import SeenOnly
from ktui.widgets.ground import Ground, Stack
from ktui.widgets.key_line import KeyLine
from ktui.widgets.tab_line import TabLine

if TYPE_CHECKING:
    from ktui.app import KtuiApp

UNDER_TABS = 2  # lines
UNDER_HEAD = 3  # of what has its newest lines last: Flow's lamps and the names of its lanes


class Window(Guarded, Screen[None], Ground):
    """The one screen below all dialogs. `half` is the one that has the keys, `shown` the main screen in it."""

    # What gets the focus or loses it draws itself; Textual would draw all that there is once more.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def __init__(self, mode: str) -> None:
        super().__init__()
        self._compositor = SeenOnly()
        self._halves = [Half(mode)]
        self._active = self._halves[0]
        self._toasts = (False, 0)  # whether they begin above, and below how many lines

    @property
    def ktui(self) -> KtuiApp:
        from ktui.app import KtuiApp

        assert isinstance(self.app, KtuiApp)
        return self.app

    def compose(self) -> ComposeResult:
        yield ClusterBar(id="bar")
        yield TabLine(id="tabs")
        with Stack(id="body"):
            yield from self._halves
        yield CommandLine(self.ktui.history, self.ktui.complete)
        yield KeyLine()

    # -- what is shown

    @property
    def half(self) -> Half:
        return self._active

    @property
    def shown(self) -> FrameScreen:
        return self._active.shown

    @property
    def is_split(self) -> bool:
        return len(self._halves) > 1

    @property
    def screens(self) -> list[FrameScreen]:
        """Those that were shown so far."""
        return [screen for half in self._halves for screen in half.screens]

    # -- when it is drawn

    def on_idle(self) -> None:
        """All that a key brought about has been worked out."""
        if self.ktui.haste.is_due():
            self._on_timer_update()

    def _on_timer_update(self) -> None:
        """What changed meanwhile is drawn with what the key changes, not before it."""
        if not self.ktui.haste.is_under_way():
            super()._on_timer_update()

    # -- one main screen or another

    async def show(self, mode: str) -> FrameScreen:
        """In the half that has the keys."""
        self.ktui.haste.come()
        screen = await self._active.show(mode)
        self._say_titles()
        self.ktui.haste.handled()
        self.check_idle()
        return screen

    async def go_back(self) -> bool:
        went = await self._active.go_back()
        self._say_titles()
        return went

    async def go_forward(self) -> bool:
        went = await self._active.go_forward()
        self._say_titles()
        return went

    # -- two screens

    async def split(self, mode: str) -> None:
        """Show a second screen, or another one in the half that has not the keys; it gets them."""
        if self.is_split:
            half = self._other
            await half.show(mode)
        else:
            half = Half(mode)
            self._halves.append(half)
            await self.query_one("#body").mount(half)
        self._activate(half)
        half.shown.resume()
        half.shown.focus_body()

    async def unsplit(self) -> None:
        """What has the keys alone."""
        if self.is_split:
            await self._close(self._other)

    async def close_second(self) -> None:
        """The screen alone that there was before it was split."""
        if self.is_split:
            await self._close(self._halves[1])

    async def _close(self, half: Half) -> None:
        self._halves.remove(half)
        self._activate(self._halves[0])
        self.shown.focus_body()
        await half.remove()

    @property
    def _other(self) -> Half:
        return next((half for half in self._halves if half is not self._active), self._active)

    def focus_other(self) -> None:
        """Give the keys to the other half."""
        self._activate(self._other)
        self.shown.focus_body()

    def _activate(self, half: Half) -> None:
        self._active = half
        self._arrange()

    def _arrange(self) -> None:
        width, height = self.app.size
        layout = layout_for(width, height) if self.is_split else Layout.ALONE
        self.set_class(layout is Layout.STACKED, "stacked")
        self.set_class(layout is Layout.BESIDE, "beside")
        for half in self._halves:
            half.display = half is self._active or layout is not Layout.ALONE
        self._say_titles()

    def _say_titles(self) -> None:
        self._place_toasts()
        for half in self._halves:
            if half.is_mounted:
                half.say_title(is_split=self.is_split, is_active=half is self._active)
        width = self.app.size.width
        tabs = self.query_one(TabLine)
        tabs.show(self.ktui.tabs, self.shown.mode, width=width, is_narrow=width < NARROW_BELOW)

    def _place_toasts(self) -> None:
        """What is said lies over the end of a table, or over the beginning of what has its newest lines last; of two
        screens on that which stands on the right or below."""
        half = [each for each in self._halves if each.display][-1]
        above = half.shown.newest_is_last
        top = self._first_line(half) + UNDER_HEAD if above else 0
        if (above, top) == self._toasts:
            return
        self._toasts = above, top
        for rack in self.query_children("ToastRack"):  # not by a class: that would have all that it holds styled anew
            rack.styles.dock = "top" if above else "bottom"
            rack.styles.align = ("right", "top" if above else "bottom")
            rack.styles.margin = (top, 0, 0, 0) if above else (0, 0, 1, 0)

    def _first_line(self, half: Half) -> int:
        """Where its main screen begins, also where it has not been laid out yet."""
        first = UNDER_TABS + self.is_split
        if half is self._halves[0] or layout_for(*self.app.size) is not Layout.STACKED:
            return first
        return first + (self.app.size.height - UNDER_TABS - 1) // 2

    # -- events

    def on_mount(self) -> None:
        self._say_titles()
        self.app.theme_changed_signal.subscribe(self, self._theme_changed)

    def _theme_changed(self, _: Theme) -> None:
        self.show_summary(self.ktui.summary)
        for screen in self.screens:
            if screen.is_mounted:
                screen.redraw()

    def on_resize(self) -> None:
        self._arrange()
        self.show_summary(self.ktui.summary)

    def on_screen_resume(self) -> None:
        for half in self._halves:
            if half.shown.is_mounted:
                half.shown.resume()

    def on_descendant_focus(self, _: events.DescendantFocus) -> None:
        """The half that has the focus by now has the keys: an event may tell of a focus that has moved on since."""
        focused = self.focused
        half = next((node for node in focused.ancestors if isinstance(node, Half)), None) if focused else None
        if half is not None and half is not self._active:
            self._activate(half)

    def watch_focused(self, focused: Widget | None) -> None:
        """Keys always have somewhere to go."""
        if focused is None and self.is_mounted:
            self.call_after_refresh(self._focus_again)

    def _focus_again(self) -> None:
        if self.focused is None and self.is_current and self.shown.is_mounted:
            self.shown.focus_body()

    def show_summary(self, summary: ClusterSummary) -> None:
        for bar in self.query(ClusterBar):
            bar.show(summary)
        for half in self._halves:
            if half.shown.is_mounted and half.display:
                half.shown.show_summary(summary)

    # -- the command line

    def open_command_line(self, text: str = "") -> None:
        self.query_one(CommandLine).open(text, place=self.ktui.command_namespace)

    def on_command_line_closed(self) -> None:
        self.shown.focus_body()
