"""Any keys in any order: no exception, no screen that cannot be left.

`KTUI_RANDOM_KEYS=20000 KTUI_RANDOM_SEEDS=5 pytest tests/ktui/screens/test_random_keys.py` presses more of them, clicks
anywhere between them, pastes, and makes the terminal any size; the seed in a test's name repeats its walk.
"""

from __future__ import annotations

import io
import os
import random

import pytest
from textual import events

from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import WEB, Driver

KEYS = int(os.environ.get("KTUI_RANDOM_KEYS", "120"))
OTHER_SHARE = 0.15 if "KTUI_RANDOM_KEYS" in os.environ else 0.0  # of what is no key
PASTED = "apiVersion: v1\nkind: Pod\n" * 100 + "漢字👩‍👩‍👧"
LEAVING = {"q", "ctrl+c", "ctrl+q"}
NAMED = [
    "enter", "escape", "tab", "shift+tab", "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "space",
    "backspace", "slash", "colon", "question_mark", "left_square_bracket", "right_square_bracket", "plus", "minus",
    "ctrl+p", "ctrl+b", "ctrl+f", "ctrl+t",
]  # fmt: skip
LETTERS = [letter for letter in "abcdefghijklmnoprstuvwxyzCDEFGKLNOPRSTUVW0123456789" if letter not in LEAVING]
SIZES = ((80, 24), (120, 40), (200, 60), (40, 10))


async def anything_else(driver: Driver, dice: random.Random) -> None:
    """A click, another size, or a paste."""
    app, kind = driver.app, dice.choice(("click", "size", "paste"))
    if kind == "click":
        width, height = app.size
        await driver.pilot.click(offset=(dice.randrange(width), dice.randrange(height)), times=dice.choice((1, 2)))
    elif kind == "size":
        await driver.pilot.resize_terminal(dice.randint(1, 250), dice.randint(1, 80))
    else:
        (app.focused or app.screen).post_message(events.Paste(PASTED))
        await driver.pilot.pause()


@pytest.mark.parametrize("seed", range(int(os.environ.get("KTUI_RANDOM_SEEDS", "1"))))
async def test_any_keys_in_any_order(show: Show, seed: int) -> None:
    dice = random.Random(seed)
    async with show() as driver:
        app = driver.app
        await app._kubectl(("apply", "-f", str(WEB)), io.StringIO(), io.StringIO())
        for number in range(KEYS):
            if OTHER_SHARE and dice.random() < OTHER_SHARE:
                await anything_else(driver, dice)
            await driver.press(dice.choice(NAMED if dice.random() < 0.5 else LETTERS))
            if number % 50 == 49:
                await driver.pilot.resize_terminal(*dice.choice(SIZES))
        await driver.pilot.resize_terminal(120, 40)
        for _ in range(20):
            await driver.press("escape")
        assert app.screen is app.window
        await driver.press("1")
        await driver.sees("client", "nodes")
