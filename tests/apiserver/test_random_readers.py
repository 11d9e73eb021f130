"""Whatever way they are asked for, lists show what the store has, and watches lead there: random writes and readers.

What upstream's consistency checker compares of its cache and its store (pkg/storage/cacher delegator.go), for pages,
selectors and watches too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import NamedTuple

import orjson
import pytest

from engine.api.errors import ApiError
from engine.api.types import PODS, Object
from engine.api.wire import EventStream
from engine.client import Client
from engine.store.sqlite import SqliteStore
from engine.store.types import Range, prefix_end
from engine.world import World
from tests.apiserver.conftest import make_namespace, pod

WHERE = ("a", "a-b", "ab")  # which no prefix should mix up
NAMES = ("p", "p-1", "p1", "p1.x", "p2", "q")
PREFIX = b"/registry/pods/"
Wanted = Callable[[Object], bool]
LABELS: dict[str, Wanted] = {
    "": lambda pod: True,
    "x=a": lambda pod: pod["metadata"]["labels"]["x"] == "a",
    "x!=a": lambda pod: pod["metadata"]["labels"]["x"] != "a",
    "none": lambda pod: False,
}
FIELDS: dict[str, Wanted] = {
    "": lambda pod: True,
    "spec.nodeName=n1": lambda pod: pod["spec"].get("nodeName") == "n1",
    "spec.nodeName!=n1": lambda pod: pod["spec"].get("nodeName") != "n1",
    "spec.nodeName=": lambda pod: not pod["spec"].get("nodeName"),
    "metadata.name=p1": lambda pod: pod["metadata"]["name"] == "p1",
    "metadata.namespace=a": lambda pod: pod["metadata"]["namespace"] == "a",
    "metadata.namespace=ab,spec.nodeName=n2": lambda pod: (
        pod["metadata"]["namespace"] == "ab" and pod["spec"].get("nodeName") == "n2"
    ),
}


class Choice(NamedTuple):
    namespace: str
    labels: str
    fields: str

    @classmethod
    def of(cls, random: Random) -> Choice:
        return cls(random.choice(("", *WHERE)), random.choice(list(LABELS)), random.choice(list(FIELDS)))

    @property
    def query(self) -> dict[str, str]:
        return {"labelSelector": self.labels, "fieldSelector": self.fields}

    async def there(self, store: SqliteStore) -> dict[tuple[str, str], int]:
        """What is chosen of what the store has, by its key, with its revision, in the order of a list."""
        stored = [(orjson.loads(kv.value), kv) for kv in (await store.range(Range(PREFIX, prefix_end(PREFIX)))).kvs]
        return {key(obj): kv.mod_revision for obj, kv in stored if self.wants(obj)}

    def wants(self, obj: Object) -> bool:
        inside = self.namespace in ("", obj["metadata"]["namespace"])
        return inside and LABELS[self.labels](obj) and FIELDS[self.fields](obj)


def key(obj: Object) -> tuple[str, str]:
    return obj["metadata"]["namespace"], obj["metadata"]["name"]


def version(obj: Object) -> int:
    return int(obj["metadata"]["resourceVersion"])


async def prepare(client: Client) -> None:
    for name in WHERE:
        await make_namespace(client, name)


async def write(client: Client, random: Random) -> None:
    namespace, name, number = random.choice(WHERE), random.choice(NAMES), random.random()
    labels = {"labels": {"x": random.choice("ab")}}
    try:
        if number < 0.5:
            made = pod(name, nodeName=random.choice(("", "n1", "n2")))
            made["metadata"] |= labels
            await client.create(PODS, made, namespace=namespace)
        elif number < 0.75:
            await client.patch(PODS, name, {"metadata": labels}, namespace=namespace)
        else:
            await client.delete(PODS, name, namespace=namespace, grace_period_seconds=0)
    except ApiError as error:
        if error.code not in (404, 409):
            raise


async def get(client: Client, namespace: str, query: dict[str, str]) -> Object:
    asked = {name: [value] for name, value in query.items() if value}
    answer = await client.send("GET", PODS.path(namespace), query=asked)
    assert answer.status == 200, answer.body
    found: Object = answer.body
    return found


@pytest.mark.parametrize("seed", range(3))
async def test_pages_are_of_one_state(client: Client, store: SqliteStore, seed: int) -> None:
    random = Random(seed)
    await prepare(client)
    for _ in range(100):
        await write(client, random)
        choice, limit = Choice.of(random), random.choice((0, 1, 2, 5))
        newest = str(store.revision)
        how = random.choice(("", "Exact", "NotOlderThan", "0"))
        query = {**choice.query, "limit": str(limit or "")}
        start = (
            {"resourceVersion": "0"} if how == "0" else {"resourceVersion": how and newest, "resourceVersionMatch": how}
        )
        expected = await choice.there(store)
        page = await get(client, choice.namespace, {**query, **start})
        found, versions = list(page["items"]), {page["metadata"]["resourceVersion"]}
        while token := page["metadata"].get("continue"):
            assert len(page["items"]) <= limit
            await write(client, random)
            page = await get(client, choice.namespace, {**query, "continue": token})
            found += page["items"]
            versions.add(page["metadata"]["resourceVersion"])
        assert [(key(obj), version(obj)) for obj in found] == list(expected.items()), (choice, how)
        assert len(versions) == 1


class Watching:
    """What a client knows by a watch: from a list, or from the beginning of the watch itself."""

    def __init__(self, choice: Choice, listed: Object | None) -> None:
        self.choice = choice
        self.known = {key(obj): version(obj) for obj in listed["items"]} if listed is not None else {}
        self._seen = version(listed) if listed is not None else None  # None while the watch begins

    async def follow(self, events: EventStream) -> None:
        async for event in events:
            assert event.type != "ERROR", event.object
            if event.type == "BOOKMARK":
                assert version(event.object) >= (self._seen or 0)
                self._seen = version(event.object)
                continue
            if self._seen is not None:
                assert version(event.object) > self._seen
                self._seen = version(event.object)
            assert (event.type == "ADDED") is (key(event.object) not in self.known)
            if event.type == "DELETED":
                del self.known[key(event.object)]
            else:
                assert self.choice.wants(event.object)
                self.known[key(event.object)] = version(event.object)


@pytest.mark.parametrize("seed", range(3))
async def test_watches_lead_to_what_there_is(client: Client, store: SqliteStore, world: World, seed: int) -> None:
    random = Random(seed)
    await prepare(client)
    watching: list[Watching] = []
    async with asyncio.TaskGroup() as tasks:
        open_ = []
        for _ in range(60):
            for _ in range(random.randrange(5)):
                await write(client, random)
            choice = Choice.of(random)
            query = {**choice.query, "watch": "1", "allowWatchBookmarks": "1"}
            listed = None
            if random.random() < 0.6:
                start = {"resourceVersion": random.choice(("", "0"))}
                listed = await get(client, choice.namespace, {**choice.query, **start})
                query["resourceVersion"] = listed["metadata"]["resourceVersion"]
                await write(client, random)
            else:
                query |= {"sendInitialEvents": "1", "resourceVersionMatch": "NotOlderThan"}
            asked = {name: [value] for name, value in query.items() if value}
            answer = await client.send("GET", PODS.path(choice.namespace), query=asked)
            assert answer.events is not None
            watching.append(Watching(choice, listed))
            open_.append(tasks.create_task(watching[-1].follow(answer.events)))
        await world.clock.sleep(70)  # a bookmark comes too
        for task in open_:
            assert not task.done()
            task.cancel()
    for each in watching:
        assert each.known == await each.choice.there(store), each.choice
