"""Any keys in any order: no exception, no screen that cannot be left.

`KTUI_RANDOM_KEYS=20000 pytest tests/ktui/screens/test_random_keys.py` presses more of them.
"""

from __future__ import annotations

import io
import os
import random

import pytest

from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import WEB

KEYS = int(os.environ.get("KTUI_RANDOM_KEYS", "120"))
LEAVING = {"q", "ctrl+c", "ctrl+q"}
NAMED = [
    "enter", "escape", "tab", "shift+tab", "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "space",
    "backspace", "slash", "colon", "question_mark", "left_square_bracket", "right_square_bracket", "plus", "minus",
    "ctrl+p", "ctrl+b", "ctrl+f", "ctrl+t",
]  # fmt: skip
LETTERS = [letter for letter in "abcdefghijklmnoprstuvwxyzCDEFGKLNOPRSTUVW0123456789" if letter not in LEAVING]
SIZES = ((80, 24), (120, 40), (200, 60), (40, 10))


@pytest.mark.parametrize("seed", range(int(os.environ.get("KTUI_RANDOM_SEEDS", "1"))))
async def test_any_keys_in_any_order(show: Show, seed: int) -> None:
    dice = random.Random(seed)
    async with show() as driver:
        app = driver.app
        await app._kubectl(("apply", "-f", str(WEB)), io.StringIO(), io.StringIO())
        for number in range(KEYS):
            await driver.pilot.press(dice.choice(NAMED if dice.random() < 0.5 else LETTERS))
            if number % 50 == 49:
                await driver.pilot.resize_terminal(*dice.choice(SIZES))
        await driver.pilot.resize_terminal(120, 40)
        for _ in range(20):
            await driver.press("escape")
        assert app.screen is app.window
        await driver.press("1")
        await driver.sees("client", "nodes")
