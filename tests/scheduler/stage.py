"""An API server and the scheduler in one process, and a hand to act on them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from engine.api.types import EVENTS, NODES, PODS, SERVICE_ACCOUNTS, Object
from engine.api.wire import JSON_PATCH, ClientCertificate
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport, Transport
from engine.scheduler import Scheduler
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.scheduler.objects import node, pod

Over = Callable[[InProcessTransport], Transport]


class Stage:
    """An API server, the scheduler, and a client of each."""

    def __init__(
        self, world: World, api: ApiServer, store: SqliteStore, *, over: Over = lambda plain: plain, **scheduler: Any
    ) -> None:
        """The scheduler's requests go `over` another transport, if one is given."""

        self.world = world
        self.store = store
        self.admin_transport = InProcessTransport(api, ClientCertificate("kubernetes-admin", ("system:masters",)))
        self.admin = Client(self.admin_transport, user_agent="kubernetes-admin")
        name = "system:kube-scheduler"
        transport = over(InProcessTransport(api, ClientCertificate(name)))
        self.scheduler = Scheduler(Client(transport, user_agent=name), world, **scheduler)

    async def add_node(self, name: str, **fields: Any) -> None:
        """A node that is ready: without the taint that admission gives a new one."""
        await self.admin.create(NODES, node(name, **fields))
        taints = fields.get("taints") or []
        patch = [{"op": "replace", "path": "/spec/taints", "value": taints}]
        await self.admin.patch(NODES, name, patch, content_type=JSON_PATCH)

    async def add_pod(self, name: str, **fields: Any) -> Object:
        return await self.admin.create(PODS, pod(name, **fields), namespace="default")

    async def get(self, name: str) -> Object:
        return await self.admin.get(PODS, name, namespace="default")

    async def node_of(self, name: str) -> str:
        return str((await self.get(name))["spec"].get("nodeName", ""))

    async def until(self, condition: Callable[[Object], Any], name: str, *, seconds: float = 60) -> Object:
        """The pod once the condition holds; fails after model seconds."""
        async with self.world.clock.timeout(seconds):
            while True:
                found = await self.get(name)
                if condition(found):
                    return found
                await self.world.clock.sleep(0.05)

    async def bound(self, name: str) -> str:
        found = await self.until(lambda p: p["spec"].get("nodeName"), name)
        return str(found["spec"]["nodeName"])

    async def condition(self, name: str) -> Object:
        found = await self.until(lambda p: p.get("status", {}).get("conditions"), name)
        return next(c for c in found["status"]["conditions"] if c["type"] == "PodScheduled")

    async def events(self, name: str) -> list[tuple[str, str, str]]:
        await self.world.clock.sleep(1)
        found = (await self.admin.list(EVENTS)).items
        return [(e["type"], e["reason"], e["message"]) for e in found if e["involvedObject"]["name"] == name]


@asynccontextmanager
async def open_stage(world: World, **scheduler: Any) -> AsyncIterator[Stage]:
    """A running API server and scheduler; `scheduler` are further arguments of the Scheduler."""
    store = await SqliteStore.open(None, clock=world.clock, rng=world.rng.stream("store"))
    api = ApiServer(world, store)
    await api.start()
    made = Stage(world, api, store, **scheduler)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    await made.admin.create(SERVICE_ACCOUNTS, account, namespace="default")
    await made.scheduler.start()
    try:
        yield made
    finally:
        await made.scheduler.stop()
        await api.stop()
        await store.close()
