"""The Dashboard on a real cluster."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.client import Client
from engine.clock import Clock
from engine.cluster import Cluster
from engine.world import World
from ktui.app import KtuiApp
from ktui.feeds import dashboard as feed
from ktui.models.dashboard import UNSEEN_SECONDS
from ktui.screens.controllers import ControllersScreen
from ktui.session import Session
from ktui.widgets.table_pane import TablePane
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import Driver


async def test_figures_their_plot_and_where_they_come_from(show: Show) -> None:
    async with show(size=(120, 40)) as driver:
        await driver.press("8")
        await driver.sees("pods ready", "nodes ready", "streams", "the top is", "now ")
        await driver.sees("revisions", "/s")
        driver.find(TablePane).grid.move_to("reconciles")
        await driver.sees("keys that controllers worked off")
        await driver.press("enter")
        await driver.shows(ControllersScreen)


async def test_it_shows_the_time_before_it_was_opened(cluster: Cluster) -> None:
    client = cluster.client(user_agent="ktui")
    app = KtuiApp(Session(name="default", client=client, world=World.create(clock=Clock(speed=10))))
    async with app.run_test(size=(120, 40)) as pilot:
        driver = Driver(app, pilot)
        await driver.until(lambda: len(app.figures.series.get("nodes ready", ())) > 2 * UNSEEN_SECONDS)
        before = list(app.figures.series["nodes ready"])
        await driver.press("8")
        await driver.sees("pods ready", "the top is")
        assert list(app.figures.series["nodes ready"])[: len(before)] == before


async def test_figures_that_are_long_in_coming_are_said_to_be(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = cluster.client(user_agent="ktui")
    app = KtuiApp(Session(name="default", client=client, world=World.create(clock=Clock(speed=10))))
    async with app.run_test(size=(120, 40)) as pilot:
        driver = Driver(app, pilot)
        await driver.press("8")
        await driver.sees("pods ready", "the top is")
        answer, goes_on = feed.sample, asyncio.Event()

        async def sample(client: Client, clock: Clock) -> Any:
            await goes_on.wait()
            return await answer(client, clock)

        monkeypatch.setattr(feed, "sample", sample)
        await driver.sees(" s ago, no answer yet")
        goes_on.set()
        await driver.misses("no answer yet")
