"""The objects that a cluster is born with."""

from __future__ import annotations

from engine.api.types import NAMESPACES
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import Clock
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN


async def test_all_are_made_in_one_moment_however_long_it_takes() -> None:
    """Else their order by age were one of chance. Here a millisecond takes a second."""
    world = World.create(clock=Clock(speed=1000), seed=1)
    store = await SqliteStore.open(None, clock=world.clock)
    server = ApiServer(world, store)
    await server.start()
    try:
        found = await Client(InProcessTransport(server, ADMIN), user_agent="test").list(NAMESPACES)
    finally:
        await server.stop()
        await store.close()
    assert len(found.items) == 4
    assert len({namespace["metadata"]["creationTimestamp"] for namespace in found.items}) == 1
