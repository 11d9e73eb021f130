"""What a terminal, a person and a broken widget can do to the screen without ending it."""

from __future__ import annotations

import pytest
from textual import events
from textual.widgets import Input, TextArea

from engine.api.types import GVR, NODES
from ktui.app import KtuiApp
from ktui.models.summary import ClusterSummary
from ktui.screens.editor import Editor
from ktui.screens.flow import FlowScreen
from ktui.screens.output import Output
from ktui.session import Session
from ktui.widgets.cluster_bar import ClusterBar
from ktui.widgets.detail_pane import DetailPane
from ktui.widgets.flow_canvas import FlowCanvas
from ktui.widgets.grid import Grid
from ktui.widgets.ink import inks
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import Driver, pressed

CONFIG_MAPS = GVR("", "v1", "configmaps")


async def test_a_paste_of_five_thousand_lines_is_saved(show: Show) -> None:
    async with show() as driver:
        await driver.client.create(CONFIG_MAPS, {"metadata": {"name": "mine"}}, namespace="default")
        await driver.command("edit cm/mine")
        await driver.until(lambda: isinstance(driver.app.screen, Editor))
        text = driver.find(TextArea)
        text.move_cursor(text.document.end)
        lines = "data:\n" + "".join(f"  key-{number}: value {number}\n" for number in range(5_000))
        driver.app.post_message(events.Paste(lines))  # as the terminal tells it: sent to the text, it would come twice
        await driver.until(lambda: "key-4999" in text.text)
        await driver.press("ctrl+s")
        await driver.until(lambda: not isinstance(driver.app.screen, Editor))
        found = await driver.client.get(CONFIG_MAPS, "mine", namespace="default")
        assert len(found["data"]) == 5_000


async def test_a_paste_into_the_command_line_stays_one_line(show: Show) -> None:
    async with show() as driver:
        await driver.press("colon")
        line = driver.find(Input, "#command")
        line.post_message(events.Paste("get pods\nget nodes\n"))
        await driver.until(lambda: line.value == "get pods")
        await driver.until(lambda: any("first of 2 pasted lines" in told.message for told in driver.app._notifications))
        line.post_message(events.Paste(" -A \\\n  -o wide\n"))
        await driver.until(lambda: line.value == "get pods -A -o wide")


async def test_a_paste_that_comes_as_keys_does_nothing_where_nothing_takes_it(show: Show) -> None:
    """The terminal knows no bracketed paste, and hands over a long text in pieces. Its first key goes up a line."""
    text = "kind: Pod\ndescribe: yes\nrestart: all\n- ? Delete | Tree | 9\n"

    def paste(piece: str, at: float) -> None:
        for offset, character in enumerate(piece):
            key = pressed({"\n": "enter"}.get(character, character))
            key.time = at + offset / 10_000
            driver.app.post_message(key)

    async with show() as driver:
        await driver.command("nodes.v1.")
        await driver.sees("node-3")
        before = driver.app.screen_stack
        paste(text, at=1_000.0)
        paste("yes", at=1_000.05)
        await driver.sees("a pasted text: nothing here takes it")
        assert driver.app.screen_stack == before
        assert driver.find(Grid).key
        assert not driver.find(DetailPane).display
        paste(":get nodes -o name\n" + text, at=2_000.0)  # a line, and what has come behind it
        await driver.sees("node/node-1")
        assert isinstance(driver.app.screen, Output)
        await driver.press("escape")
        paste("j" * 40, at=3_000.0)  # a key that is held down
        await driver.settle()
        assert driver.find(Grid).key == driver.find(Grid).rows[-1].key


async def test_a_paste_that_begins_with_an_action_of_its_screen_gets_no_further_than_the_question(show: Show) -> None:
    async with show() as driver:
        await driver.command("node")
        await driver.sees("node-3")
        for offset, character in enumerate("uncordon: yes\nyes, please, all of them\n"):
            key = pressed({"\n": "enter"}.get(character, character))
            key.time = 1_000.0 + offset / 10_000
            driver.app.post_message(key)
        await driver.sees("a pasted text: nothing here takes it", "Cordon nodes/node-1?")
        await driver.press("escape")
        node = await driver.client.get(NODES, "node-1")
        assert "unschedulable" not in node["spec"]


async def test_wide_and_combining_characters_keep_the_columns(show: Show) -> None:
    async with show() as driver:
        wide = {"metadata": {"name": "mine"}, "data": {"k": "日本語 e\u0301 👩‍👩‍👧"}}
        await driver.client.create(CONFIG_MAPS, wide, namespace="default")
        await driver.command("cm")
        await driver.until(lambda: any(row.key == "default/mine" for row in driver.find(Grid).rows))
        driver.find(Grid).move_to("default/mine")
        await driver.press("y")
        await driver.sees("日本語")


async def test_a_widget_that_fails_is_told_of_and_the_screen_stays(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = KtuiApp(session)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        driver = Driver(app, pilot)
        await driver.sees("nodes 3/3")
        monkeypatch.setattr(type(app), "is_headless", property(lambda self: False))
        app.shown.call_later(_fail)
        await driver.sees("ktui erred", "ZeroDivisionError")
        monkeypatch.undo()
        await driver.press("2", "1")
        assert isinstance(app.shown, FlowScreen)


async def test_a_summary_that_cannot_be_shown_is_told_of_and_the_next_is_shown(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = KtuiApp(session)
    show, is_broken = ClusterBar.show, True

    def show_or_fail(bar: ClusterBar, summary: ClusterSummary) -> None:
        if is_broken:
            _fail()
        show(bar, summary)

    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        driver = Driver(app, pilot)
        await driver.sees("nodes 3/3")
        with monkeypatch.context() as patched:
            patched.setattr(type(app), "is_headless", property(lambda self: False))
            patched.setattr(ClusterBar, "show", show_or_fail)
            await driver.client.patch(NODES, "node-1", {"metadata": {"labels": {"a": "b"}}})
            await driver.sees("ktui erred", "ZeroDivisionError")
            is_broken = False
            await driver.client.delete(NODES, "node-3")
            await driver.sees("nodes 2/2")


def _fail() -> None:
    raise ZeroDivisionError("a widget's own fault")


async def test_no_color_is_honoured(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = KtuiApp(session)
    async with app.run_test() as pilot:
        driver = Driver(app, pilot)
        await driver.command("no")
        await driver.sees("node-1")
        segments = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        styles = [segment.style for segment in segments if segment.style is not None]
        assert not any(style.color or style.bgcolor for style in styles)
        cursor = next(segment for segment in segments if "node-1" in segment.text)
        assert cursor.style is not None
        assert cursor.style.reverse  # what a ground made out
        shades = inks(app)
        assert {shades[name] for name in ("error", "warning", "success")} == {shades["foreground"]}


async def test_the_flow_shows_only_what_the_filter_says(show: Show) -> None:
    async with show() as driver:
        for name in ("apple", "pear"):
            await driver.client.create(CONFIG_MAPS, {"metadata": {"name": name}}, namespace="default")
        await driver.sees("cm/apple", "cm/pear")
        await driver.press("slash")
        await driver.type("pear")
        await driver.press("enter")
        await driver.misses("POST cm/apple")
        await driver.sees("cm/pear", "/pear")
        assert all("pear" in row.text for row in driver.find(FlowCanvas).model.rows)
        await driver.press("escape")
        await driver.sees("cm/apple", "cm/pear")
