"""Another theme is on all that is seen at once, also on text that was made in the colours of the last one."""

from __future__ import annotations

import io
from functools import partial

from ktui.widgets.ink import inks
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import WEB, Driver

PLACES = {  # the keys that lead there, each with what is seen before the next
    "flow": (("1", "newest"), ("up", "began")),
    "objects": (("2", "Running"), ("y", "kind: Pod")),
    "store": (("3", "keys at rev"), ("down", "the newest")),
}


def colours(driver: Driver) -> set[str]:
    """Those of the characters on the terminal."""
    strips = driver.app.screen._compositor.render_strips()
    inked = [piece.style for strip in strips for piece in strip if piece.text.strip() and piece.style is not None]
    return {style.color.name for style in inked if style.color is not None}


def _shows(driver: Driver, inked: set[str]) -> bool:
    return bool(colours(driver) & inked)


def _lacks(driver: Driver, inked: set[str]) -> bool:
    return not _shows(driver, inked)


async def test_no_colour_of_the_last_theme_is_left(show: Show) -> None:
    async with show(size=(120, 40)) as driver:
        app = driver.app
        await app._kubectl(("apply", "-f", str(WEB)), io.StringIO(), io.StringIO())
        await driver.until(lambda: app.summary.pods.get("ready") == 3)
        for name, steps in PLACES.items():
            app.use_theme("dark")
            dark = set(inks(app).values())
            for key, seen in steps:
                await driver.press(key)
                await driver.sees(seen)
            await driver.until(partial(_shows, driver, dark))
            app.use_theme("light")
            stale = dark - set(inks(app).values())
            await driver.until(partial(_lacks, driver, stale))
            assert name == app.shown.mode
