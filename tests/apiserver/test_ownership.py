"""What of a write belongs to its manager: what it sent, not what the server made of it (handlers/update.go)."""

from __future__ import annotations

import pytest

from engine.api.types import PODS, SERVICES, Object
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
