"""What a sync decides to do, from the Pod and what the runtime holds (upstream: TestComputePodActions)."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from engine.api.types import Object
from engine.kubelet.cri import PodSandboxState
from engine.kubelet.kuberuntime.actions import PodActions, compute_pod_actions
from engine.kubelet.kuberuntime.pod_status import PodRuntimeStatus
from tests.kubelet.states import Probes, container, exited, holds, pod, running, sandbox

NOTHING = holds(sandboxes=())
DEAD_SANDBOX = (sandbox(PodSandboxState.NOTREADY),)
INIT = (container("i1"), container("i2"))
SIDECAR = container("s", restartPolicy="Always")


class Decided(NamedTuple):
    kill_pod: bool = False
    sandbox: bool = False
    attempt: int = 0
    init: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    kill: tuple[str, ...] = ()


def decided(actions: PodActions) -> Decided:
    return Decided(
        actions.kill_pod,
        actions.create_sandbox,
        actions.attempt,
        tuple(item["name"] for item in actions.init_containers_to_start),
        tuple(item["name"] for item in actions.containers_to_start),
        tuple(kill.message for kill in actions.containers_to_kill),
    )


@pytest.mark.parametrize(
    ("of", "held", "probes", "expected"),
    [
        pytest.param(pod(), NOTHING, Probes(), Decided(True, True, 0, (), ("web",)), id="a new Pod"),
        pytest.param(pod(), holds(running()), Probes(), Decided(), id="everything runs"),
        pytest.param(pod(), holds(exited(code=0)), Probes(), Decided(start=("web",)), id="Always restarts success"),
        pytest.param(
            pod(restart="OnFailure"), holds(exited(code=0)), Probes(), Decided(kill_pod=True), id="OnFailure: success"
        ),
        pytest.param(
            pod(restart="OnFailure"), holds(exited(code=1)), Probes(), Decided(start=("web",)), id="OnFailure: failure"
        ),
        pytest.param(
            pod(restart="Never"), holds(exited(code=1)), Probes(), Decided(kill_pod=True), id="Never: failure"
        ),
        pytest.param(
            pod(container("a"), container("b"), restart="Never"),
            holds(exited("a", 0), running("b")),
            Probes(),
            Decided(),
            id="Never: one still runs",
        ),
        pytest.param(
            pod(container(restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}],
                          restartPolicy="Never"), restart="Never"),
            holds(exited(code=42)), Probes(), Decided(start=("web",)), id="a container's own rule",
        ),
        pytest.param(
            pod(), holds(running(), sandboxes=DEAD_SANDBOX), Probes(), Decided(True, True, 1, (), ("web",)),
            id="the sandbox died",
        ),
        pytest.param(
            pod(restart="Never"), holds(exited(), sandboxes=(sandbox(PodSandboxState.NOTREADY, 1),)), Probes(),
            Decided(True, False, 2), id="the sandbox of a Pod that is done died",
        ),
        pytest.param(
            pod(restart="OnFailure"), holds(exited(code=0), sandboxes=DEAD_SANDBOX), Probes(), Decided(True, False, 1),
            id="nothing to start in a new sandbox",
        ),
        pytest.param(
            pod(), holds(running(image="nginx:1.26")), Probes(),
            Decided(start=("web",), kill=("Container web definition changed, will be restarted",)), id="a new image",
        ),
        pytest.param(
            pod(), holds(running()), Probes(("liveness", "web-0")),
            Decided(start=("web",), kill=("Container web failed liveness probe, will be restarted",)), id="liveness",
        ),
        pytest.param(
            pod(restart="Never"), holds(running()), Probes(("startup", "web-0")),
            Decided(kill_pod=True, kill=("Container web failed startup probe",)), id="startup, Never",
        ),
        pytest.param(
            pod(init=INIT), NOTHING, Probes(), Decided(True, True, 0, ("i1",)), id="init containers come first"
        ),
        pytest.param(pod(init=INIT), holds(running("i1")), Probes(), Decided(), id="the first one runs"),
        pytest.param(pod(init=INIT), holds(exited("i1")), Probes(), Decided(init=("i2",)), id="then the next"),
        pytest.param(pod(init=INIT), holds(exited("i1", 1)), Probes(), Decided(init=("i1",)), id="a failed one again"),
        pytest.param(
            pod(init=INIT, restart="Never"), holds(exited("i1", 1)), Probes(), Decided(kill_pod=True),
            id="a failed one, Never",
        ),
        pytest.param(
            pod(init=INIT), holds(exited("i2"), exited("i1")), Probes(), Decided(start=("web",)), id="initialized"
        ),
        pytest.param(
            pod(init=(SIDECAR,)), holds(running("s")), Probes(unstarted=("s-0",)), Decided(),
            id="a sidecar has not started yet",
        ),
        pytest.param(
            pod(init=(SIDECAR,)), holds(running("s")), Probes(), Decided(start=("web",)), id="a sidecar has started"
        ),
        pytest.param(
            pod(init=(SIDECAR,)), holds(exited("s", 1), running()), Probes(), Decided(init=("s",)),
            id="a sidecar is restarted beside the others",
        ),
        pytest.param(
            pod(init=(SIDECAR,), restart="Never"), holds(running("s"), exited()), Probes(), Decided(kill_pod=True),
            id="a sidecar keeps no Pod alive",
        ),
        pytest.param(
            pod(init=INIT), holds(exited("i2")), Probes(), Decided(start=("web",)),
            id="the last init container tells that all are done",
        ),
        pytest.param(
            pod(init=INIT), holds(running()), Probes(), Decided(), id="none is begun again beside a regular one"
        ),
        pytest.param(
            pod(init=INIT, restart="Never"), holds(exited("i2", 1), exited("i1")), Probes(), Decided(kill_pod=True),
            id="the last one failed, Never",
        ),
        pytest.param(
            pod(init=(SIDECAR, INIT[1])), holds(running("s")), Probes(), Decided(init=("i2",)),
            id="behind a sidecar that has started",
        ),
        pytest.param(
            pod(init=(SIDECAR, INIT[1])), holds(exited("s", 1), running("i2")), Probes(), Decided(init=("s",)),
            id="a sidecar ended while another one runs",
        ),
        pytest.param(
            pod(init=(SIDECAR,)), holds(running()), Probes(), Decided(init=("s",)), id="a sidecar that was removed"
        ),
        pytest.param(
            pod(init=(SIDECAR,)), holds(running("s"), running()), Probes(("liveness", "s-0")),
            Decided(init=("s",), kill=("Init container s failed liveness probe",)), id="a sidecar's liveness",
        ),
        pytest.param(
            pod(init=(SIDECAR,)), holds(running("s")), Probes(("startup", "s-0"), unstarted=("s-0",)),
            Decided(init=("s",), kill=("Init container s failed startup probe",)), id="a sidecar's start",
        ),
        pytest.param(
            pod(init=(SIDECAR,)), holds(running("s", image="nginx:1.26"), running()), Probes(),
            Decided(init=("s",), kill=("Init container s definition changed",)), id="a sidecar's new image",
        ),
        pytest.param(
            pod(init=(container("i1", restartPolicy="OnFailure"),), restart="Never"), holds(exited("i1", 1)), Probes(),
            Decided(init=("i1",)), id="an init container's own policy",
        ),
        pytest.param(
            pod(container(restartPolicy="Never"), restart="Always"), holds(exited(code=1)), Probes(),
            Decided(kill_pod=True), id="a container's own policy: Never",
        ),
        pytest.param(
            pod(container("a", restartPolicy="Always"), container("b"), restart="Never"),
            holds(exited("a"), exited("b", 1)), Probes(), Decided(start=("a",)), id="a container's own policy: Always",
        ),
        pytest.param(
            pod(container(restartPolicy="Always", restartPolicyRules=[
                {"action": "Restart", "exitCodes": {"operator": "NotIn", "values": [1]}}]), restart="Never"),
            holds(exited(code=1)), Probes(), Decided(start=("web",)), id="no rule fits: the container's policy",
        ),
        pytest.param(
            pod(container(restartPolicy="Always"), restart="Never"), holds(running()), Probes(("liveness", "web-0")),
            Decided(start=("web",), kill=("Container web failed liveness probe, will be restarted",)),
            id="liveness and a container's own policy",
        ),
        pytest.param(
            pod(container(restartPolicy="Always"), restart="Never"),
            holds(exited(code=1), sandboxes=(sandbox(PodSandboxState.NOTREADY, 1),)), Probes(),
            Decided(True, True, 2, (), ("web",)), id="a new sandbox for a container with a policy of its own",
        ),
    ],
)  # fmt: skip
def test_decisions(of: Object, held: PodRuntimeStatus, probes: Probes, expected: Decided) -> None:
    assert decided(compute_pod_actions(of, held, probes)) == expected


def test_a_pod_that_is_being_deleted_gets_nothing_new() -> None:
    deleted = pod(deletionTimestamp="2026-01-01T00:00:00Z")

    assert compute_pod_actions(deleted, holds(exited(code=1)), Probes()).containers_to_start == []
