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


def resized(reported: str, *, infeasible: bool = False) -> PodInfo:
    status: dict[str, Any] = {
        "containerStatuses": [{"name": "app", "resources": {"requests": {"cpu": reported}}}],
    }
    if infeasible:
        status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
    return PodInfo(pod("p", cpu="1", status=status))


def test_a_container_that_is_being_resized_counts_with_the_larger_figure() -> None:
    assert resized("2").request.milli_cpu == 2000
    assert resized("500m").request.milli_cpu == 1000


def test_an_infeasible_resize_counts_with_what_is_held() -> None:
    assert resized("500m", infeasible=True).request.milli_cpu == 500
