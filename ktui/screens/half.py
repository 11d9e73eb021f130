"""Half of the window, or all of it: one of the main screens at a time, and the way that one came there."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from ktui.guard import Guarded
from ktui.screens.catalogue import ENTRIES
from ktui.screens.frame import FrameScreen
from ktui.widgets.ground import Stack

PLACES_KEPT = 100


class Half(Guarded, Stack):
    """Makes a screen when it is first asked for, and keeps it: one that comes back is as it was left."""

    DEFAULT_CSS = """
    Half { width: 1fr; height: 1fr; }
    Half > .half-head { height: 1; display: none; background: $panel; color: $foreground 80%; }
    Half.-active > .half-head { color: $accent; text-style: bold; }
    Half > FrameScreen { height: 1fr; width: 1fr; }
    """

    def __init__(self, mode: str) -> None:
        super().__init__()
        self._shown = ENTRIES[mode].make()
        self._made = {mode: self._shown}
        self._places: list[tuple[str, object]] = []  # the last one is where Backspace leads
        self._ahead: list[tuple[str, object]] = []  # those that one came back from

    def compose(self) -> ComposeResult:
        yield Static("", classes="half-head")
        yield self._shown

    @property
    def shown(self) -> FrameScreen:
        return self._shown

    @property
    def screens(self) -> tuple[FrameScreen, ...]:
        """Those that were shown so far."""
        return tuple(self._made.values())

    async def show(self, mode: str) -> FrameScreen:
        screen = self._made.get(mode)
        if screen is None:
            screen = self._made[mode] = ENTRIES[mode].make()
            screen.display = False
            await self.mount(screen)
        self._shown = screen
        for other in self._made.values():
            other.display = other is screen
        screen.resume()
        screen.focus_body()
        return screen

    def say_title(self, *, is_split: bool, is_active: bool) -> None:
        """The title of the screen, where there are two; a sign says which has the keys."""
        head = self.query_one(".half-head", Static)
        head.display = is_split
        self.set_class(is_active, "-active")
        entry = next(entry for entry in self._shown.ktui.tabs if entry.name == self._shown.mode)
        head.update(Text(f"{'▶' if is_active else ' '} {entry.key} {entry.title}", no_wrap=True, overflow="ellipsis"))

    # -- the way back

    def remember_place(self) -> None:
        """Where one is now is where Backspace leads; what was ahead is not any more."""
        self._places.append(self._here())
        self._ahead.clear()
        del self._places[:-PLACES_KEPT]

    async def go_back(self) -> bool:
        """To the place before; says whether there is one."""
        return await self._go(self._places, self._ahead)

    async def go_forward(self) -> bool:
        """To the place that one came back from; says whether there is one."""
        return await self._go(self._ahead, self._places)

    async def _go(self, places: list[tuple[str, object]], behind: list[tuple[str, object]]) -> bool:
        if not places:
            return False
        behind.append(self._here())
        mode, place = places.pop()
        (await self.show(mode)).return_to(place)
        return True

    def _here(self) -> tuple[str, object]:
        return self._shown.mode, self._shown.place()
