"""Which Pod of a workload is meant."""

from __future__ import annotations

from typing import Any

import pytest

from engine.kubectl.workload_pods import by_activity, by_logging


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
