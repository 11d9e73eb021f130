"""Which Pod of a workload is meant."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import pytest

from engine.api.types import PODS, SERVICE_ACCOUNTS, SERVICES
from engine.kubectl.main import run
from engine.kubectl.workload_pods import by_activity, by_logging
from tests.kubectl.served import served


def pod(
    *, node: str = "n", phase: str = "Running", ready: str = "", restarts: int = 0, created: str = "12:00"
) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": ready}] if ready else []
    return {
        "metadata": {"creationTimestamp": created},
        "spec": {"nodeName": node},
        "status": {"phase": phase, "conditions": conditions, "containerStatuses": [{"restartCount": restarts}]},
    }


# Each Pod comes before the next one.
FIRST = [
    pod(ready="12:01", created="12:02"),
    pod(ready="12:02", created="12:00"),
    pod(ready="12:02", created="12:01"),
    pod(created="12:00"),
    pod(phase="Unknown"),
    pod(phase="Pending"),
    pod(node="", phase="Pending", created="11:00"),
]


@pytest.mark.parametrize("order", [by_logging, by_activity])
def test_the_first_that_is_assigned_running_and_ready(order: Any) -> None:
    mixed = [*FIRST[3:], *FIRST[:3]]
    assert sorted(mixed, key=order) == FIRST


def test_logs_are_those_of_the_pod_with_most_restarts_all_else_of_the_one_with_least() -> None:
    often, seldom = pod(restarts=3), pod(restarts=1)
    assert min(seldom, often, key=by_logging) is often
    assert min(often, seldom, key=by_activity) is seldom


@pytest.mark.parametrize("argv", ["logs svc/web -c nope", "exec svc/web -c nope -- ls", "attach svc/web -c nope"])
async def test_the_first_pod_of_a_workload_is_waited_for(argv: str, tmp_path: Path) -> None:
    meta = {"name": "web", "labels": {"app": "web"}}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"selector": {"app": "web"}, "ports": [
        {"port": 80}]}}  # fmt: skip
    spec = {"containers": [{"name": "c", "image": "c"}], "automountServiceAccountToken": False}
    async with served(tmp_path) as server:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        await server.client.create(SERVICE_ACCOUNTS, account, namespace="default")
        await server.client.create(SERVICES, service, namespace="default")
        told = io.StringIO()
        asked = asyncio.create_task(
            run(f"-v=6 {argv}", client=server.client, stdout=told, stderr=told, clock=server.world.clock)
        )
        while "watch" not in told.getvalue():
            assert not asked.done(), told.getvalue()
            await asyncio.sleep(0)
        await server.client.create(
            PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}, namespace="default"
        )
        assert await asked == 1
    assert "container nope is not valid for pod web out of: c" in told.getvalue()
