"""What covers all there is while the terminal is too small for it: no key acts unseen, but for those that leave."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Static

from ktui.guard import Guarded
from ktui.widgets.key_line import KeyLine

SMALLEST = Size(80, 24)


class TooSmall(Guarded, ModalScreen[None]):
    """Comes with `cover` and goes by itself when there is room again."""

    DEFAULT_CSS = """
    TooSmall { background: $background; }
    TooSmall #too-small { width: 1fr; height: 1fr; content-align: center middle; text-align: center; color: $warning; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "app.leave", "Leave", id="frame.leave")]

    def __init__(self) -> None:
        super().__init__()
        self.gone = asyncio.Event()

    def compose(self) -> ComposeResult:
        yield Static("", id="too-small")
        yield KeyLine()

    def on_resize(self) -> None:
        self._look()

    def on_screen_resume(self) -> None:
        self._look()

    def on_unmount(self) -> None:
        self.gone.set()

    def _look(self) -> None:
        width, height = self.app.size
        if not is_too_small(self.app.size):
            if self.is_active:  # else what is asked above it goes first, and this is looked at again
                self.dismiss()
            return
        self.query_one("#too-small", Static).update(
            f"This terminal is {width}×{height}; ktui needs {SMALLEST.width}×{SMALLEST.height}.\n"
            "Make it larger, or press q."
        )


def is_too_small(size: Size) -> bool:
    return size.width < SMALLEST.width or size.height < SMALLEST.height


def cover(app: App[Any]) -> None:
    """Show it where the terminal is too small, once."""
    if is_too_small(app.size) and _cover_of(app) is None:
        app.push_screen(TooSmall())


async def room(app: App[Any]) -> None:
    """Wait until there is enough: what comes by itself does not come above the cover."""
    while is_too_small(app.size) or _cover_of(app) is not None:
        cover(app)
        if (covering := _cover_of(app)) is not None:
            await covering.gone.wait()


def _cover_of(app: App[Any]) -> TooSmall | None:
    return next((screen for screen in app.screen_stack if isinstance(screen, TooSmall)), None)
