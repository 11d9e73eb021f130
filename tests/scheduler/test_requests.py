"""What a pod requests (component-helpers/resource helpers_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.scheduler.pod_info import PodInfo
from tests.scheduler.objects import container, pod

MIB = 1024 * 1024


def requests(**amounts: Any) -> dict[str, Any]:
    return {"requests": {key.replace("_", "-"): value for key, value in amounts.items()}}


CASES = {
    "no requests": ({"containers": [container()]}, 0, 0),
    "containers add up": (
        {"containers": [container("a", **requests(cpu="1")), container("b", **requests(cpu="500m", memory="1Mi"))]},
        1500,
        MIB,
    ),
    "the largest init container where it is more": (
        {
            "containers": [container("a", **requests(cpu="1", memory="1Mi"))],
            "initContainers": [container("i", **requests(cpu="2")), container("j", **requests(memory="3Mi"))],
        },
        2000,
        3 * MIB,
    ),
    "a sidecar runs beside the containers": (
        {
            "containers": [container("a", **requests(cpu="1"))],
            "initContainers": [container("s", restartPolicy="Always", **requests(cpu="300m"))],
        },
        1300,
        0,
    ),
    "a sidecar runs beside later init containers only": (
        {
            "containers": [container("a", **requests(cpu="100m"))],
            "initContainers": [
                container("first", **requests(cpu="1")),
                container("s", restartPolicy="Always", **requests(cpu="300m")),
                container("last", **requests(cpu="800m")),
            ],
        },
        1100,
        0,
    ),
    "overhead comes on top": (
        {"containers": [container("a", **requests(cpu="1"))], "overhead": {"cpu": "250m", "memory": "1Mi"}},
        1250,
        MIB,
    ),
    "pod-level resources replace the sum": (
        {
            "containers": [container("a", **requests(cpu="1", memory="1Mi"))],
            "resources": {"requests": {"cpu": "3"}},
        },
        3000,
        MIB,
    ),
}


@pytest.mark.parametrize(("spec", "cpu", "memory"), CASES.values(), ids=CASES)
def test_requests(spec: dict[str, Any], cpu: int, memory: int) -> None:
    request = PodInfo(pod("p", **spec)).request
    assert (request.milli_cpu, request.memory) == (cpu, memory)


def test_defaults_stand_in_for_missing_requests_when_nodes_are_compared() -> None:
    info = PodInfo(pod("p", containers=[container("a"), container("b", **requests(cpu="1"))]))
    assert info.request.milli_cpu == 1000
    assert (info.non_zero_cpu, info.non_zero_memory) == (1100, 400 * MIB)


def test_extended_resources_are_counted_and_others_are_not() -> None:
    wanted = requests(**{"example.com/gpu": "2", "hugepages-2Mi": "4Mi"})
    request = PodInfo(pod("p", containers=[container("a", **wanted)])).request
    assert request.scalar == {"example.com/gpu": 2, "hugepages-2Mi": 4 * MIB}


INFEASIBLE = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
DEFERRED = {"type": "PodResizePending", "status": "True", "reason": "Deferred"}
WHOLE = {"resources": {"requests": {"cpu": "3"}}}


def told(name: str = "app", *, runs: str = "", allocated: str = "") -> dict[str, Any]:
    """A container's status: the cpu that it runs with, and that it was admitted with."""
    made: dict[str, Any] = {"name": name}
    if runs:
        made["resources"] = {"requests": {"cpu": runs}}
    if allocated:
        made["allocatedResources"] = {"cpu": allocated}
    return made


# By name the rest of a spec whose container asks for 1 cpu, the status, and the milli cpu that are counted.
RESIZES: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "runs with more": ({}, {"containerStatuses": [told(runs="2")]}, 2000),
    "runs with less": ({}, {"containerStatuses": [told(runs="500m")]}, 1000),
    "was admitted with more": ({}, {"containerStatuses": [told(runs="500m", allocated="3")]}, 3000),
    "tells what was admitted alone": ({}, {"containerStatuses": [told(allocated="3")]}, 3000),
    "tells of no resources": ({}, {"containerStatuses": [{"name": "app"}]}, 1000),
    "deferred": ({}, {"containerStatuses": [told(runs="500m")], "conditions": [DEFERRED]}, 1000),
    "infeasible": ({}, {"containerStatuses": [told(runs="500m")], "conditions": [INFEASIBLE]}, 500),
    "infeasible with more admitted": (
        {},
        {"containerStatuses": [told(runs="500m", allocated="700m")], "conditions": [INFEASIBLE]},
        700,
    ),
    "the sums are compared": (
        {"containers": [container("a", **requests(cpu="1")), container("b", **requests(cpu="2"))]},
        {"containerStatuses": [told("a", runs="2"), told("b", runs="1500m")]},
        3500,
    ),
    "a sidecar": (
        {
            "containers": [container("a", **requests(cpu="1"))],
            "initContainers": [container("s", restartPolicy="Always", **requests(cpu="1"))],
        },
        {"initContainerStatuses": [told("s", runs="2")]},
        3000,
    ),
    "the pod tells for its containers": (
        {},
        {
            "containerStatuses": [told(runs="2")],
            "resources": {"requests": {"cpu": "1500m"}},
            "allocatedResources": {"cpu": "1200m"},
        },
        1500,
    ),
    "the pod as a whole runs with more": (
        WHOLE,
        {"resources": {"requests": {"cpu": "4"}}, "allocatedResources": {"cpu": "3"}},
        4000,
    ),
    "the pod as a whole was admitted with more": (
        WHOLE,
        {"resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "5"}},
        5000,
    ),
    "the pod as a whole cannot be resized": (
        WHOLE,
        {
            "resources": {"requests": {"cpu": "2"}},
            "allocatedResources": {"cpu": "2"},
            "conditions": [INFEASIBLE],
        },
        2000,
    ),
}


@pytest.mark.parametrize(("spec", "status", "cpu"), RESIZES.values(), ids=RESIZES)
def test_resizes_in_place(spec: dict[str, Any], status: dict[str, Any], cpu: int) -> None:
    assert PodInfo(pod("p", cpu="1", status=status, **spec)).request.milli_cpu == cpu
