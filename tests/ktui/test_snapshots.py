"""Pictures of each screen in its main states; each theme at one size.

After a change that is meant: `pytest tests/ktui/test_snapshots.py --snapshot-update`, and look at what changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Group
from textual.pilot import Pilot
from textual.widgets import Input

from engine.api.types import PODS
from ktui.app import KtuiApp
from ktui.screens.editor import CONFLICT, Editor
from ktui.screens.store import StoreScreen
from ktui.themes import load_themes
from ktui.widgets import hop_details
from ktui.widgets.flow_canvas import FlowCanvas
from ktui.widgets.grid import Grid
from ktui.widgets.ink import inks
from tests.ktui.screens.driver import Driver
from tests.ktui.still import StillApp, refresh, settle

Compare = Callable[..., bool]
State = Callable[[Pilot[Any]], Awaitable[None]]
SIZES = [pytest.param(size, id=f"{size[0]}x{size[1]}") for size in ((80, 24), (120, 40), (200, 60))]


@pytest.fixture
def compare(snap_compare: Compare) -> Callable[[State, tuple[int, int]], bool]:
    return lambda state, size: snap_compare(StillApp(), terminal_size=size, run_before=state)


async def flow_live(pilot: Pilot[Any]) -> None:
    await settle(pilot)


async def flow_pinned(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot)
    await driver.press("p", "g", "down")
    await driver.sees("pinned", "x509")


async def flow_inspected(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot)
    await driver.press("p")
    canvas = driver.find(FlowCanvas)
    await driver.until(lambda: canvas.model.rows)
    canvas.move_to(next(row for row in canvas.model.rows if row.label == "POST pods"))
    await driver.press("enter")
    await driver.sees("pinned", "authentication", "authorization")


async def flow_with_everything(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot)
    await driver.press("r", "e", "h", "i", "C")
    await driver.misses("hidden:")


async def flow_empty(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot, spans=False)
    driver.app.flow.is_told = True
    driver.app.flow.add([])
    await driver.sees("Nothing has happened yet", "no write of a client is seen", "hidden:")


async def starting(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot, spans=False)
    driver.app.summary.state, driver.app.summary.is_starting = "starting the engine …", True
    refresh(driver.app)
    await driver.sees("starting the engine", "asking the engine", "hidden:")
    driver.app.summary.state, driver.app.summary.is_starting = "", False


async def pods(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot)
    await driver.press("2")
    refresh(driver.app)
    await driver.sees("web-", "Running", "12s")


async def pod_yaml(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot)
    await driver.press("2")
    refresh(driver.app)
    await driver.sees("Running")
    await driver.press("y")
    await driver.sees("kind: Pod")


async def deleting(pilot: Pilot[Any]) -> None:
    await pods(pilot)
    await pilot.press("ctrl+d")
    await pilot.pause()


async def editing_after_a_conflict(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default"}, "spec": {"a": 1}}
    editor = Editor(driver.client, PODS, pod)
    await driver.app.push_screen(editor)
    editor._say(f"✖ 409 Conflict: the object has been modified\n{CONFLICT}")
    theirs = hop_details.changes(pod, {**pod, "spec": {"a": 2}}, inks(driver.app))
    editor._say_changes("what was changed meanwhile", Group(*theirs))
    await driver.sees("Ctrl+R takes")


async def keys(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot)
    await driver.press("3")
    screen = driver.shown
    assert isinstance(screen, StoreScreen)
    await driver.until(lambda: screen.revisions.grid.rows)
    await driver.press("slash")
    await driver.type("/pods/")
    await driver.press("enter")
    refresh(driver.app)
    await driver.sees("3 keys")
    grid = driver.find(Grid, "#keys")
    grid.move_to(grid.rows[1].key)
    await driver.sees("against rev")


async def revisions(pilot: Pilot[Any]) -> None:
    await keys(pilot)
    assert isinstance(pilot.app, KtuiApp)
    driver = Driver(pilot.app, pilot)
    await driver.press("l", "down", "down")
    await driver.sees("held at rev", "compare-and-swap")


async def split(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot)
    await driver.press("p", "vertical_line")
    refresh(driver.app)
    await driver.sees("▶ 2 Objects", "pinned", "Running", "12s")
    if pilot.app.size.width >= 200:  # told once it is known that there is room
        await driver.sees("hidden: r reads")


async def command_line(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot)
    await driver.press("colon")
    driver.find(Input, "#command").cursor_blink = False
    await driver.sees("apply -f samples/web.yaml")


async def asking(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot)
    driver.app.session.stop_engine = lambda: None
    await driver.press("q")
    await driver.sees("What becomes of cluster default?")


async def help(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot)
    await driver.press("question_mark")
    await driver.sees("Esc closes")


STATES = [
    pytest.param(state, id=state.__name__)
    for state in (flow_live, flow_pinned, flow_inspected, pods, pod_yaml, keys, help)
]
SINGLE = [
    pytest.param(state, id=state.__name__)
    for state in (
        flow_with_everything,
        flow_empty,
        starting,
        deleting,
        editing_after_a_conflict,
        command_line,
        asking,
    )
]
AT_A_SIZE = [
    pytest.param(revisions, (80, 24), id="revisions-80x24"),
    pytest.param(split, (120, 40), id="split-120x40"),
    pytest.param(split, (200, 60), id="split-200x60"),
]
THEMES = sorted(theme.name for theme in load_themes())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("state", STATES)
def test_screens(compare: Callable[[State, tuple[int, int]], bool], state: State, size: tuple[int, int]) -> None:
    assert compare(state, size)


@pytest.mark.parametrize("state", SINGLE)
def test_states(compare: Callable[[State, tuple[int, int]], bool], state: State) -> None:
    assert compare(state, (120, 40))


@pytest.mark.parametrize(("state", "size"), AT_A_SIZE)
def test_states_at_a_size(
    compare: Callable[[State, tuple[int, int]], bool], state: State, size: tuple[int, int]
) -> None:
    assert compare(state, size)


def test_a_terminal_that_is_too_small(compare: Callable[[State, tuple[int, int]], bool]) -> None:
    async def nothing(pilot: Pilot[Any]) -> None:
        await pilot.pause()

    assert compare(nothing, (60, 16))


@pytest.mark.parametrize("theme", THEMES)
def test_themes(compare: Callable[[State, tuple[int, int]], bool], theme: str) -> None:
    async def in_theme(pilot: Pilot[Any]) -> None:
        assert isinstance(pilot.app, KtuiApp)
        pilot.app.theme = theme
        await flow_pinned(pilot)

    assert compare(in_theme, (120, 40))


def test_there_is_no_picture_too_many() -> None:
    """A picture whose test has gone would never be compared again."""
    folder = Path(__file__).parent / "__snapshots__" / "test_snapshots"
    expected = len(SIZES) * len(STATES) + len(SINGLE) + len(AT_A_SIZE) + 1 + len(THEMES)
    assert len(list(folder.iterdir())) == expected
