"""The Watches screen on a real cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from engine.api.types import GVR
from engine.clock import Clock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from ktui.screens.watches import WatchesScreen
from ktui.widgets.detail_pane import DetailPane, LinkLine
from tests.ktui.screens.conftest import Show

CONFIG_MAPS = GVR("", "v1", "configmaps")
RING = 5


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """With a ring for ConfigMaps that is soon full."""
    config = ClusterConfig(seed=1, watch_cache_sizes={"configmaps": RING})
    async with Cluster(config, clock=Clock(speed=4)) as cluster:
        yield cluster


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


async def test_a_watch_from_before_the_ring_is_seen_to_get_410(show: Show, cluster: Cluster) -> None:
    async with show(size=(200, 60)) as driver:
        client = cluster.client(user_agent="kubectl/v1.37.1")
        made = await client.create(CONFIG_MAPS, {"metadata": {"name": "x"}}, namespace="default")
        before = made["metadata"]["resourceVersion"]
        await driver.press("4")
        await driver.sees("410s 0")
        for number in range(RING + 1):
            made = await client.update(CONFIG_MAPS, {**made, "data": {"n": str(number)}})
        async with await client.watch(CONFIG_MAPS, resource_version=before) as stream:
            event = await anext(aiter(stream))
        assert (event.type, event.object["code"]) == ("ERROR", 410)
        await driver.sees("410s 1", "configmaps: 1 began before the ring: 410 Expired, list again")


async def test_a_stream_leads_to_its_client_and_backspace_returns(show: Show) -> None:
    async with show(size=(160, 50)) as driver:
        await driver.press("4", "slash")
        await driver.type("kubelet node-2")
        await driver.press("enter")
        await driver.sees("→ client nodes/node-2", "→ all ")
        driver.find(DetailPane).query(LinkLine).first().focus()
        await driver.press("enter")
        await driver.sees("kind: Node", "name: node-2")
        await driver.press("backspace")
        await driver.shows(WatchesScreen)
