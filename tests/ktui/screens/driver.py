"""A person at the keys: presses, looks, and waits for what is to be seen."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from textual import events
from textual.geometry import Region
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.pilot import Pilot
from textual.widget import Widget

from engine.client import Client
from ktui.app import KtuiApp

LOOKS = 800
QUICK_LOOKS = 20  # most of what is waited for is there at once; what is not, comes no sooner for being looked for
ROUNDS = 3  # what a key has set off may set off more
WidgetType = TypeVar("WidgetType", bound=Widget)
WEB = Path(__file__).parents[3] / "samples" / "web.yaml"


def pressed(key: str) -> events.Key:
    """A key by its name in Textual ("slash") or by its character, as a terminal would send it."""
    if len(key) == 1:
        return events.Key(_character_to_key(key), key)
    try:
        return events.Key(key, unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(key, key))))
    except KeyError:
        return events.Key(key, None)


class NotShownError(AssertionError):
    """What was looked for is not on the screen."""


class Driver:
    def __init__(self, app: KtuiApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def client(self) -> Client:
        return self.app.session.client

    @property
    def shown(self) -> Widget | None:
        """The main screen that has the keys; None while a dialog has them."""
        return self.app.shown if self.app.screen is self.app.window else None

    def find(self, kind: type[WidgetType], selector: str = "") -> WidgetType:
        for place in (self.shown, self.app.screen):
            found = place.query(selector or kind).results(kind) if place is not None else ()
            if widgets := list(found):
                return widgets[-1]
        raise NotShownError(f"there is no {selector or kind.__name__}")

    async def shows(self, kind: type[Widget]) -> None:
        """Until a main screen of that kind has the keys."""
        await self.until(lambda: isinstance(self.shown, kind))

    async def press(self, *keys: str) -> None:
        """One after the other, each when all that the one before led to is done."""
        for key in keys:
            self.all_at_once(key)
            await self.settle()

    async def type(self, text: str) -> None:
        """As fast as a line is pasted."""
        self.all_at_once(*text)
        await self.settle()

    def all_at_once(self, *keys: str) -> None:
        """Faster than they can be handled, as over a slow line."""
        for key in keys:
            self.app.post_message(pressed(key))

    async def settle(self) -> None:
        """Until no widget has a message left that it has not handled, and what they want to be drawn is drawn.

        Textual's own pilot waits for some time in which the process does next to nothing. With an engine in it that
        is long in coming, and neither says that the keys were handled.
        """
        await self.pilot._wait_for_screen()
        while self.app.is_running and (self.app._is_key_out or self.app._ahead):
            await self.pilot.pause(0.001)
        for _ in range(ROUNDS):
            await self.pilot._wait_for_screen()
            self.app.screen._on_timer_update()

    async def command(self, text: str) -> None:
        """Type a line after `:`."""
        await self.press("colon")
        await self.type(text)
        await self.press("enter")

    @property
    def picture(self) -> str:
        """The characters on the terminal, line by line."""
        width, height = self.app.size
        lines = self.app.screen._compositor.render_strips()
        region = Region(0, 0, width, height)
        return "\n".join(strip.text for strip in lines[: region.height])

    async def until(self, holds: Callable[[], object]) -> None:
        """Let things happen until it holds; fails with what is on the terminal if that does not come."""
        for look in range(LOOKS):
            try:
                if holds():
                    return
            except NotShownError:
                pass  # it may yet come
            await self.pilot.pause(0.01 if look < QUICK_LOOKS else 0.05)
        raise AssertionError(f"it did not come to hold; on the terminal:\n{self.picture}")

    async def sees(self, *texts: str) -> None:
        await self.until(lambda: not self._lacking(texts))

    async def misses(self, *texts: str) -> None:
        await self.until(lambda: len(self._lacking(texts)) == len(texts))

    def _lacking(self, texts: Sequence[str]) -> list[str]:
        """Those that are not to be seen, all looked for in one picture: it takes as long as drawing does."""
        picture = self.picture
        return [text for text in texts if text not in picture]
