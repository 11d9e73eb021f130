"""Pictures of the Dashboard, and of Flow while the engine is away.

After a change that is meant: `pytest tests/ktui/test_trouble_snapshots.py --snapshot-update`, and look at what changed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import sin
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from ktui.feeds.summary import LOST
from ktui.models.dashboard import FIGURES, KEPT, DashboardModel
from ktui.screens.dashboard import DashboardScreen
from ktui.widgets.table_pane import TablePane
from tests.ktui.still import StillApp, refresh, settle

TROUBLES = ("pods failing", "streams cut off", "keys to retry", "reconcile errors")
Compare = Callable[..., bool]
SIZES = [pytest.param(size, id=f"{size[0]}x{size[1]}") for size in ((80, 24), (120, 40), (200, 60))]


def figures(model: DashboardModel) -> None:
    """A minute of every figure, each with a shape of its own; nothing fails but three Pods, for a while."""
    for number, (name, (unit, _)) in enumerate(FIGURES.items(), start=1):
        most, digits = number + 2, 0 if unit in ("", " KiB") else 1
        shape = [round(most * (1 + sin(at / (3 + number))), digits) for at in range(60)]
        if name in TROUBLES:
            shape = [3 if name == "pods failing" and 20 <= at < 40 else 0 for at in range(60)]
        if name == "nodes ready":
            shape = [3] * 60
        model.series[name] = deque(shape, maxlen=KEPT)


@pytest.mark.parametrize("size", SIZES)
def test_dashboard(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def dashboard(pilot: Pilot[Any]) -> None:
        driver = await settle(pilot)
        await driver.press("8")
        screen = driver.app.shown
        assert isinstance(screen, DashboardScreen)
        figures(driver.app.figures)
        screen.mark(at_once=True)
        await driver.sees("pods ready", "the top is")
        driver.find(TablePane).grid.move_to("request p99")
        await driver.sees("all but one in a hundred")

    assert snap_compare(StillApp(), terminal_size=size, run_before=dashboard)


def test_flow_while_the_connection_is_lost(snap_compare: Compare) -> None:
    async def lost(pilot: Pilot[Any]) -> None:
        driver = await settle(pilot)
        driver.app.summary.state = LOST
        refresh(driver.app)
        await driver.sees("✖ lost the connection", "⑫●")

    assert snap_compare(StillApp(), terminal_size=(120, 40), run_before=lost)


def test_there_is_no_picture_too_many() -> None:
    folder = Path(__file__).parent / "__snapshots__" / "test_trouble_snapshots"
    assert len(list(folder.iterdir())) == len(SIZES) + 1
