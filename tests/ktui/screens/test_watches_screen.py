"""The Watches screen on a real cluster."""

from __future__ import annotations

import pytest

from tests.ktui.screens.conftest import Show


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_streams_their_ring_and_the_informer_behind(show: Show, size: tuple[int, int]) -> None:
    async with show(size=size) as driver:
        await driver.press("4")
        await driver.sees("streams", "ring", "▕", "▲", "✓ in step", "selector", "cut off")
        await driver.press("slash")
        await driver.type("kube-scheduler")
        await driver.press("enter")
        await driver.sees("kube-scheduler watches")
        await driver.press("escape")
        await driver.misses("/kube-scheduler")
