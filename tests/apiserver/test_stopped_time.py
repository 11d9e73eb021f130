"""Looking around while the model's time is stopped: reads are answered, whatever latencies are simulated."""

from __future__ import annotations

import asyncio

import pytest

from engine.api.types import CONFIGMAPS
from engine.api.wire import Request, Response
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import Clock
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN, config_map

LATENCIES = {"authentication": (1.0, 1.0), "authorization": (1.0, 1.0)}
HANGS_SECONDS = 10


@pytest.mark.parametrize("path", ["configmaps/a", "configmaps", "configmaps?limit=1"])
async def test_a_read_is_answered(path: str) -> None:
    clock = Clock()
    world = World.create(clock=clock, latencies=LATENCIES)
    store = await SqliteStore.open(None, clock=clock)
    server = ApiServer(world, store)
    await server.start()
    try:
        await Client(InProcessTransport(server, ADMIN), user_agent="test").create(
            CONFIGMAPS, config_map("a"), namespace="default"
        )
        clock.pause()
        async with asyncio.timeout(HANGS_SECONDS):
            answer = await _read(server, path)
        assert answer.status == 200
        found = answer.body.get("items", [answer.body])
        assert [each["metadata"]["name"] for each in found] == ["a"]
    finally:
        clock.resume()
        await server.stop()
        await store.close()


async def _read(server: ApiServer, path: str) -> Response:
    name, _, query = path.partition("?")
    parameters = {"limit": ["1"]} if query else {}
    return await server.handle(Request("GET", f"/api/v1/namespaces/default/{name}", parameters, certificate=ADMIN))
