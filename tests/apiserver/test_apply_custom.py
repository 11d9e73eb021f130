"""Server-side apply of custom resources (test/integration/apiserver/apply/apply_crd_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, Object
from engine.api.wire import APPLY_PATCH, MERGE_PATCH
from engine.client import Client
from tests.api.crd.samples import GROUP, definition

DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
CRON_TABS = GVR(GROUP, "v1", "crontabs")
NAME = "web"
ANY: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
PORTS: Object = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer"},
        "note": {"type": "string", "nullable": True},
        "selector": {
            "type": "object",
            "x-kubernetes-map-type": "atomic",
            "additionalProperties": {"type": "string"},
        },
        "hosts": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["containerPort", "protocol"],
            "items": {
                "type": "object",
                "required": ["containerPort"],
                "properties": {
                    "containerPort": {"type": "integer"},
                    "protocol": {"type": "string", "default": "TCP"},
                    "name": {"type": "string"},
                },
            },
        },
    },
}


async def define(client: Client, schema: Object, **version: Any) -> None:
    made = definition(schema, **version)
    del made["metadata"]["uid"]
    await client.create(DEFINITIONS, made)


def cron_tab(**spec: Any) -> Object:
    return {"apiVersion": f"{GROUP}/v1", "kind": "CronTab", "metadata": {"name": NAME}, "spec": spec}


async def apply(client: Client, obj: Object, manager: str = "applier", *, force: bool = False) -> Object:
    return await client.patch(
        CRON_TABS, NAME, obj, namespace="default", content_type=APPLY_PATCH, field_manager=manager, force=force
    )


async def merge(client: Client, patch: Object, manager: str = "updater", subresource: str | None = None) -> Object:
    return await client.patch(
        CRON_TABS,
        NAME,
        patch,
        namespace="default",
        content_type=MERGE_PATCH,
        field_manager=manager,
        subresource=subresource,
    )


def owners(obj: Object) -> dict[str, Object]:
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"].get("managedFields", ())}


@pytest.mark.parametrize("schema", [ANY, PORTS], ids=["any", "structural"])
async def test_ownership_moves_and_conflicts(client: Client, schema: Object) -> None:
    await define(client, schema)
    made = await apply(client, cron_tab(replicas=1))
    assert owners(made) == {"applier": {"f:spec": {"f:replicas": {}}}}
    assert made["metadata"]["generation"] == 1
    await merge(client, {"spec": {"replicas": 5}})
    with pytest.raises(ApiError) as caught:
        await apply(client, cron_tab(replicas=1))
    assert caught.value.message == (
        f'Apply failed with 1 conflict: conflict with "updater" using {GROUP}/v1: .spec.replicas'
    )
    after = await apply(client, cron_tab(replicas=1), force=True)
    assert (after["spec"]["replicas"], list(owners(after))) == (1, ["applier"])
    assert "managedFields" not in (await merge(client, {"metadata": {"managedFields": [{}]}}))["metadata"]
    with pytest.raises(ApiError) as caught:
        await apply(client, cron_tab(replicas=5))
    assert caught.value.message == (
        f'Apply failed with 1 conflict: conflict with "before-first-apply" using {GROUP}/v1: .spec.replicas'
    )


async def test_lists_by_their_keys_and_the_defaults_of_these(client: Client) -> None:
    await define(client, PORTS)
    tcp, udp = {"name": "t", "containerPort": 53}, {"name": "u", "containerPort": 53, "protocol": "UDP"}
    await apply(client, cron_tab(ports=[tcp, udp], hosts=["b", "a"]))
    two = await apply(client, cron_tab(ports=[{"containerPort": 80, "protocol": "TCP"}], hosts=["c"]), "other")
    assert [(port["containerPort"], port["protocol"]) for port in two["spec"]["ports"]] == [
        (53, "TCP"), (53, "UDP"), (80, "TCP"),
    ]  # fmt: skip
    with pytest.raises(ApiError) as caught:
        await apply(client, cron_tab(ports=[{"containerPort": 53, "name": "x"}]), "other")
    assert caught.value.message.endswith('conflict with "applier": .spec.ports[containerPort=53,protocol="TCP"].name')
    left = await apply(client, cron_tab(ports=[udp], hosts=["a"]))
    assert [(port["containerPort"], port["protocol"]) for port in left["spec"]["ports"]] == [(53, "UDP"), (80, "TCP")]
    assert left["spec"]["hosts"] == ["a", "c"]
    assert list(owners(left)["applier"]["f:spec"]["f:ports"]) == ['k:{"containerPort":53,"protocol":"UDP"}']
    with pytest.raises(ApiError) as caught:  # its protocol, by default, is enough for a key; but the schema wants both
        await apply(client, cron_tab(ports=[{"name": "x"}]))
    assert "spec.ports[1].containerPort: Required value" in caught.value.message


async def test_a_map_that_is_atomic_changes_as_one(client: Client) -> None:
    await define(client, PORTS)
    made = await apply(client, cron_tab(selector={"a": "1"}))
    assert owners(made)["applier"] == {"f:spec": {"f:selector": {}}}
    with pytest.raises(ApiError, match=r'conflict with "applier": \.spec\.selector$'):
        await apply(client, cron_tab(selector={"b": "1"}), "other")
    after = await apply(client, cron_tab(selector={"b": "1"}), "other", force=True)
    assert (after["spec"]["selector"], list(owners(after))) == ({"b": "1"}, ["other"])


async def test_null_where_it_may_be_and_where_it_may_not(client: Client) -> None:
    await define(client, PORTS)
    made = await apply(client, cron_tab(note=None, replicas=1))
    assert made["spec"] == {"note": None, "replicas": 1}
    assert owners(made)["applier"] == {"f:spec": {"f:note": {}, "f:replicas": {}}}


async def test_a_list_that_loses_its_last_element(client: Client) -> None:
    await define(client, PORTS)
    await apply(client, cron_tab(hosts=["a"], replicas=1))
    left = await apply(client, cron_tab(replicas=1))
    assert left["spec"] == {"replicas": 1}


async def test_the_status_is_owned_apart(client: Client) -> None:
    await define(client, PORTS, subresources={"status": {}})
    made = await apply(client, {**cron_tab(replicas=1), "status": {"x": 1}})
    assert (made.get("status"), owners(made)) == (None, {"applier": {"f:spec": {"f:replicas": {}}}})
    report = {**cron_tab(replicas=9), "status": {}}
    reported = await client.patch(
        CRON_TABS,
        NAME,
        {**report, "metadata": {**report["metadata"], "labels": {"a": "b"}}},
        namespace="default",
        content_type=APPLY_PATCH,
        field_manager="reporter",
        subresource="status",
    )
    assert (reported["spec"], owners(reported)["reporter"]) == ({"replicas": 1}, {"f:status": {}})
    assert "labels" not in reported["metadata"]


@pytest.mark.parametrize(
    "given",
    [{"uid": "x"}, {"deletionGracePeriodSeconds": 7}, {"generateName": "a-"}, {"finalizers": ["no finalizer"]}],
    ids=lambda given: str(*given),
)
async def test_nothing_of_the_metadata_is_written_with_the_status(client: Client, given: Object) -> None:
    await define(client, PORTS, subresources={"status": {}})
    made = await apply(client, cron_tab(replicas=1))
    reported = await merge(client, {"metadata": given, "status": {}}, subresource="status")
    assert reported["status"] == {}
    written = ("resourceVersion", "managedFields")
    for each in (made, reported):
        assert all(each["metadata"].pop(field) for field in written)
    assert reported["metadata"] == made["metadata"]


async def test_true_is_not_1(client: Client) -> None:
    await define(client, ANY)
    made = await apply(client, cron_tab(free=1))
    same = await merge(client, {"spec": {"free": 1.0}})
    assert same["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    changed = await merge(client, {"spec": {"free": True}})
    assert changed["spec"]["free"] is True
    assert changed["metadata"]["generation"] == made["metadata"]["generation"] + 1
    assert list(owners(changed)) == ["updater"]
