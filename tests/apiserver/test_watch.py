from __future__ import annotations

import asyncio
from base64 import b64decode

import pytest

from engine.api.types import CONFIGMAPS, DEPLOYMENTS, EVENTS, PODS, SECRETS, SERVICE_ACCOUNTS, Object
from engine.api.wire import WatchEvent
from engine.apiserver.cacher.watcher import BUFFER
from engine.apiserver.server import ApiServer
from engine.client import Client, Watch
from engine.clock import VirtualClock
from engine.config import ClusterConfig
from engine.store import DeleteRange, Put, Retention
from engine.store.sqlite import SqliteStore
from engine.store.watch import BUFFER as STORE_BUFFER
from engine.world import World
from tests.apiserver.conftest import ADMIN, account, config_map, pod
from tests.apiserver.test_list import TABLE, names


async def take(watch: Watch, count: int) -> list[tuple[str, str]]:
    """The next events, as type and name."""
    events = [await anext(aiter(watch)) for _ in range(count)]
    return [(event.type, event.object["metadata"].get("name", "")) for event in events]


async def next_event(watch: Watch) -> WatchEvent:
    return await anext(aiter(watch))


async def test_a_list_and_a_watch_from_its_revision_miss_nothing(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    listed = await client.list(CONFIGMAPS)
    await client.create(CONFIGMAPS, config_map("b"), namespace="default")
    await client.delete(CONFIGMAPS, "a", namespace="default")
    async with await client.watch(CONFIGMAPS, resource_version=listed.resource_version) as watch:
        assert await take(watch, 2) == [("ADDED", "b"), ("DELETED", "a")]
        await client.patch(CONFIGMAPS, "b", {"data": {"x": "1"}}, namespace="default")
        event = await next_event(watch)
        assert (event.type, event.object["data"]) == ("MODIFIED", {"x": "1"})
        assert event.object["metadata"]["resourceVersion"] == str(event.revision)


async def test_a_deletion_carries_the_last_state_at_the_revision_of_the_deletion(client: Client) -> None:
    made = await client.create(CONFIGMAPS, config_map("a", x="1"), namespace="default")
    async with await client.watch(CONFIGMAPS, resource_version=made["metadata"]["resourceVersion"]) as watch:
        await client.delete(CONFIGMAPS, "a", namespace="default")
        event = await next_event(watch)
        assert (event.type, event.object["data"]) == ("DELETED", {"x": "1"})
        assert int(event.object["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])


async def test_without_a_revision_a_watch_begins_with_what_is_there(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    for version in (None, "0"):
        async with await client.watch(CONFIGMAPS, resource_version=version) as watch:
            assert await take(watch, 1) == [("ADDED", "a")]


@pytest.mark.parametrize(
    ("path", "accept", "blueprint"),
    [
        pytest.param(
            "/api/v1/configmaps",
            "application/json",
            b'{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":null}\n',
            id="a list of the kind",
        ),
        pytest.param(
            "/apis/apps/v1/deployments",
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
            b'{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[]}\n',
            id="a list of metadata",
        ),
    ],
)
async def test_the_end_of_initial_events_says_what_list_they_make(
    client: Client, path: str, accept: str, blueprint: bytes
) -> None:
    """apiserver pkg/endpoints/handlers TestWatchListEncoder: clients rebuild the list from it."""
    query = {name: ["true"] for name in ("watch", "sendInitialEvents", "allowWatchBookmarks")}
    query["resourceVersionMatch"] = ["NotOlderThan"]
    response = await client.send("GET", path, query=query, headers={"accept": accept})
    assert response.events is not None
    async for event in response.events:
        if event.type == "BOOKMARK":
            annotations = event.object["metadata"]["annotations"]
            assert b64decode(annotations["kubernetes.io/initial-events-list-blueprint"]) == blueprint
            break
    await response.events.aclose()


async def test_initial_events_end_with_a_bookmark(client: Client) -> None:
    async with await client.watch(CONFIGMAPS, namespace="default", send_initial_events=True) as watch:
        end = await next_event(watch)
        assert end.type == "BOOKMARK"
        assert end.object["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true"
        await client.create(CONFIGMAPS, config_map("a"), namespace="default")
        assert await take(watch, 1) == [("ADDED", "a")]
    async with await client.watch(CONFIGMAPS, namespace="default", send_initial_events=True) as watch:
        assert await take(watch, 2) == [("ADDED", "a"), ("BOOKMARK", "")]


async def test_what_begins_or_ceases_to_match_is_added_or_deleted(client: Client) -> None:
    async with await client.watch(CONFIGMAPS, resource_version="0", label_selector="app=web") as watch:
        await client.create(CONFIGMAPS, config_map("a"), namespace="default")
        await client.patch(CONFIGMAPS, "a", {"metadata": {"labels": {"app": "web"}}}, namespace="default")
        await client.patch(CONFIGMAPS, "a", {"data": {"x": "1"}}, namespace="default")
        last = await client.patch(CONFIGMAPS, "a", {"metadata": {"labels": {"app": "api"}}}, namespace="default")
        assert await take(watch, 2) == [("ADDED", "a"), ("MODIFIED", "a")]
        gone = await next_event(watch)
        assert (gone.type, gone.object["metadata"]["labels"]) == ("DELETED", {"app": "web"})
        assert gone.object["metadata"]["resourceVersion"] == last["metadata"]["resourceVersion"]


async def test_a_node_sees_its_own_pods(client: Client, default_account: Object) -> None:
    async with await client.watch(PODS, resource_version="0", field_selector="spec.nodeName=node-1") as watch:
        await client.create(PODS, pod("other", nodeName="node-2"), namespace="default")
        await client.create(PODS, pod("web"), namespace="default")
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web"}, "target": {"name": "node-1"}}
        await client.create(PODS, binding, namespace="default", name="web", subresource="binding")
        assert await take(watch, 1) == [("ADDED", "web")]


async def test_namespaces_are_kept_apart(client: Client) -> None:
    async with await client.watch(SERVICE_ACCOUNTS, namespace="kube-public", resource_version="0") as watch:
        await client.create(SERVICE_ACCOUNTS, account("a"), namespace="default")
        await client.create(SERVICE_ACCOUNTS, account("b"), namespace="kube-public")
        assert await take(watch, 1) == [("ADDED", "b")]


async def test_a_watch_ends_when_its_time_is_up(client: Client, virtual_clock: VirtualClock) -> None:
    watch = await client.watch(
        CONFIGMAPS, namespace="default", timeout_seconds=100, allow_bookmarks=True, resource_version="0"
    )
    began = virtual_clock.monotonic()
    made = await client.create(SERVICE_ACCOUNTS, account("a"), namespace="default")
    events = [(virtual_clock.monotonic() - began, event) async for event in watch]
    assert virtual_clock.monotonic() - began == 100
    # The end of the initial events, one on the minute, and one two seconds before the end; all know of the account.
    assert [(round(at), event.type) for at, event in events] == [(0, "BOOKMARK"), (60, "BOOKMARK"), (98, "BOOKMARK")]
    assert all(event.revision >= int(made["metadata"]["resourceVersion"]) for _, event in events[1:])


async def test_a_bookmark_comes_a_minute_after_the_watch_began(client: Client, virtual_clock: VirtualClock) -> None:
    """Each watch has minutes of its own, and of the last one nothing is left that would be worth one."""
    await client.list(CONFIGMAPS)
    await virtual_clock.sleep(30)
    version = (await client.list(CONFIGMAPS)).resource_version
    times = {}
    for seconds in (1, 2, 3, 61, 62, 100, 125):
        watch = await client.watch(CONFIGMAPS, timeout_seconds=seconds, allow_bookmarks=True, resource_version=version)
        began = virtual_clock.monotonic()
        await client.create(SERVICE_ACCOUNTS, account(f"a{seconds}"), namespace="default")
        times[seconds] = [round(virtual_clock.monotonic() - began) async for _ in watch]
    assert times == {1: [], 2: [], 3: [1], 61: [59], 62: [60], 100: [60, 98], 125: [60, 120, 123]}


async def test_no_bookmark_tells_where_the_watch_began(client: Client, virtual_clock: VirtualClock) -> None:
    listed = await client.list(CONFIGMAPS)
    watch = await client.watch(
        CONFIGMAPS, timeout_seconds=5, allow_bookmarks=True, resource_version=listed.resource_version
    )  # shorter than it takes the server to renew its Lease
    assert [event async for event in watch] == []
    assert virtual_clock.monotonic() == 5


async def test_a_bookmark_tells_of_what_happened_elsewhere(client: Client) -> None:
    async with await client.watch(CONFIGMAPS, namespace="default", allow_bookmarks=True, resource_version="0") as watch:
        assert await take(watch, 1) == [("BOOKMARK", "")]
        made = await client.create(SERVICE_ACCOUNTS, account("a"), namespace="default")
        event = await next_event(watch)
        assert event.type == "BOOKMARK"
        assert int(event.object["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"])


async def test_a_cursor_that_the_ring_has_passed_is_gone(world: World) -> None:
    store = await SqliteStore.open(None, clock=world.clock)
    server = ApiServer(world, store, config=ClusterConfig(watch_cache_size=10))
    await server.start()
    client = in_process(server)
    for number in range(4):
        await client.create(CONFIGMAPS, config_map(f"a{number}"), namespace="default")
    listed = await client.list(CONFIGMAPS, limit=1)
    for number in range(20):
        await client.create(CONFIGMAPS, config_map(f"c{number}"), namespace="default")
    past = await client.list(CONFIGMAPS, limit=1, continue_=listed.continue_, resource_version="0")
    assert len(past.items) == 1, "the limit counts, for that is the store's to answer"
    newest = (await client.list(CONFIGMAPS)).items[-1]["metadata"]["resourceVersion"]
    async with await client.watch(CONFIGMAPS, resource_version=listed.resource_version) as watch:
        event = await next_event(watch)
        assert (event.type, event.object["code"], event.object["reason"]) == ("ERROR", 410, "Expired")
        assert event.object["message"].startswith(f"too old resource version: {listed.resource_version} (")
    async with await client.watch(CONFIGMAPS, resource_version=str(int(newest) - 1)) as watch:
        assert await take(watch, 1) != []
    await server.stop()
    await store.close()


async def test_a_cache_that_a_compaction_has_overtaken_tells_each_event_once(virtual_clock: VirtualClock) -> None:
    """It lists anew by itself, and its watches end; whoever comes meanwhile does not fill it once more."""
    world = World.create(clock=virtual_clock, seed=1, latencies={"watch": (1, 1)})
    store = await SqliteStore.open(None, clock=virtual_clock, retention=Retention(automatic=False))
    server = ApiServer(world, store)
    await server.start()
    client = in_process(server)
    listed = await client.list(CONFIGMAPS)
    ended = await client.watch(CONFIGMAPS, resource_version=listed.resource_version)
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    # The cache takes a millisecond for each event, and no time passes while there is something to write.
    value = b'{"metadata":{"name":"b","namespace":"default"}}'
    for _ in range(STORE_BUFFER + 100):
        await store.txn([], [Put(b"/registry/configmaps/default/b", value)])
    await store.compact(store.revision)
    await asyncio.gather(*(client.list(CONFIGMAPS, resource_version="0") for _ in range(3)), virtual_clock.sleep(20))
    seen = [event.object["metadata"]["name"] async for event in ended]
    assert (seen[:2], len(seen) < STORE_BUFFER) == (["a", "b"], True)
    listed = await client.list(CONFIGMAPS, namespace="default", resource_version="0")
    assert names(listed.items) == ["a", "b"]
    async with await client.watch(CONFIGMAPS, resource_version=listed.resource_version) as watch:
        for name in "cde":
            await client.create(CONFIGMAPS, config_map(name), namespace="default")
        assert await take(watch, 3) == [("ADDED", name) for name in "cde"]
    await server.stop()
    await store.close()


async def test_a_cache_that_fails_at_an_event_lists_anew(client: Client, store: SqliteStore) -> None:
    """A selector meets what is no such object: whoever watches is told by the end of the watch, and goes on."""
    async with await client.watch(EVENTS, field_selector="involvedObject.name=x") as watch:
        odd = b'{"metadata":{"name":"odd","namespace":"default"},"involvedObject":[1]}'
        await store.txn([], [Put(b"/registry/events/default/odd", odd)])
        with pytest.raises(StopAsyncIteration):
            await next_event(watch)
    await store.txn([], [DeleteRange(b"/registry/events/default/odd")])
    listed = await client.list(EVENTS, resource_version="0")
    async with await client.watch(EVENTS, resource_version=listed.resource_version) as watch:
        event = {"metadata": {"name": "e"}, "involvedObject": {"namespace": "default"}, "reason": "R"}
        await client.create(EVENTS, event, namespace="default")
        assert await take(watch, 1) == [("ADDED", "e")]


def in_process(server: ApiServer) -> Client:
    from engine.client import InProcessTransport

    return Client(InProcessTransport(server, ADMIN), user_agent="test")


async def test_a_slow_watcher_is_cut_off_and_others_are_not(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    slow = await client.watch(CONFIGMAPS, namespace="default", resource_version="0")
    quick = await client.watch(CONFIGMAPS, namespace="default", resource_version="0")
    seen = [await next_event(quick)]
    for number in range(BUFFER + 10):
        await client.patch(CONFIGMAPS, "a", {"data": {"n": str(number)}}, namespace="default")
        seen.append(await next_event(quick))
    assert len(seen) == BUFFER + 11
    # What was buffered is still delivered, then the stream ends.
    assert len([event async for event in slow]) == BUFFER + 1
    [cache] = [
        cache
        for cache in (await client.request("GET", "/debug/ktui/watches"))["caches"]
        if cache["prefix"] == "/registry/configmaps"
    ]
    assert (cache["cutOff"], len(cache["watchers"])) == (1, 1)
    await quick.aclose()


async def test_a_watch_can_be_a_table(client: Client) -> None:
    response = await client.send(
        "GET", CONFIGMAPS.path("default"), query={"watch": ["1"], "resourceVersion": ["0"]}, headers={"accept": TABLE}
    )
    assert response.events is not None
    for name in ("a", "b"):
        await client.create(CONFIGMAPS, config_map(name), namespace="default")
    watch = Watch(response.events)
    first, second = (await next_event(watch)).object, (await next_event(watch)).object
    assert first["columnDefinitions"][0]["name"] == "Name"
    assert second["columnDefinitions"] is None
    assert second["rows"][0]["cells"][0] == "b"
    await watch.aclose()


async def test_an_event_carries_its_cause(client: Client, world: World) -> None:
    async with await client.watch(CONFIGMAPS, namespace="default", resource_version="0") as watch:
        made = await client.create(CONFIGMAPS, config_map("a"), namespace="default")
        event = await next_event(watch)
    [stored] = [span for span in world.tracer.recent if span.hop == 7 and span.object == "configmap/default/a"]
    assert event.cause == stored.traceparent
    assert event.revision == stored.revision == int(made["metadata"]["resourceVersion"])


async def test_events_are_encoded_once_for_all(client: Client) -> None:
    first = await client.watch(CONFIGMAPS, namespace="default", resource_version="0")
    second = await client.watch(CONFIGMAPS, namespace="default", resource_version="0")
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    assert (await next_event(first)).encoded is (await next_event(second)).encoded
    await first.aclose()
    await second.aclose()


async def test_stopping_the_server_ends_its_watches(server: ApiServer, client: Client) -> None:
    watch = await client.watch(CONFIGMAPS, namespace="default", resource_version="0")
    await server.stop()
    assert [event async for event in watch] == []


async def test_the_ring_of_a_single_resource_has_a_size_of_its_own(world: World) -> None:
    store = await SqliteStore.open(None, clock=world.clock)
    sizes = {"configmaps": 5, "deployments.apps": 7, "secrets": 0}
    server = ApiServer(world, store, config=ClusterConfig(watch_cache_sizes=sizes))
    await server.start()
    client = in_process(server)
    for resource in (CONFIGMAPS, DEPLOYMENTS, SECRETS):
        await client.list(resource)
    caches = (await client.request("GET", "/debug/ktui/watches"))["caches"]
    found = {cache["kind"]: cache["ring"]["size"] for cache in caches}
    assert (found["configmap"], found["deployment"], found["secret"]) == (5, 7, 1000)
    await server.stop()
    await store.close()


async def restarted(world: World, store: SqliteStore, *, size: int = 1000) -> ApiServer:
    """Another server on a store that has seen one before."""
    server = ApiServer(world, store, config=ClusterConfig(watch_cache_size=size))
    await server.start()
    return server


async def some_changes(client: Client) -> str:
    """A revision, and seven changes after it."""
    listed = await client.list(CONFIGMAPS)
    for name in "abc":
        await client.create(CONFIGMAPS, config_map(name, {"app": name}), namespace="default")
    await client.patch(CONFIGMAPS, "a", {"metadata": {"labels": {"app": "c"}}}, namespace="default")
    await client.delete(CONFIGMAPS, "b", namespace="default")
    await client.create(CONFIGMAPS, config_map("b", {"app": "c"}), namespace="default")
    await client.patch(CONFIGMAPS, "c", {"metadata": {"labels": {"app": "d"}}}, namespace="default")
    return listed.resource_version


async def test_a_watch_goes_on_over_a_restart_of_the_server(client: Client, world: World, store: SqliteStore) -> None:
    since = await some_changes(client)
    async with await client.watch(CONFIGMAPS, resource_version=since, label_selector="app=c") as watch:
        before = [await next_event(watch) for _ in range(4)]
    server = await restarted(world, store)
    again = in_process(server)
    for version, expected in ((since, before), (str(before[0].revision), before[1:])):
        async with await again.watch(CONFIGMAPS, resource_version=version, label_selector="app=c") as watch:
            after = [await next_event(watch) for _ in expected]
            assert [(e.type, e.object, e.cause) for e in after] == [(e.type, e.object, e.cause) for e in expected]
            await again.patch(CONFIGMAPS, "b", {"data": {"x": version}}, namespace="default")
            assert await take(watch, 1) == [("MODIFIED", "b")]
    await server.stop()


async def test_a_ring_reaches_back_no_further_than_it_is_long(client: Client, world: World, store: SqliteStore) -> None:
    since = await some_changes(client)
    server = await restarted(world, store, size=6)
    again = in_process(server)
    async with await again.watch(CONFIGMAPS, resource_version=since) as watch:
        assert (await next_event(watch)).object["code"] == 410
    async with await again.watch(CONFIGMAPS, resource_version=str(int(since) + 1)) as watch:
        assert len([await next_event(watch) for _ in range(6)]) == 6
    await server.stop()


async def test_a_ring_does_not_reach_back_over_a_compaction(client: Client, world: World, store: SqliteStore) -> None:
    since = await some_changes(client)
    await store.compact(int(since) + 3)
    server = await restarted(world, store)
    again = in_process(server)
    for version in (int(since), int(since) + 2):  # what stood before the compacted revision is not known
        async with await again.watch(CONFIGMAPS, resource_version=str(version)) as watch:
            assert (await next_event(watch)).object["code"] == 410
    async with await again.watch(CONFIGMAPS, resource_version=str(int(since) + 3)) as watch:
        assert await take(watch, 2) == [("MODIFIED", "a"), ("DELETED", "b")]
    await server.stop()
