"""The ConfigMap that says since when the use of tokens in Secrets is noted (upstream's controller_test.go)."""

from __future__ import annotations

import pytest

from engine.api.types import CONFIGMAPS, Object
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN

NAME = "kube-apiserver-legacy-service-account-token-tracking"


async def found(client: Client) -> Object | None:
    """None where it is not there."""
    there = (await client.list(CONFIGMAPS, namespace="kube-system")).items
    return next((each for each in there if each["metadata"]["name"] == NAME), None)


async def test_a_cluster_says_since_when(client: Client, virtual_clock: VirtualClock) -> None:
    today = f"{virtual_clock.now():%Y-%m-%d}"
    made = await found(client)
    assert made is not None
    assert made["data"] == {"since": today}
    assert [each["manager"] for each in made["metadata"]["managedFields"]] == ["kube-apiserver"]


async def test_it_is_made_once_in_half_an_hour(client: Client, server: ApiServer, virtual_clock: VirtualClock) -> None:
    await client.delete(CONFIGMAPS, NAME, namespace="kube-system")
    await virtual_clock.sleep(29 * 60)
    assert await found(client) is None
    await virtual_clock.sleep(61)
    assert await found(client)

    await virtual_clock.sleep(31 * 60)
    await client.delete(CONFIGMAPS, NAME, namespace="kube-system")
    await virtual_clock.sleep(1)
    assert await found(client)

    # A server that starts again has made none yet.
    await server.stop()
    await server.start()
    await client.delete(CONFIGMAPS, NAME, namespace="kube-system")
    await virtual_clock.sleep(1)
    assert await found(client)


async def test_a_date_that_is_none_is_replaced(client: Client, virtual_clock: VirtualClock) -> None:
    today = f"{virtual_clock.now():%Y-%m-%d}"
    for data, wanted in (
        ({"since": "2020-12-01"}, {"since": "2020-12-01"}),
        ({"since": "2999-12-01", "a": "b"}, {"since": "2999-12-01", "a": "b"}),
        ({"since": "2020/12/01"}, {"since": today}),
        ({"since": "20201201"}, {"since": today}),
        ({"since": "2023-02-29", "a": "b"}, {"since": today, "a": "b"}),
        ({"since": ""}, {"since": today}),
        ({"a": "b"}, {"since": today, "a": "b"}),
        ({}, {"since": today}),
    ):
        current = await found(client)
        assert current is not None
        await client.update(CONFIGMAPS, {**current, "data": data})
        await virtual_clock.sleep(1)
        mended = await found(client)
        assert mended is not None
        assert mended["data"] == wanted, data


@pytest.mark.parametrize(("version", "tracks"), [("1.26", False), ("1.27", True)])
async def test_releases_before_it_track_nothing(world: World, store: SqliteStore, version: str, tracks: bool) -> None:
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version=version))
    await server.start()
    await world.clock.sleep(1)
    made = await found(Client(InProcessTransport(server, ADMIN), user_agent="kubectl"))
    assert (made is not None) is tracks
    await server.stop()
