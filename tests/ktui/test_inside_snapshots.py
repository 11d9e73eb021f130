"""Pictures of the screens that look inside components, from recorded answers, at the three sizes.

After a change that is meant: `pytest tests/ktui/test_inside_snapshots.py --snapshot-update`, and look at what changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from ktui.screens.controllers import ControllersScreen
from ktui.screens.nodes import NodesScreen
from ktui.widgets.table_pane import TablePane
from tests.ktui.still import BUSY, StillApp, refresh, settle

Compare = Callable[..., bool]
State = Callable[[Pilot[Any]], Awaitable[None]]
SIZES = [pytest.param(size, id=f"{size[0]}x{size[1]}") for size in ((80, 24), (120, 40), (200, 60))]


async def scheduler(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot, summary=BUSY)
    await driver.press("6")
    refresh(driver.app)
    await driver.sees("gpu-0")
    pane = driver.find(TablePane)
    pane.grid.move_to("default/web-7b78f5cdd-8p5pb")
    await driver.sees("672 points")


async def nodes(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot, summary=BUSY)
    await driver.press("7")
    refresh(driver.app)
    screen = driver.shown
    assert isinstance(screen, NodesScreen)
    await driver.sees("node-3")
    screen.nodes.grid.move_to("node-2")
    await driver.sees("Pod workers of node-2", "urgent-0", "node-2  zone-b")


async def watches(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot, summary=BUSY)
    await driver.press("4")
    await driver.sees("Streams  97")  # columns stay as wide as what was once in them
    await driver.press("slash")
    await driver.type("pods")
    await driver.press("enter")
    refresh(driver.app)
    await driver.sees("watches pods", "▲")


async def controllers(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot, summary=BUSY)
    await driver.press("5")
    refresh(driver.app)
    screen = driver.shown
    assert isinstance(screen, ControllersScreen)
    await driver.sees("deployment")
    screen.all.grid.move_to("deployment-controller")
    await driver.sees("Reconciles of deployment-controller", "5 workers")


async def tree(pilot: Pilot[Any]) -> None:
    driver = await settle(pilot, summary=BUSY)
    await driver.press("9")
    refresh(driver.app)
    await driver.sees("web-7b78f5cdd", "CrashLoopBackOff")
    tree = driver.find(TablePane)
    tree.grid.move_to(next(row.key for row in tree.grid.rows if "pod/crash" in row.cells[0]))
    await driver.sees("pods in default", "conditions")


STATES = [pytest.param(state, id=state.__name__) for state in (scheduler, nodes, watches, controllers, tree)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("state", STATES)
def test_screens(snap_compare: Compare, state: State, size: tuple[int, int]) -> None:
    assert snap_compare(StillApp(), terminal_size=size, run_before=state)


def test_there_is_no_picture_too_many() -> None:
    folder = Path(__file__).parent / "__snapshots__" / "test_inside_snapshots"
    assert len(list(folder.iterdir())) == len(SIZES) * len(STATES)
