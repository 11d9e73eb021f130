"""What somebody has written into the store past the API, as etcdctl or an older server would (apiserver
pkg/storage/etcd3 decoder.go, apimachinery serializer/versioning): it is read as the codec of the kind reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import DEPLOYMENTS, GVR, Object
from engine.client import Client
from engine.store.sqlite import SqliteStore
from engine.store.types import Put
from tests.apiserver.test_watch import next_event

SCALERS = GVR("autoscaling", "v2", "horizontalpodautoscalers")
SCALED = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
TEMPLATE: Object = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "image": "nginx:1.27", "colour": "red"}], "restartPolicy": "Always"},
}
SPEC: Object = {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE, "flavour": "sweet"}


async def put(store: SqliteStore, resource: str, api_version: str, kind: str, **fields: Any) -> None:
    metadata = {"name": "web", "namespace": "default", "uid": "1", "creationTimestamp": "2030-01-01T00:00:00Z"}
    body = {"spec": fields.pop("spec"), "apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
    await store.txn([], [Put(f"/registry/{resource}/default/web".encode(), json.dumps(body).encode())])


async def read(client: Client, how: str, gvr: GVR) -> Object:
    if how == "get":
        return await client.get(gvr, "web", namespace="default")
    version = "0" if how == "list of the cache" else None
    return (await client.list(gvr, namespace="default", resource_version=version)).items[0]


@pytest.mark.parametrize("version", ["apps/v1", "apps/v1beta2", "extensions/v1beta1"])
@pytest.mark.parametrize("how", ["get", "list", "list of the cache"])
async def test_it_has_its_defaults_and_no_fields_that_there_are_not(
    client: Client, store: SqliteStore, how: str, version: str
) -> None:
    await put(store, "deployments", version, "Deployment", spec=SPEC)
    found = await read(client, how, DEPLOYMENTS)
    if how == "get":
        assert (found["apiVersion"], found["kind"]) == ("apps/v1", "Deployment")
    assert list(found["spec"]) == [
        "replicas", "selector", "template", "strategy", "revisionHistoryLimit", "progressDeadlineSeconds",
    ]  # fmt: skip
    assert found["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": "25%"}
    (container,) = found["spec"]["template"]["spec"]["containers"]
    assert (container["imagePullPolicy"], "colour" in container) == ("IfNotPresent", False)


async def test_who_watches_sees_it_so(client: Client, store: SqliteStore) -> None:
    listed = await client.list(DEPLOYMENTS)
    watch = await client.watch(DEPLOYMENTS, resource_version=listed.resource_version)
    await put(store, "deployments", "apps/v1", "Deployment", spec=SPEC)
    event = await next_event(watch)
    assert (event.type, event.object["spec"]["replicas"], "flavour" in event.object["spec"]) == ("ADDED", 1, False)
    await watch.aclose()


async def test_another_version_is_converted(client: Client, store: SqliteStore) -> None:
    spec = {"scaleTargetRef": SCALED, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50}
    await put(store, "horizontalpodautoscalers", "autoscaling/v1", "HorizontalPodAutoscaler", spec=spec)
    found = await client.get(SCALERS, "web", namespace="default")
    assert (found["apiVersion"], found["spec"]["minReplicas"]) == ("autoscaling/v2", 1)
    target = {"type": "Utilization", "averageUtilization": 50}
    assert found["spec"]["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


@pytest.mark.parametrize(
    ("version", "kind", "why"),
    [
        pytest.param(
            "apps/v7",
            "Deployment",
            'no kind "Deployment" is registered for version "apps/v7" in scheme "pkg/api/legacyscheme/scheme.go:30"',
            id="a version that there is not",
        ),
        pytest.param(
            "v1", "Pod", "converting (v1.Pod) to (apps.Deployment): unknown conversion", id="an object of another kind"
        ),
    ],
)
async def test_what_is_none_of_the_kind_cannot_be_read(
    client: Client, store: SqliteStore, version: str, kind: str, why: str
) -> None:
    await put(store, "deployments", version, kind, spec={})
    with pytest.raises(ApiError) as caught:
        await client.get(DEPLOYMENTS, "web", namespace="default")
    assert caught.value.code == 500
    assert caught.value.message.endswith(f"object not decodable revision={store.revision}: {why}")


async def test_it_can_be_changed_as_any_other(client: Client, store: SqliteStore) -> None:
    await put(store, "deployments", "extensions/v1beta1", "Deployment", spec=SPEC)
    changed = await client.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 2}}, namespace="default")
    assert (changed["apiVersion"], changed["spec"]["replicas"], "flavour" in changed["spec"]) == ("apps/v1", 2, False)
