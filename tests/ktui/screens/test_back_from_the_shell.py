"""Ctrl-Z and `fg`: the terminal was the shell's meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import RenderableType
from textual.driver import Driver
from textual.screen import Screen

from ktui.app import KtuiApp
from tests.ktui.screens.conftest import Show


async def test_the_whole_picture_is_drawn_again(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    display = KtuiApp._display

    def record(app: KtuiApp, screen: Screen[Any], renderable: RenderableType | None) -> None:
        if renderable is not None:
            drawn.append("".join(segment.text for segment in app.console.render(renderable)))
        display(app, screen, renderable)

    async with show(size=(120, 40)) as driver:
        await driver.press("5")
        await driver.sees("deployment", "Reconciles of")
        await driver.settle()
        monkeypatch.setattr(KtuiApp, "_display", record)
        driver.app.post_message(Driver.SignalResume())
        whole = ("5 Controllers", "CONTROLLER", "Reconciles of", "Next pane", "Leave")
        await driver.until(lambda: any(all(text in picture for text in whole) for picture in drawn))
