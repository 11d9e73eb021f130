"""What the real kubectl makes of the simulated resource metrics, and ours the same."""

from __future__ import annotations

import json
import time

from tests.conformance.conftest import Kubectl
from tests.engine_process import Home, Ran

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "annotations": {"ktui.io/cpu-usage": "300m", "ktui.io/memory-usage": "192Mi"}},
    "spec": {"containers": [{"name": "a", "image": "nginx"}, {"name": "b", "image": "redis"}]},
}
SAME = (
    "top pods --sum --show-swap",
    "top pod web --no-headers --use-protocol-buffers=false",
    "top pods -l app=nope",
    "top nodes -l kubernetes.io/hostname=node-3 --show-capacity --show-swap",
    "get podmetrics",
)


def test_top(kubectl: Kubectl, home: Home, namespace: str) -> None:
    kubectl("apply", "-f", "-", stdin=json.dumps(POD)).ok()
    kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=60s").ok()
    measured = _measured(kubectl)
    assert measured.splitlines() == [
        "POD   NAME   CPU(cores)   MEMORY(bytes)   ",
        "web   a      150m         96Mi            ",
        "web   b      150m         96Mi            ",
    ]
    nodes = kubectl("top", "nodes").ok().splitlines()
    assert [line.split()[0] for line in nodes] == ["NAME", "node-1", "node-2", "node-3"]
    for words in SAME:
        real, ours = kubectl(*words.split()), home.ktui(*words.split(), "--namespace", namespace)
        assert _printed(real) == _printed(ours), words


def _measured(kubectl: Kubectl) -> str:
    """The first sample comes within 25 seconds of a container's start; here a minute lasts a second."""
    _speed(kubectl, 60)
    end = time.monotonic() + 60
    found = kubectl("top", "pods", "--containers")
    while found.code and time.monotonic() < end:
        assert "metrics not available yet" in found.err
        found = kubectl("top", "pods", "--containers")
    _speed(kubectl, 1)
    return found.ok()


def _speed(kubectl: Kubectl, speed: float) -> None:
    kubectl("replace", "--raw", "/debug/ktui/clock", "-f", "-", stdin=json.dumps({"speed": speed})).ok()


def _printed(ran: Ran) -> tuple[int, str, str]:
    return ran.code, ran.out, ran.err
