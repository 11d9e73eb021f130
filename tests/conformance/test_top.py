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
    """The first sample comes within 25 seconds of a container's start."""
    end = time.monotonic() + 90
    while time.monotonic() < end:
        found = kubectl("top", "pods", "--containers")
        if found.code == 0:
            return found.out
        assert "metrics not available yet" in found.err
        time.sleep(5)
    raise AssertionError("no sample")


def _printed(ran: Ran) -> tuple[int, str, str]:
    return ran.code, ran.out, ran.err
