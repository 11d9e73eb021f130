"""Objects that were put into the store past the server, with metadata that it would not have written.

Those that a definition makes are repaired when they are read (apiextensions-apiserver objectmeta_test,
TestInvalidObjectMetaInStorage).
"""

from __future__ import annotations

import orjson
import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, Object, copy_object
from engine.client import Client
from engine.store.sqlite import SqliteStore
from engine.store.types import Put
from tests.api.crd.samples import GROUP, definition

DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
CRON_TABS = GVR(GROUP, "v1", "crontabs")
CONFIG_MAPS = GVR("", "v1", "configmaps")
STRANGE: Object = {"unknown": 42, "annotations": {"a": 42, "b": "c"}, "labels": {"wrong": "x y"}}


async def _put(store: SqliteStore, key: str, obj: Object) -> None:
    await store.txn([], [Put(f"/registry/{key}".encode(), orjson.dumps(obj))])


@pytest.fixture
async def strange(client: Client, store: SqliteStore) -> Object:
    """A CronTab, as it is read, whose metadata and that of a resource in it have other types and fields."""
    resource: Object = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    await client.create(DEFINITIONS, definition({"type": "object", "properties": {"inner": resource}}))
    inner = {"apiVersion": "v1", "kind": 7, "metadata": STRANGE}
    obj = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "CronTab",
        "metadata": {**STRANGE, "name": "a", "namespace": "default", "generation": None},
        "spec": {"inner": inner},
    }
    await _put(store, f"{GROUP}/crontabs/default/a", obj)
    return await client.get(CRON_TABS, "a", namespace="default")


async def test_what_cannot_be_read_is_left_out(strange: Object) -> None:
    metadata = copy_object(strange["metadata"])
    del metadata["resourceVersion"]
    assert metadata == {"name": "a", "namespace": "default", "labels": {"wrong": "x y"}, "generation": 1}
    assert strange["spec"]["inner"] == {"apiVersion": "v1", "metadata": {"labels": {"wrong": "x y"}}}


async def test_what_can_be_read_has_to_be_put_right_by_who_writes(client: Client, strange: Object) -> None:
    fixed = copy_object(strange)
    fixed["spec"]["inner"]["kind"] = "Inner"
    with pytest.raises(ApiError, match=r'metadata\.labels: Invalid value: "x y"'):
        await client.update(CRON_TABS, fixed)
    fixed["metadata"]["labels"]["wrong"] = "fixed"
    with pytest.raises(ApiError, match=r'spec\.inner\.metadata\.labels: Invalid value: "x y"'):
        await client.update(CRON_TABS, fixed)
    fixed["spec"]["inner"]["metadata"]["labels"]["wrong"] = "fixed"
    written = await client.update(CRON_TABS, fixed)
    assert written["metadata"]["generation"] == 2
    assert written["metadata"]["labels"] == written["spec"]["inner"]["metadata"]["labels"] == {"wrong": "fixed"}


async def test_it_can_be_deleted_as_it_is(client: Client, strange: Object) -> None:
    await client.delete(CRON_TABS, strange["metadata"]["name"], namespace="default")
    with pytest.raises(ApiError, match="not found"):
        await client.get(CRON_TABS, "a", namespace="default")


async def test_an_object_without_a_uid_stays_without(client: Client, store: SqliteStore) -> None:
    obj: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}
    await _put(store, "configmaps/default/a", obj)
    read = await client.get(CONFIG_MAPS, "a", namespace="default")
    written = await client.update(CONFIG_MAPS, {**copy_object(read), "data": {"k": "v"}})
    assert (written["data"], "uid" in written["metadata"]) == ({"k": "v"}, False)
