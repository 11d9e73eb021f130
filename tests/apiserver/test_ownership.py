"""What of a write belongs to its manager: what it sent, not what the server made of it (handlers/update.go)."""

from __future__ import annotations

import pytest

from engine.api.types import DEPLOYMENTS, GVR, PODS, SERVICES, Object
from engine.api.wire import MERGE_PATCH
from engine.apiserver.registry.options import manager_of
from engine.client import Client
from tests.apiserver.conftest import pod


def owners(obj: Object) -> list[tuple[str, str]]:
    return [(entry["manager"], entry.get("subresource", "")) for entry in obj["metadata"]["managedFields"]]


async def test_what_the_server_allots_on_an_update_is_nobodys(client: Client) -> None:
    service = {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    }  # fmt: skip
    made = await client.create(SERVICES, service, namespace="default")
    changed = {**made, "spec": {**made["spec"], "type": "NodePort"}}
    changed = await client.update(SERVICES, changed)
    assert changed["spec"]["ports"][0]["nodePort"]
    [mine] = changed["metadata"]["managedFields"]
    assert "f:type" in mine["fieldsV1"]["f:spec"]
    port = mine["fieldsV1"]["f:spec"]["f:ports"]['k:{"port":80,"protocol":"TCP"}']
    assert "f:port" in port
    assert "f:nodePort" not in port


async def test_a_binding_makes_the_scheduler_no_manager(client: Client, default_account: Object) -> None:
    made = await client.create(PODS, pod(), namespace="default")
    binding = {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web"}, "target": {"kind": "Node", "name": "node-1"}
    }  # fmt: skip
    await client.create(PODS, binding, namespace="default", name="web", subresource="binding")
    bound = await client.get(PODS, "web", namespace="default")
    assert bound["spec"]["nodeName"] == "node-1"
    assert owners(bound) == owners(made) == [("kubectl", "")]


@pytest.mark.parametrize(
    ("agent", "manager"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64)", "Mozilla"),
        (f"{'f' * 130}/Something", "f" * 128),
        ("🍔" * 60, "🍔" * 32),  # as many as fit into 128 bytes
        ("\x07a\u200bb/1", "ab"),
        ("/1.0", "unknown"),
    ],
)
def test_who_names_no_manager_is_called_by_its_user_agent(agent: str, manager: str) -> None:
    assert manager_of(agent) == manager


CONDITION = {"type": "Ready", "status": "True"}


@pytest.mark.parametrize(
    ("resource", "kind", "times"),
    [
        pytest.param(DEPLOYMENTS, "Deployment", ["lastTransitionTime", "lastUpdateTime"], id="Deployment"),
        pytest.param(GVR("", "v1", "nodes"), "Node", ["lastHeartbeatTime", "lastTransitionTime"], id="Node"),
        pytest.param(GVR("", "v1", "namespaces"), "Namespace", ["lastTransitionTime"], id="Namespace"),
        pytest.param(GVR("apps", "v1", "replicasets"), "ReplicaSet", ["lastTransitionTime"], id="ReplicaSet"),
    ],
)
async def test_the_times_of_a_new_condition_are_written_and_owned_though_nobody_sets_them(
    client: Client, resource: GVR, kind: str, times: list[str]
) -> None:
    template = {"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"app": "w"}}, "template": template} if resource.group == "apps" else {}
    namespace = "default" if spec else None
    metadata = {"name": "w", "labels": {"app": "w"}}
    body = {"apiVersion": resource.api_version, "kind": kind, "metadata": metadata, "spec": spec}
    await client.create(resource, body, namespace=namespace)
    patch = {"status": {"conditions": [CONDITION]}}
    after = await client.patch(
        resource, "w", patch, namespace=namespace, content_type=MERGE_PATCH, subresource="status", field_manager="me"
    )
    assert after["status"]["conditions"] == [CONDITION | dict.fromkeys(times)]
    [mine] = [entry["fieldsV1"] for entry in after["metadata"]["managedFields"] if entry["manager"] == "me"]
    element = mine["f:status"]["f:conditions"]['k:{"type":"Ready"}']
    assert list(element) == [".", *(f"f:{name}" for name in sorted([*times, "status", "type"]))]


async def test_the_time_of_a_series_is_written_and_owned_though_nobody_sets_it(client: Client) -> None:
    event = {
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "reason": "x",
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
    }  # fmt: skip
    events = GVR("", "v1", "events")
    await client.create(events, event, namespace="default")
    patch = {"series": {"count": 1}}
    after = await client.patch(events, "e", patch, namespace="default", content_type=MERGE_PATCH, field_manager="me")
    assert after["series"] == {"count": 1, "lastObservedTime": None}
    [mine] = [entry["fieldsV1"] for entry in after["metadata"]["managedFields"] if entry["manager"] == "me"]
    assert mine == {"f:series": {".": {}, "f:count": {}, "f:lastObservedTime": {}}}
