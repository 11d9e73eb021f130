"""Definitions of what the server has itself, which change nothing of it: upstream's tests of shadowed groups and of
overlapping schemas (test/integration/controlplane/crd_test.go and kube_apiserver_test.go)."""

from __future__ import annotations

import orjson
import pytest

from engine.api.types import GVR, Object
from engine.api.wire import APPLY_PATCH
from engine.client import Client
from engine.clock import VirtualClock

DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")
POLICIES = GVR("networking.k8s.io", "v1", "networkpolicies")
SERVER = "apis.pkg.apiextensions-apiserver.k8s.io"  # its Go package, as its definitions are named
PROBE = "overlapProbe"
A_WHILE = 5.0


def definition(group: str, plural: str, kind: str, scope: str = "Cluster", version: str = "v1") -> Object:
    schema = {"openAPIV3Schema": {"type": "object", "properties": {PROBE: {"type": "boolean"}}}}
    versions = [{"name": version, "served": True, "storage": True, "schema": schema}]
    approved = {"api-approved.kubernetes.io": "unapproved, test-only"}
    return {
        "apiVersion": DEFINITIONS.api_version,
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": approved},
        "spec": {"group": group, "scope": scope, "names": {"plural": plural, "kind": kind}, "versions": versions},
    }


async def document(client: Client) -> Object:
    body = (await client.send("GET", "/openapi/v2")).body
    made: Object = orjson.loads(body) if isinstance(body, bytes) else body
    return made


def probed(openapi: Object) -> list[str]:
    return sorted(name for name, raw in openapi["definitions"].items() if PROBE in raw.get("properties", {}))


@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_a_definition_of_definitions_changes_none(
    client: Client, virtual_clock: VirtualClock, version: str
) -> None:
    before = await document(client)
    own = "customresourcedefinitions"
    await client.create(DEFINITIONS, definition(DEFINITIONS.group, own, "CustomResourceDefinition", version=version))
    await client.create(DEFINITIONS, definition("test.com", "foos", "Foo"))
    await virtual_clock.sleep(A_WHILE)
    after = await document(client)
    name = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"
    path = f"{DEFINITIONS.path()}/{{name}}"
    assert before["definitions"][name] == after["definitions"][name]
    assert before["paths"][path] == after["paths"][path]
    assert probed(after) == [
        "com.test.v1.Foo",
        *(["io.k8s.apiextensions.v2.CustomResourceDefinition"] * (version == "v2")),
    ]
    assert len((await client.list(DEFINITIONS)).items) == 2
    await client.delete(DEFINITIONS, f"{own}.{DEFINITIONS.group}")
    await virtual_clock.sleep(A_WHILE)
    assert [each["metadata"]["name"] for each in (await client.list(DEFINITIONS)).items] == ["foos.test.com"]


async def test_what_has_the_name_of_a_built_in_schema_gets_a_number(client: Client) -> None:
    before = await document(client)
    pods, group = "core.api.k8s.io", f"apiextensions.{SERVER}"
    await client.create(DEFINITIONS, definition(group, "customresourcedefinitions", "CustomResourceDefinition"))
    await client.create(DEFINITIONS, definition(pods, "pods", "Pod", "Namespaced"))
    await client.create(DEFINITIONS, definition("test.com", "foos", "Foo"))
    after = await document(client)
    for name, raw in before["definitions"].items():
        assert after["definitions"][name] == raw
    pod = "io.k8s.api.core.v1.Pod"
    assert probed(after) == [
        "com.test.v1.Foo",
        f"{pod}_v2",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition_v2",
    ]
    items = after["definitions"][f"{pod}List_v2"]["properties"]["items"]["items"]
    assert items == {"$ref": f"#/definitions/{pod}_v2"}
    made = await client.create(
        GVR(pods, "v1", "pods"),
        {"apiVersion": f"{pods}/v1", "kind": "Pod", "metadata": {"name": "x"}, PROBE: True},
        namespace="default",
    )
    assert made[PROBE] is True
    labelled: Object = {"apiVersion": DEFINITIONS.api_version, "kind": "CustomResourceDefinition"}
    labelled |= {"metadata": {"name": "foos.test.com", "labels": {"a": "b"}}}
    applied = await client.patch(DEFINITIONS, "foos.test.com", labelled, content_type=APPLY_PATCH, field_manager="me")
    assert applied["spec"]["names"]["kind"] == "Foo"


async def test_objects_of_the_server_stay_when_their_definition_goes(
    client: Client, virtual_clock: VirtualClock
) -> None:
    made = definition(POLICIES.group, POLICIES.resource, "NetworkPolicy", "Namespaced")
    await client.create(DEFINITIONS, made)
    policy = {"apiVersion": POLICIES.api_version, "kind": "NetworkPolicy", "metadata": {"name": "np"}}
    await client.create(POLICIES, {**policy, "spec": {"podSelector": {}}}, namespace="default")
    await client.delete(DEFINITIONS, made["metadata"]["name"])
    await virtual_clock.sleep(A_WHILE)
    assert (await client.list(DEFINITIONS)).items == []
    found = await client.get(POLICIES, "np", namespace="default")
    assert found["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"]}


async def test_watches_of_the_servers_own_go_on(client: Client, virtual_clock: VirtualClock) -> None:
    made = definition(API_SERVICES.group, API_SERVICES.resource, "APIService", version="v9")
    listed = await client.list(API_SERVICES)
    async with await client.watch(API_SERVICES, resource_version=listed.resource_version) as watch:
        await client.create(DEFINITIONS, made)
        await client.delete(DEFINITIONS, made["metadata"]["name"])
        await virtual_clock.sleep(A_WHILE)
        await client.create(DEFINITIONS, definition("test.com", "foos", "Foo"))
        event = await anext(aiter(watch))
    assert event.object["metadata"]["name"] == "v1.test.com"
