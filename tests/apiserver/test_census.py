"""Nodes and Pods in three numbers, for the screen's bar."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import GVR, NODES, PODS, Object
from engine.apiserver.debug.census import pod_state
from engine.client import Client


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({"phase": "Failed"}, "failed"),
        ({"phase": "Succeeded"}, "ready"),
        ({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}, "ready"),
        ({"phase": "Pending"}, "waiting"),
        ({"containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]}, "failed"),
    ],
)
def test_the_three_signs_of_pods(status: dict[str, object], state: str) -> None:
    assert pod_state({"status": status}) == state


SERVICEACCOUNTS = GVR("", "v1", "serviceaccounts")


async def counts(client: Client) -> tuple[Any, Any]:
    status = await client.request("GET", "/debug/ktui/status")
    return status["nodes"], status["pods"]


async def test_counts_follow_what_is_created_changed_and_deleted(client: Client) -> None:
    assert await counts(client) == ({"ready": 0, "waiting": 0, "failed": 0}, {"ready": 0, "waiting": 0, "failed": 0})
    await client.create(SERVICEACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
    await client.create(NODES, {"metadata": {"name": "node-1"}})
    pods: list[Object] = [await client.create(PODS, pod(f"web-{number}"), namespace="default") for number in range(3)]
    await client.update_status(PODS, {**pods[0], "status": {"phase": "Failed"}})
    assert await counts(client) == ({"ready": 0, "waiting": 1, "failed": 0}, {"ready": 0, "waiting": 2, "failed": 1})
    await client.update_status(PODS, {**pods[1], "status": {"phase": "Succeeded"}})
    await client.delete(PODS, "web-2", namespace="default", grace_period_seconds=0)
    assert (await counts(client))[1] == {"ready": 1, "waiting": 0, "failed": 1}


def pod(name: str) -> Object:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}}
