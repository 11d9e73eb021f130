"""1,000 watchers with random selectors, random cuts and a small ring: each ends with the state of a fresh list.

Each is a client as client-go makes them: it lists, watches from there, is cut at random, comes back from the last
revision that it saw, by a list or a watch with initial events, and lists again where that revision is forgotten. On the
way it is checked that an event fits what the watcher holds: nothing is added twice, nothing changes or goes that is not
there, and no revision comes again. KTUI_WATCHERS_SEED repeats a run, KTUI_WATCHERS_WRITES makes it longer.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import TypedDict

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, PODS, SERVICE_ACCOUNTS, Object
from engine.api.wire import WatchEvent
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import Clock, VirtualClock
from engine.config import ClusterConfig
from engine.rng import Rng
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN, account, config_map, make_namespace, pod

WATCHERS = 1000
WRITES = int(os.environ.get("KTUI_WATCHERS_WRITES", "700"))
SEED = os.environ.get("KTUI_WATCHERS_SEED", "1")
RING = 50
NAMESPACES = ("default", "a", "b")
APPS, TIERS = ("web", "api", "db"), ("front", "back")
LABEL_SELECTORS = ("", "app=web", "app!=web", "app in (web,api)", "tier", "!tier", "app=db,tier=back")
POD_FIELDS = ("", "spec.nodeName=node-1", "spec.nodeName=", "spec.nodeName!=node-2", "metadata.name=p3")
MAP_FIELDS = ("", "metadata.name=c3", "metadata.name!=c3", "metadata.namespace=a")


class Where(TypedDict):
    """What a client selects."""

    namespace: str | None
    label_selector: str
    field_selector: str


class Follower:
    """One client and what it believes the server to hold."""

    def __init__(self, client: Client, clock: Clock, rng: Rng) -> None:
        self._client = client
        self._clock = clock
        self._rng = rng
        self.resource = rng.choice((PODS, CONFIGMAPS))
        self._bookmarks = rng.random() < 0.5
        self.where = Where(
            namespace=rng.choice((None, *NAMESPACES)),
            label_selector=rng.choice(LABEL_SELECTORS),
            field_selector=rng.choice(POD_FIELDS if self.resource == PODS else MAP_FIELDS),
        )
        self.state: dict[tuple[str, str], Object] = {}
        self.version = ""
        self.relists = 0
        self.cuts = 0

    async def run(self) -> None:
        while True:
            try:
                if not self.version:
                    await self._begin()
                await self._watch(self.version)
            except ApiError as error:
                if error.code != 410:
                    raise
                self.version = ""
                self.relists += 1

    async def _begin(self) -> None:
        if self._rng.random() < 0.3:
            await self._watch("", initial=True)
            return
        listed = await self._client.list(self.resource, resource_version=self._rng.choice((None, "0")), **self.where)
        assert int(listed.resource_version) >= int(self.version or 0)
        self.state = {_key(item): item for item in listed.items}
        self.version = listed.resource_version

    async def _watch(self, version: str, *, initial: bool = False) -> None:
        """Watch until the moment of the cut."""
        if initial:
            self.state = {}
        stream = await self._client.watch(
            self.resource,
            resource_version=version or None,
            send_initial_events=initial,
            allow_bookmarks=self._bookmarks,
            **self.where,
        )
        patience = self._rng.uniform(0.5, 60)
        pause = self._rng.choice((0.0, 0.0, 0.0, 0.3, 2.0))  # some read slowly
        async with stream:
            try:
                async with self._clock.timeout(patience):
                    async for event in stream:
                        self._take(event)
                        await self._clock.sleep(pause)
            except TimeoutError:
                self.cuts += 1
                if initial and not self.version:
                    self.state = {}  # cut before the state was whole

    def _take(self, event: WatchEvent) -> None:
        if event.type == "ERROR":
            raise ApiError.from_status(event.object)
        metadata = event.object["metadata"]
        if event.type == "BOOKMARK":
            assert int(metadata["resourceVersion"]) >= int(self.version or 0)
            self.version = metadata["resourceVersion"]
            return
        key = _key(event.object)
        if self.version:  # initial events come in the order of their keys
            assert int(metadata["resourceVersion"]) > int(self.version), "a revision comes again"
            self.version = metadata["resourceVersion"]
        assert (key in self.state) == (event.type != "ADDED"), (event, self.where)
        if event.type == "DELETED":
            del self.state[key]
        else:
            self.state[key] = event.object

    async def fresh(self) -> dict[tuple[str, str], Object]:
        listed = await self._client.list(self.resource, **self.where)
        return {_key(item): item for item in listed.items}


def _key(obj: Object) -> tuple[str, str]:
    return obj["metadata"]["namespace"], obj["metadata"]["name"]


class Writer:
    """Makes, labels, binds and deletes at random."""

    def __init__(self, client: Client, clock: Clock, rng: Rng) -> None:
        self._client = client
        self._clock = clock
        self._rng = rng

    async def run(self, writes: int) -> None:
        for _ in range(writes):
            try:
                await self._write()
            except ApiError as error:
                if error.code not in (404, 409):
                    raise
            await self._clock.sleep(self._rng.choice((0.0, 0.0, 0.05, 0.5)))

    async def _write(self) -> None:
        rng = self._rng
        namespace, number = rng.choice(NAMESPACES), int(rng.uniform(0, 8))
        if rng.random() < 0.4:
            await self._write_pod(namespace, f"p{number}")
            return
        name = f"c{number}"
        match rng.choice(("create", "create", "label", "label", "delete")):
            case "create":
                await self._client.create(CONFIGMAPS, config_map(name, self._labels()), namespace=namespace)
            case "label":
                await self._client.patch(CONFIGMAPS, name, self._relabelled(), namespace=namespace)
            case _:
                await self._client.delete(CONFIGMAPS, name, namespace=namespace)

    async def _write_pod(self, namespace: str, name: str) -> None:
        rng = self._rng
        match rng.choice(("create", "create", "label", "bind", "delete")):
            case "create":
                made = pod(name)
                made["metadata"]["labels"] = self._labels()
                await self._client.create(PODS, made, namespace=namespace)
            case "label":
                await self._client.patch(PODS, name, self._relabelled(), namespace=namespace)
            case "bind":
                binding = {
                    "apiVersion": "v1",
                    "kind": "Binding",
                    "metadata": {"name": name},
                    "target": {"name": rng.choice(("node-1", "node-2"))},
                }
                await self._client.create(PODS, binding, namespace=namespace, name=name, subresource="binding")
            case _:
                await self._client.delete(PODS, name, namespace=namespace, grace_period_seconds=0)

    def _labels(self) -> dict[str, str]:
        labels = {"app": self._rng.choice(APPS)}
        if self._rng.random() < 0.5:
            labels["tier"] = self._rng.choice(TIERS)
        return labels

    def _relabelled(self) -> Object:
        return {"metadata": {"labels": {"app": self._rng.choice(APPS), "tier": self._rng.choice((None, *TIERS))}}}


@pytest.fixture
async def small(world: World) -> AsyncIterator[ApiServer]:
    store = await SqliteStore.open(None, clock=world.clock)
    server = ApiServer(world, store, config=ClusterConfig(watch_cache_size=RING))
    await server.start()
    yield server
    await server.stop()
    await store.close()


async def test_a_thousand_watchers_end_with_the_state_of_a_fresh_list(
    small: ApiServer, virtual_clock: VirtualClock
) -> None:
    rng = Rng(SEED)
    client = Client(InProcessTransport(small, ADMIN), user_agent="test")
    await client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
    for namespace in NAMESPACES[1:]:
        await make_namespace(client, namespace)
    followers = [Follower(client, virtual_clock, rng.stream(f"follower-{number}")) for number in range(WATCHERS)]
    tasks = [asyncio.create_task(follower.run()) for follower in followers]
    await Writer(client, virtual_clock, rng.stream("writer")).run(WRITES)
    # Who was cut comes back; the slowest read an event in 2 s, of as many as the ring has.
    await virtual_clock.sleep(200)
    for task in tasks:
        assert not task.done(), task.exception()
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for number, follower in enumerate(followers):
        assert follower.state == await follower.fresh(), (number, follower.resource, follower.where)
    # The run was a hard one: there were cuts, and some came back after the ring had passed them.
    assert sum(follower.cuts for follower in followers) > WATCHERS
    assert sum(follower.relists for follower in followers) > 100
