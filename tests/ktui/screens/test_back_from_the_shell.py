"""Ctrl-Z and `fg`: the terminal was the shell's meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import RenderableType
from textual.driver import Driver
from textual.screen import Screen
from textual.widgets import TextArea

from engine.api.types import GVR
from ktui.app import KtuiApp
from ktui.screens.editor import Editor
from tests.ktui.screens.conftest import Show

CONFIG_MAPS = GVR("", "v1", "configmaps")


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


async def test_the_key_is_taken_whatever_is_asked_or_shown(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who pressed it types `fg` next: that would be an answer, to delete in the foreground."""
    left: list[str] = []
    monkeypatch.setattr(KtuiApp, "action_suspend_process", lambda app: left.append(type(app.screen).__name__))
    async with show(size=(120, 40)) as driver:
        await driver.client.create(CONFIG_MAPS, {"metadata": {"name": "mine"}}, namespace="default")
        await driver.command("cm default")
        await driver.sees("mine")
        for keys in ("ctrl+d", "n", "question_mark", "ctrl+p", "e"):
            await driver.press(keys)
            await driver.until(lambda: driver.app.screen is not driver.app.window)
            await driver.press("ctrl+z", "escape")
            await driver.until(lambda: driver.app.screen is driver.app.window)
        for line in ("get ns", "tour"):
            await driver.command(line)
            await driver.until(lambda: driver.app.screen is not driver.app.window)
            await driver.press("ctrl+z", "escape")
            await driver.until(lambda: driver.app.screen is driver.app.window)
        await driver.press("colon", "ctrl+z", "escape")
        await driver.pilot.resize_terminal(60, 20)
        await driver.sees("This terminal is 60×20")
        await driver.press("ctrl+z")
    assert left == [
        "Question",
        "Choice",
        "Help",
        "CommandPalette",
        "Editor",
        "Output",
        "TourGuide",
        "Window",
        "TooSmall",
    ]


async def test_a_text_that_was_changed_has_the_key_for_its_changes(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[str] = []
    monkeypatch.setattr(KtuiApp, "action_suspend_process", lambda app: left.append(type(app.screen).__name__))
    async with show(size=(120, 40)) as driver:
        await driver.client.create(CONFIG_MAPS, {"metadata": {"name": "mine"}}, namespace="default")
        await driver.command("edit cm/mine")
        await driver.until(lambda: isinstance(driver.app.screen, Editor))
        area = driver.find(TextArea)
        before = area.text
        await driver.type("x")
        assert area.text != before
        await driver.press("ctrl+z")
        assert (area.text, left) == (before, [])
        await driver.press("ctrl+z")
        assert left == ["Editor"]


async def test_where_there_is_no_shell_the_key_says_so(show: Show) -> None:
    async with show(size=(120, 40)) as driver:
        await driver.press("question_mark", "ctrl+z")
        await driver.sees("runs in no terminal of a shell")
