"""The node map of the debug endpoints: which Pods are on which Node, and how they fare."""

from __future__ import annotations

from typing import Any

from engine.api.types import GVR, NODES, PODS, Object
from engine.client import Client

SERVICEACCOUNTS = GVR("", "v1", "serviceaccounts")


async def told(client: Client) -> dict[str, Any]:
    return {node["name"]: node for node in (await client.request("GET", "/debug/ktui/nodes"))["nodes"]}


def pod(name: str, node: str) -> Object:
    return {
        "metadata": {"name": name},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "nginx"}]},
    }


async def test_pods_stand_on_their_nodes_those_that_fail_first(client: Client) -> None:
    await client.create(SERVICEACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
    for node in ("node-2", "node-1"):
        await client.create(NODES, {"metadata": {"name": node, "labels": {"zone": "a"}}, "spec": {"podCIDR": ""}})
    pods = [await client.create(PODS, pod(name, "node-1"), namespace="default") for name in ("a", "b", "c", "d")]
    assert list(await told(client)) == ["node-1", "node-2"]
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    await client.update_status(PODS, {**pods[0], "status": {"phase": "Succeeded"}})
    await client.update_status(PODS, {**pods[1], "status": ready})
    await client.update_status(PODS, {**pods[2], "status": {"phase": "Failed"}})
    node = (await told(client))["node-1"]
    assert [(tile["pod"], tile["state"]) for tile in node["pods"]] == [
        ("default/c", "failed"),
        ("default/d", "waiting"),
        ("default/b", "ready"),
        ("default/a", "done"),
    ]
    assert (node["ready"], node["podCount"], node["labels"]["zone"]) == ("", 4, "a")
    assert node["endedPods"] == 2  # they take no room any more
    await client.delete(PODS, "d", namespace="default")
    assert [tile["state"] for tile in (await told(client))["node-1"]["pods"]] == ["failed", "ending", "ready", "done"]
    assert (await told(client))["node-2"]["pods"] == []
