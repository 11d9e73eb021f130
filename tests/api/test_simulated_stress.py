"""What a container that runs `stress` uses: as the tasks on assigning memory and CPU print it."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.simulated_usage import usage


@pytest.mark.parametrize(
    ("container", "cpu", "memory"),
    [
        pytest.param({"image": "polinux/stress", "command": ["stress"],
                      "args": ["--vm", "1", "--vm-bytes", "150M", "--vm-hang", "1"]}, "1m", "150Mi", id="memory"),
        pytest.param({"image": "vish/stress", "args": ["-cpus", "2"], "resources": {"limits": {"cpu": "1"}}},
                     "1", "16Mi", id="as much CPU as it may have"),
        pytest.param({"image": "vish/stress:v1", "args": ["-cpus", "2", "-mem-total", "1Gi"]}, "2", "1Gi",
                     id="both"),
        pytest.param({"image": "progrium/stress", "args": ["-c", "1", "-m", "2", "--vm-bytes=64m"]}, "3", "128Mi",
                     id="those who take memory work for it"),
        pytest.param({"image": "polinux/stress", "command": ["sleep", "9"]}, "1m", "16Mi", id="another program"),
        pytest.param({"image": "nginx"}, "1m", "16Mi", id="a server"),
    ],
)  # fmt: skip
def test_stress_takes_what_it_is_told_to(container: dict[str, Any], cpu: str, memory: str) -> None:
    used = usage({"metadata": {}, "spec": {"containers": [{"name": "c", **container}]}}, {})["c"]

    assert {name: str(amount) for name, amount in used.items()} == {"cpu": cpu, "memory": memory}


def test_what_is_said_of_a_pod_counts_more() -> None:
    annotations = {"ktui.io/memory-usage": "20Mi"}
    container = {"name": "c", "image": "vish/stress", "args": ["-cpus", "2", "-mem-total", "1Gi"]}
    used = usage({"metadata": {"annotations": annotations}, "spec": {"containers": [container]}}, {})["c"]

    assert (str(used["cpu"]), str(used["memory"])) == ("2", "20Mi")


def test_nobody_takes_more_than_the_pod_as_a_whole_may_have() -> None:
    container = {"name": "c", "image": "vish/stress", "args": ["-cpus", "2"]}
    spec = {"containers": [container], "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "1"}}}
    assert str(usage({"metadata": {}, "spec": spec}, {})["c"]["cpu"]) == "1"
