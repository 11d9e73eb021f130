"""Why an object of the Tree is as it is, in words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ktui.widgets.owned_details import event_parts, owned_parts

NOW = datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
SINCE = "2026-01-01T00:00:30Z"


def pod(phase: str, conditions: list[dict[str, Any]], **status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "crash", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "busybox"}]},
        "status": {"phase": phase, "conditions": conditions, **status},
    }


def condition(type: str, status: str, **rest: str) -> dict[str, str]:
    return {"type": type, "status": status, "lastTransitionTime": SINCE, **rest}


CRASHED = {
    "name": "c",
    "restartCount": 2,
    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 20s restarting failed container"}},
    "lastState": {"terminated": {"reason": "Error", "exitCode": 3, "message": "no config\n"}},
}
NOT_READY = condition("Ready", "False", reason="ContainersNotReady", message="containers with unready status: [c]")
ROWS = {
    "a condition that holds says no more": (
        pod("Running", [condition("Initialized", "True")]),
        ["✓ Initialized True  30s"],
    ),
    "one that does not says why": (
        pod("Running", [NOT_READY]),
        ["◐ Ready False  30s  ContainersNotReady", "  containers with unready status: [c]"],
    ),
    "one that is bad when it holds": (
        pod(
            "Running",
            [condition("DisruptionTarget", "True", reason="EvictionByEvictionAPI", message="Eviction API: evicting")],
        ),
        ["◐ DisruptionTarget True  30s  EvictionByEvictionAPI", "  Eviction API: evicting"],
    ),
    "nobody waits for a Pod that is done": (
        pod("Succeeded", [condition("Ready", "False", reason="PodCompleted")]),
        ["✓ Ready False  30s  PodCompleted"],
    ),
    "a container that fails: its state, and how it ended before": (
        pod("Running", [], containerStatuses=[CRASHED]),
        [
            "✖ c  CrashLoopBackOff  2 restarts",
            "  back-off 20s restarting failed container",
            "  ended Error with exit code 3: no config",
        ],
    ),
}


@pytest.mark.parametrize(("obj", "lines"), ROWS.values(), ids=ROWS)
def test_an_object(obj: dict[str, Any], lines: list[str]) -> None:
    text = [part.plain for part in owned_parts("pods", obj, NOW, {})]
    start = text.index(lines[0])
    assert text[start : start + len(lines)] == lines


def test_a_deployment_has_no_containers_of_its_own() -> None:
    deployment = {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 3},
        "status": {"readyReplicas": 1, "conditions": [condition("ReplicaFailure", "False")]},
    }
    text = [part.plain for part in owned_parts("deployments.apps", deployment, NOW, {})]
    assert text == [
        "web  deployments.apps in default",
        "◐ 1/3 waiting",
        "",
        "conditions",
        "✓ ReplicaFailure False  30s",
    ]


def test_events_the_newest_first() -> None:
    events: list[dict[str, Any]] = [
        {
            "type": "Normal",
            "reason": "Pulled",
            "message": "pulled",
            "lastTimestamp": "2026-01-01T00:00:10Z",
            "count": 1,
        },
        {"type": "Warning", "reason": "BackOff", "message": "back-off", "lastTimestamp": SINCE, "count": 4},
        {"type": "Normal", "reason": "Scheduled", "message": "assigned", "eventTime": "2026-01-01T00:00:01Z"},
    ]
    named = [{"metadata": {"name": str(number)}, **event} for number, event in enumerate(events)]
    assert [part.plain for part in event_parts(named, NOW, {})][2:] == [
        "✖ BackOff  30s ×4",
        "  back-off",
        "· Pulled  50s",
        "  pulled",
        "· Scheduled  59s",
        "  assigned",
    ]
    assert "none in the last hour" in [part.plain for part in event_parts([], NOW, {})]
