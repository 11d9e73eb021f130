"""Objects under their owners."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ktui.models.link import Link
from ktui.models.owner_tree import TITLES, OwnerTree, state_of
from ktui.models.table_view import TableView


def obj(name: str, owner: str = "", **rest: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": "default",
        "uid": name,
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    if owner:
        metadata["ownerReferences"] = [{"uid": owner, "controller": True}]
    return {"metadata": metadata, "spec": {}, "status": {}, **rest}


POD = obj(
    "web-1-a",
    "web-1",
    spec={"containers": [{"name": "main", "image": "nginx"}, {"name": "side", "image": "busybox"}]},
    status={
        "phase": "Running",
        "containerStatuses": [
            {"name": "main", "ready": True, "state": {"running": {}}},
            {"name": "side", "restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}}},
        ],
    },
)
FOUND = {
    "deployments.apps": [obj("web", spec={"replicas": 2}, status={"readyReplicas": 1})],
    "replicasets.apps": [obj("web-1", "web", spec={"replicas": 0}), obj("web-0", "web", spec={"replicas": 0})],
    "pods": [POD, obj("alone", "gone", spec={"containers": [{"name": "main"}]}, status={"phase": "Pending"})],
}


def test_owners_come_before_what_they_own_down_to_the_containers() -> None:
    tree = OwnerTree(FOUND)
    rows = tree.rows(datetime(2026, 1, 1, 0, 1, tzinfo=UTC))
    assert [row.cells for row in rows] == [
        ("◐ deployment/web", "1/2", "waiting", "60s"),
        ("├─ ✓ replicaset/web-0", "0/0", "", "60s"),
        ("└─ ✓ replicaset/web-1", "0/0", "", "60s"),
        ("   └─ ✖ pod/web-1-a", "1/2", "CrashLoopBackOff", "60s"),
        ("      ├─ ✓ main  nginx", "", "Running", ""),
        ("      └─ ✖ side  busybox", "", "CrashLoopBackOff ↻2", ""),
        ("◐ pod/alone", "0/1", "Pending", "60s"),
        ("└─ ◐ main  ", "", "Waiting", ""),
    ]
    assert tree.links()["web-1"] == Link("replicasets.apps", "web-1", "default")


@pytest.mark.parametrize(
    ("view", "names"),
    [
        pytest.param(
            TableView(sort="OBJECT", descending=True),
            [
                "◐ pod/alone", "└─ ◐ main  ", "◐ deployment/web", "├─ ✓ replicaset/web-1", "│  └─ ✖ pod/web-1-a",
                "│     ├─ ✖ side  busybox", "│     └─ ✓ main  nginx", "└─ ✓ replicaset/web-0",
            ],
            id="by name, downwards",
        ),
        pytest.param(
            TableView(sort="STATUS"),
            [
                "◐ pod/alone", "└─ ◐ main  ", "◐ deployment/web", "├─ ✓ replicaset/web-0", "└─ ✓ replicaset/web-1",
                "   └─ ✖ pod/web-1-a", "      ├─ ✖ side  busybox", "      └─ ✓ main  nginx",
            ],
            id="by status",
        ),
        pytest.param(TableView(text="side", descending=True), ["│     ├─ ✖ side  busybox"], id="the other way round"),
    ],
)  # fmt: skip
def test_siblings_are_sorted_below_their_owner(view: TableView, names: list[str]) -> None:
    rows = OwnerTree(FOUND).rows(None).arranged(view, TITLES)
    assert [row.cells[0] for row in rows] == names


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        pytest.param("daemonsets.apps", {"status": {"numberReady": 2, "desiredNumberScheduled": 3}}, "2/3", id="nodes"),
        pytest.param("jobs.batch", {"spec": {"completions": 4}, "status": {"succeeded": 1}}, "1/4", id="completions"),
        pytest.param("statefulsets.apps", {"spec": {"replicas": 1}, "status": {"readyReplicas": 1}}, "1/1", id="ready"),
    ],
)
def test_how_many_are_ready(kind: str, given: dict[str, Any], expected: str) -> None:
    assert state_of(kind, obj("a", **given))[0] == expected


def test_all_containers_of_a_pod_are_told() -> None:
    spec = {
        "initContainers": [{"name": "prepare", "image": "busybox"}],
        "containers": [{"name": "main", "image": "nginx"}],
        "ephemeralContainers": [{"name": "dbg", "image": "busybox"}],
    }
    running = {"state": {"running": {}}, "ready": False}
    status = {
        "initContainerStatuses": [ended("Completed", 0) | {"name": "prepare"}],
        "containerStatuses": [{"name": "main", **running}],
        "ephemeralContainerStatuses": [{"name": "dbg", **running}],
    }
    tree = OwnerTree({"pods": [obj("a", spec=spec, status=status)]})
    assert [row.cells[0].strip() for row in tree.rows(None)][1:] == [
        "├─ ✓ prepare  busybox  init", "├─ ◐ main  nginx", "└─ ✓ dbg  busybox  ephemeral",
    ]  # fmt: skip


def ended(reason: str, code: int) -> dict[str, Any]:
    return {"name": "main", "state": {"terminated": {"reason": reason, "exitCode": code}}}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(
            {"phase": "Succeeded", "containerStatuses": [ended("Completed", 0)]}, ("0/1", "Completed", "✓"), id="done"
        ),
        pytest.param({"phase": "Failed", "containerStatuses": [ended("Error", 1)]}, ("0/1", "Error", "✖"), id="failed"),
        pytest.param({"phase": "Failed", "reason": "Evicted"}, ("0/1", "Evicted", "✖"), id="evicted"),
        pytest.param(
            {
                "phase": "Pending",
                "initContainerStatuses": [
                    {"name": "i", "state": {"waiting": {"reason": "CreateContainerConfigError"}}}
                ],
            },
            ("0/1", "Init:CreateContainerConfigError", "✖"),
            id="an init container that cannot be made",
        ),
        pytest.param(
            {"phase": "Running", "containerStatuses": [ended("OOMKilled", 137)]}, ("0/1", "OOMKilled", "✖"), id="killed"
        ),
        pytest.param({"phase": "Pending"}, ("0/1", "Pending", "◐"), id="waits"),
    ],
)
def test_a_pod_is_told_as_kubectl_tells_it(status: dict[str, Any], expected: tuple[str, str, str]) -> None:
    spec = {"containers": [{"name": "main"}], "initContainers": [{"name": "i"}]}
    assert state_of("pods", obj("a", spec=spec, status=status)) == expected
