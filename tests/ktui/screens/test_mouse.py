"""The mouse does what keys do: tabs, the clock, titles, rows, links, and a wheel that looks back."""

from __future__ import annotations

import io

from textual import events

from ktui.widgets.flow_canvas import FlowCanvas
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import WEB, Driver


async def click(driver: Driver, text: str) -> None:
    """On the first place where that stands."""
    await driver.sees(text)
    row, line = next((row, line) for row, line in enumerate(driver.picture.splitlines()) if text in line)
    await driver.pilot.click(offset=(line.index(text), row))


async def test_all_that_is_named_can_be_clicked(show: Show) -> None:
    async with show(size=(120, 40)) as driver:
        app = driver.app
        await app._kubectl(("apply", "-f", str(WEB)), io.StringIO(), io.StringIO())
        await driver.until(lambda: app.summary.pods.get("ready") == 3)
        await click(driver, "2 Objects")
        await driver.until(lambda: app.shown.mode == "objects")
        for title in ("NAME ", "NAME↑"):
            await click(driver, title)
        await driver.sees("NAME↓")
        pane = app.shown.pane
        assert pane is not None
        assert pane.grid.rows[0].key == max(row.key for row in pane.grid.rows)
        pane.grid.move_to(pane.grid.rows[0].key)
        await click(driver, "web-")  # the row under the cursor
        await driver.sees("kind: Pod")
        await click(driver, "→ owner replicasets")
        await driver.sees("kind: ReplicaSet")
        await click(driver, "▶ ")
        await driver.sees("⏸ paused")


async def test_the_wheel_looks_back_and_follows_again_at_the_end(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        canvas = driver.find(FlowCanvas)
        await driver.until(lambda: canvas.max_scroll_y > 5)
        canvas.post_message(events.MouseScrollUp(canvas, 5, 5, 0, 0, 0, False, False, False))
        await driver.until(lambda: not canvas.following and canvas.scroll_offset.y < canvas.max_scroll_y)
        await driver.sees("stopped,")

        def follows() -> bool:
            """Or the wheel is turned on: rows may come faster than it goes down."""
            if not canvas.following:
                canvas.post_message(events.MouseScrollDown(canvas, 5, 5, 0, 0, 0, False, False, False))
            return canvas.following

        await driver.until(follows)


async def test_a_wheel_that_turns_while_the_app_ends_breaks_nothing(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        canvas = driver.find(FlowCanvas)
    assert not driver.app.screen_stack
    await driver.app.on_event(events.MouseScrollDown(canvas, 5, 5, 0, 0, 0, False, False, False))
