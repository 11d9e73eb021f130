"""`wait` for several objects: one time for all of them together (kubectl pkg/cmd/wait, RunWait)."""

from __future__ import annotations

from engine.api.types import CONFIGMAPS
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.kubectl.oracle import ours
from tests.kubectl.served import ADMIN

NAMES = ("a", "b", "c")


async def test_the_objects_share_the_time(virtual_clock: VirtualClock) -> None:
    world = World.create(clock=virtual_clock, seed=7)
    store = await SqliteStore.open(None, clock=world.clock, rng=world.rng.stream("store"))
    server = ApiServer(world, store)
    await server.start()
    try:
        client = Client(InProcessTransport(server, ADMIN), user_agent="kubectl/test")
        for name in NAMES:
            data = {"found": "yes"} if name == "c" else {}
            made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
            await client.create(CONFIGMAPS, made, namespace="default")
        began = virtual_clock.monotonic()
        argv = "wait configmaps a b c --for=jsonpath={.data.found}=yes --timeout=10s"
        printed = await ours(argv, client=client, clock=virtual_clock)
        assert virtual_clock.monotonic() < began + 11
        assert printed.stdout == "configmap/c condition met\n"
        assert printed.stderr.splitlines() == [
            f"timed out waiting for the condition on configmaps/{name}" for name in ("a", "b")
        ]
        assert printed.code == 1
    finally:
        await server.stop()
        await store.close()
