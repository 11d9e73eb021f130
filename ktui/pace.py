"""The terminal's pace: nothing is drawn for one that has not taken in what was drawn before.

A slow connection would else show the past, and an app that fills Textual's queue of writes waits for room in it, deaf
to keys. While it is behind, changes gather; what is drawn then is what is true then. One that was the shell's meanwhile
gets the whole picture.
"""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType
from textual import work
from textual.app import App
from textual.driver import Driver
from textual.screen import Screen

from ktui.haste import Haste
from ktui.session import Session

WAITING_MOST = 2  # pictures on their way to the terminal
LOOK_SECONDS = 0.01


class Paced(App[str]):
    session: Session
    haste: Haste

    def __init__(self) -> None:
        super().__init__()
        self._is_waiting = False

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, renderable)
        self.haste.drawn()
        if not self._is_waiting and _waiting(self._driver) > WAITING_MOST:
            self._is_waiting = True
            self._wait_for_terminal()

    def on_driver_signal_resume(self) -> None:
        """Back from the shell the terminal shows nothing; Textual would draw only what changes from now on."""
        self.screen.refresh()

    @work(group="terminal", exit_on_error=False)
    async def _wait_for_terminal(self) -> None:
        try:
            with self.batch_update():
                while _waiting(self._driver):
                    await self.session.world.clock.sleep(LOOK_SECONDS)
        finally:
            self._is_waiting = False
        self.screen.refresh()


def _waiting(driver: Driver | None) -> int:
    """Writes that the terminal has not taken; a browser takes all at once."""
    writer = getattr(driver, "_writer_thread", None)
    return writer._queue.qsize() if writer is not None else 0
