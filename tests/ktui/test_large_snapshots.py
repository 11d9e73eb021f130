"""Pictures of Objects with ten thousand Pods, and of tables that nothing can be shown in.

After a change that is meant: `pytest tests/ktui/test_large_snapshots.py --snapshot-update`, and look at what changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.api.errors import ApiError, forbidden
from engine.api.types import PODS
from ktui.models.trouble import words
from ktui.screens.objects import ObjectsScreen
from tests.ktui.many import pods
from tests.ktui.still import SUMMARY, StillApp, settle

Compare = Callable[..., bool]
SIZES = [pytest.param(size, id=f"{size[0]}x{size[1]}") for size in ((80, 24), (120, 40), (200, 60))]
LARGE = replace(
    SUMMARY, revision=96_312, nodes=1_000, nodes_ready=1_000, pods={"ready": 7_003, "waiting": 1_998, "failed": 999}
)
FORBIDDEN = 'User "jane" cannot list resource "pods" in API group "" at the cluster scope'
TROUBLES = [
    pytest.param(ConnectionError("refused"), id="no connection"),
    pytest.param(forbidden(PODS, "", FORBIDDEN), id="forbidden"),
]


@pytest.mark.parametrize("size", SIZES)
def test_ten_thousand_pods(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def many(pilot: Pilot[Any]) -> None:
        driver = await settle(pilot, summary=LARGE)
        await driver.press("2")
        screen = driver.app.shown
        assert isinstance(screen, ObjectsScreen)
        await driver.sees("Running")
        screen.workers.cancel_node(screen)
        screen.table.replace(pods())
        driver.app.summary.now = datetime(2026, 1, 1, 0, 15, tzinfo=UTC)
        screen._is_dirty = True
        await driver.sees("web-0-7d8d2f4c0-00000")
        await driver.press("end")
        await driver.sees("web-9-7d8d2f4c9-09999")

    assert snap_compare(StillApp(), terminal_size=size, run_before=many)


@pytest.mark.parametrize("error", TROUBLES)
def test_why_there_is_nothing(snap_compare: Compare, error: ApiError | ConnectionError) -> None:
    async def nothing(pilot: Pilot[Any]) -> None:
        driver = await settle(pilot)
        await driver.press("2")
        screen = driver.app.shown
        assert isinstance(screen, ObjectsScreen)
        await driver.sees("Running")
        screen.workers.cancel_node(screen)
        screen.table.begin()
        screen.table.end()
        screen.objects.problem = words(error)
        screen._is_dirty = True
        await driver.sees("✖", words(error)[:30])

    assert snap_compare(StillApp(), terminal_size=(120, 40), run_before=nothing)


def test_there_is_no_picture_too_many() -> None:
    folder = Path(__file__).parent / "__snapshots__" / "test_large_snapshots"
    assert len(list(folder.iterdir())) == len(SIZES) + len(TROUBLES)
