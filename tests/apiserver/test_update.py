from __future__ import annotations

import asyncio

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, DEPLOYMENTS, GVR, LEASES, PODS, Object, copy_object
from engine.api.wire import APPLY_PATCH, JSON_PATCH, MERGE_PATCH
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.store import Compare, Put, Range
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN, config_map, pod
from tests.apiserver.test_create import deployment

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


async def test_a_stale_revision_is_a_conflict(client: Client) -> None:
    first = await client.create(CONFIGMAPS, config_map("web", a="1"), namespace="default")
    changed = copy_object(first)
    changed["data"] = {"a": "2"}
    second = await client.update(CONFIGMAPS, changed)
    assert int(second["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"])
    with pytest.raises(ApiError) as caught:
        await client.update(CONFIGMAPS, changed)
    assert (caught.value.code, caught.value.reason) == (409, "Conflict")
    assert caught.value.message == f'Operation cannot be fulfilled on configmaps "web": {MODIFIED}'


async def test_without_a_revision_the_last_write_wins(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web", a="1"), namespace="default")
    sent = config_map("web", a="2")
    sent["metadata"]["namespace"] = "default"
    assert (await client.update(CONFIGMAPS, sent))["data"] == {"a": "2"}


@pytest.mark.parametrize("how", ["update", "patch", "delete"])
async def test_a_write_goes_on_trying_while_others_write(virtual_clock: VirtualClock, how: str) -> None:
    world = World.create(clock=virtual_clock, seed=1, profile="realistic")
    store = await SqliteStore.open(None, clock=virtual_clock)
    server = ApiServer(world, store)
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    sent = config_map("web", a="1")
    sent["metadata"]["namespace"] = "default"
    await client.create(CONFIGMAPS, sent, namespace="default")
    key = b"/registry/configmaps/default/web"
    value = (await store.range(Range(key))).kvs[0].value

    async def write() -> None:
        for _ in range(600):  # more often than the request can try
            await store.txn([Compare(key, "version", ">", 0)], [Put(key, value)])
            await virtual_clock.sleep(0.006)

    writes = asyncio.ensure_future(write())
    if how == "update":
        assert (await client.update(CONFIGMAPS, {**sent, "data": {"b": "2"}}))["data"] == {"b": "2"}
    elif how == "patch":
        found = await client.patch(CONFIGMAPS, "web", {"data": {"b": "2"}}, namespace="default")
        assert found["data"] == {"a": "1", "b": "2"}
    else:
        await client.delete(CONFIGMAPS, "web", namespace="default")
        assert (await store.range(Range(key))).kvs == []
    assert virtual_clock.monotonic() > 3.6
    await writes
    await server.stop()
    await store.close()


async def test_many_who_change_one_object_take_turns(client: Client) -> None:
    """Each used to try again with each that was written: forty were eight hundred."""
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    path, many = CONFIGMAPS.path("default", "web"), range(40)
    headers = {"content-type": MERGE_PATCH}
    patches = [client.send("PATCH", path, headers=headers, body={"data": {f"k{each}": "v"}}) for each in many]
    assert {answer.status for answer in await asyncio.gather(*patches)} == {200}
    assert len((await client.get(CONFIGMAPS, "web", namespace="default"))["data"]) == len(many)
    page = (await client.send("GET", "/metrics")).body.decode()
    tried = 'etcd_requests_total{group="",operation="update",resource="configmaps"} '
    (count,) = [int(line.removeprefix(tried)) for line in page.splitlines() if line.startswith(tried)]
    assert len(many) < count <= 5 * len(many)


async def test_an_update_that_changes_nothing_writes_nothing(client: Client, store: SqliteStore) -> None:
    made = await client.create(CONFIGMAPS, config_map("web", a="1"), namespace="default")
    before = store.revision
    assert await client.update(CONFIGMAPS, made) == made
    assert await client.patch(CONFIGMAPS, "web", {"data": {"a": "1"}}, namespace="default") == made
    assert store.revision == before


async def test_spec_and_status_are_written_apart(client: Client) -> None:
    made = await client.create(DEPLOYMENTS, deployment(replicas=1), namespace="default")
    both = copy_object(made)
    both["spec"]["replicas"] = 5
    both["status"] = {"replicas": 9}
    changed = await client.update(DEPLOYMENTS, both)
    assert (changed["spec"]["replicas"], changed["status"].get("replicas")) == (5, None)
    assert changed["metadata"]["generation"] == 2
    both["metadata"]["resourceVersion"] = changed["metadata"]["resourceVersion"]
    both["spec"]["replicas"] = 7
    reported = await client.update_status(DEPLOYMENTS, both)
    assert (reported["spec"]["replicas"], reported["status"]["replicas"]) == (5, 9)
    assert reported["metadata"]["generation"] == 2


async def test_what_is_not_there_cannot_be_updated_but_for_some_kinds(client: Client) -> None:
    gone = config_map("gone")
    gone["metadata"]["namespace"] = "default"
    with pytest.raises(ApiError) as caught:
        await client.update(CONFIGMAPS, gone)
    assert caught.value.code == 404
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "node-1", "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": "node-1"},
    }
    assert (await client.update(LEASES, lease))["metadata"]["uid"]


@pytest.mark.parametrize("version", ["", "1"])
async def test_an_update_for_another_object_of_that_name(client: Client, version: str) -> None:
    """The uid is asked before the revision is, stale or not."""
    made = await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    other = copy_object(made)
    other["metadata"] |= {"uid": "other", "resourceVersion": version}
    with pytest.raises(ApiError) as caught:
        await client.update(CONFIGMAPS, other)
    assert caught.value.message == (
        'Operation cannot be fulfilled on configmaps "web": StorageError: invalid object, Code: 4, '
        "Key: /registry/configmaps/default/web, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"UID in precondition: other, UID in object meta: {made['metadata']['uid']}"
    )


async def test_names_must_agree(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    response = await client.send("PUT", "/api/v1/namespaces/default/configmaps/web", body=config_map("api"))
    assert response.status == 400
    assert response.body["message"] == "the name of the object (api) does not match the name on the URL (web)"


async def test_a_merge_patch(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web", a="1", b="2"), namespace="default")
    patched = await client.patch(
        CONFIGMAPS, "web", {"data": {"a": None, "c": "3"}}, namespace="default", content_type=MERGE_PATCH
    )
    assert patched["data"] == {"b": "2", "c": "3"}


async def test_a_json_patch(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web", a="1"), namespace="default")
    operations = [{"op": "test", "path": "/data/a", "value": "1"}, {"op": "replace", "path": "/data/a", "value": "2"}]
    patched = await client.patch(CONFIGMAPS, "web", operations, namespace="default", content_type=JSON_PATCH)
    assert patched["data"] == {"a": "2"}


async def test_a_strategic_patch_merges_containers_by_name(client: Client, default_account: Object) -> None:
    await client.create(PODS, pod(), namespace="default")
    patch = {"spec": {"containers": [{"name": "app", "image": "nginx:1.28"}]}}
    patched = await client.patch(PODS, "web", patch, namespace="default")
    assert patched["spec"]["containers"][0]["image"] == "nginx:1.28"
    assert patched["spec"]["containers"][0]["volumeMounts"]


async def test_a_patch_that_names_a_stale_revision_is_a_conflict(client: Client) -> None:
    made = await client.create(CONFIGMAPS, config_map("web", a="1"), namespace="default")
    version = made["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": version}, "data": {"a": "2"}}
    await client.patch(CONFIGMAPS, "web", patch, namespace="default")
    with pytest.raises(ApiError, match=MODIFIED):
        await client.patch(CONFIGMAPS, "web", patch, namespace="default")


async def test_a_patch_leaves_the_name_alone(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    with pytest.raises(ApiError, match="does not match the name on the URL"):
        await client.patch(CONFIGMAPS, "web", {"metadata": {"name": "api"}}, namespace="default")


async def test_an_unknown_kind_of_patch(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    for unknown in ("application/json", "Application/Merge-Patch+JSON", ""):  # a patch is named to the letter
        with pytest.raises(ApiError) as caught:
            await client.patch(CONFIGMAPS, "web", {}, namespace="default", content_type=unknown)
        assert caught.value.code == 415


async def test_applying_creates_and_owns(client: Client, store: SqliteStore) -> None:
    async def apply(manager: str, *, force: bool = False, **data: str) -> Object:
        return await client.patch(
            CONFIGMAPS,
            "web",
            config_map("web", None, **data),
            namespace="default",
            content_type=APPLY_PATCH,
            field_manager=manager,
            force=force,
        )

    made = await apply("one", a="1", b="1")
    assert made["metadata"]["managedFields"][0]["operation"] == "Apply"
    before = store.revision
    assert await apply("one", a="1", b="1") == made
    assert store.revision == before
    with pytest.raises(ApiError) as caught:
        await apply("two", a="2")
    assert (caught.value.code, caught.value.reason) == (409, "Conflict")
    assert caught.value.message == 'Apply failed with 1 conflict: conflict with "one": .data.a'
    assert (await apply("two", force=True, a="2"))["data"] == {"a": "2", "b": "1"}
    assert (await apply("one", c="3"))["data"] == {"a": "2", "c": "3"}


async def test_applying_a_list_without_its_defaults_again_writes_nothing(
    client: Client, store: SqliteStore, world: World
) -> None:
    limits = GVR("", "v1", "limitranges")
    applied = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "small"},
        "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]},
    }

    async def apply() -> Object:
        return await client.patch(
            limits, "small", applied, namespace="default", content_type=APPLY_PATCH, field_manager="one"
        )

    made = await apply()
    before = store.revision
    await world.clock.sleep(5)
    assert await apply() == made
    assert store.revision == before


async def test_applying_needs_a_manager(client: Client) -> None:
    with pytest.raises(ApiError, match="is required for apply patch"):
        await client.patch(
            CONFIGMAPS, "web", config_map("web"), namespace="default", content_type=APPLY_PATCH, field_manager=""
        )


async def test_the_name_and_namespace_of_what_is_written(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    path = "/api/v1/namespaces/default/configmaps/web"
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    nameless = await client.send("PUT", path, body={**kind, "metadata": {}})
    assert (nameless.status, nameless.body["message"]) == (
        400,
        "the name of the object (web based on URL) was undeterminable: name must be provided",
    )
    other = await client.send("PUT", path, body={**kind, "metadata": {"name": "other"}})
    assert other.body["message"] == "the name of the object (other) does not match the name on the URL (web)"
    elsewhere = await client.send("PUT", path, body={**kind, "metadata": {"name": "web", "namespace": "other"}})
    assert elsewhere.body["message"] == (
        "the namespace of the provided object does not match the namespace sent on the request"
    )
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine", "namespace": "mine"}}
    made = await client.send("POST", "/api/v1/namespaces", body=namespace)
    assert (made.status, "namespace" in made.body["metadata"]) == (201, False)
