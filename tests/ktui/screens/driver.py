"""A person at the keys: presses, looks, and waits for what is to be seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from textual import events
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widget import Widget

from engine.client import Client
from ktui.app import KtuiApp

LOOKS = 600
WidgetType = TypeVar("WidgetType", bound=Widget)
WEB = Path(__file__).parents[3] / "samples" / "web.yaml"


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
        raise AssertionError(f"there is no {selector or kind.__name__}")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        names = {" ": "space", "/": "slash", "-": "minus", ".": "full_stop", "=": "equals_sign", ":": "colon"}
        await self.press(*(names.get(character, character) for character in text))

    def all_at_once(self, *keys: str) -> None:
        """Faster than they can be handled, as over a slow line."""
        named = {"space": " ", "slash": "/", "colon": ":"}
        for key in keys:
            self.app.post_message(events.Key(key, named.get(key, key if len(key) == 1 else None)))

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
        for _ in range(LOOKS):
            if holds():
                return
            await self.pilot.pause(0.01)
        raise AssertionError(f"it did not come to hold; on the terminal:\n{self.picture}")

    async def sees(self, *texts: str) -> None:
        await self.until(lambda: all(text in self.picture for text in texts))

    async def misses(self, *texts: str) -> None:
        await self.until(lambda: not any(text in self.picture for text in texts))
