"""The step of the clock: `PUT /debug/ktui/clock` goes on to the next traced hop, in-process."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR
from engine.client import Client
from engine.clock import Clock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from engine.tasks import Supervisor

CONFIG_MAPS = GVR("", "v1", "configmaps")
PATH = "/debug/ktui/clock"
OWN = ("servicecidr", "ipaddress")  # what the API server writes for itself


async def step(client: Client, *over: str) -> Any:
    return await client.request("PUT", PATH, body={"action": "step", "over": list(over)})


@pytest.mark.parametrize("profile", ["realistic", "instant"])
async def test_each_step_of_an_apply_ends_at_the_next_hop(profile: str) -> None:
    async with Cluster(ClusterConfig(seed=1, profile=profile, components=frozenset()), clock=Clock()) as cluster:
        client, clock = cluster.client(user_agent="kubectl/v1.37.1"), cluster.world.clock
        await client.request("PUT", PATH, body={"action": "pause"})
        tasks = Supervisor("test")
        tasks.spawn(client.create(CONFIG_MAPS, {"metadata": {"name": "mine"}}, namespace="default"), name="create")
        hops: list[int] = []
        while 7 not in hops:
            before = clock.monotonic()
            answer = await step(client, "get", "list", "lease", "event", "service", "endpointslice", "endpoints", *OWN)
            assert answer["mode"] == "paused"
            assert answer["hop"] is not None, hops
            assert answer["monotonic"] >= before
            hops.append(answer["hop"]["hop"])
        assert hops == [2, 3, 4, 5, 6, 7]
        await tasks.close()


async def test_what_is_passed_over_is_no_hop_and_a_clock_without_any_says_so() -> None:
    async with Cluster(ClusterConfig(seed=1, components=frozenset()), clock=Clock()) as cluster:
        client = cluster.client(user_agent="kubectl/v1.37.1")
        answer = await step(client, "get", "list", "lease", "event", "service", "endpointslice", "endpoints", *OWN)
        assert answer["hop"] is None
        with pytest.raises(ApiError, match="over must be a list"):
            await client.request("PUT", PATH, body={"action": "step", "over": "lease"})


async def test_a_pause_stops_writes_where_no_step_takes_time_and_reads_go_on() -> None:
    async with Cluster(ClusterConfig(seed=1, profile="instant", components=frozenset()), clock=Clock()) as cluster:
        client, tasks = cluster.client(user_agent="kubectl/v1.37.1"), Supervisor("test")
        await client.request("PUT", PATH, body={"action": "pause"})
        write = client.create(CONFIG_MAPS, {"metadata": {"name": "mine"}}, namespace="default")
        created = tasks.spawn(write, name="create")
        for _ in range(20):
            found = await cluster.client(user_agent="ktui").request("GET", "/debug/ktui/clock")
            assert found["mode"] == "paused"
        assert not created.done()
        await client.request("PUT", PATH, body={"action": "resume"})
        await created
        await tasks.close()
