"""Phases, conditions and the patch that carries them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.api.types import Object
from engine.kubelet.cri import PodSandboxState, PodSandboxStatus
from engine.kubelet.cri.services import ContainerLog
from engine.kubelet.kuberuntime.pod_status import PodRuntimeStatus
from engine.kubelet.status.conditions import conditions
from engine.kubelet.status.container_statuses import container_statuses
from engine.kubelet.status.patch import status_patch
from engine.kubelet.status.phase import pod_phase
from engine.kubelet.status.reasons import ReasonCache
from tests.kubelet.states import container, created, holds, pod, running, sandbox

RUNS: Object = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
WAITS: Object = {"waiting": {"reason": "ContainerCreating"}}
SIDECAR = container("s", restartPolicy="Always")
INIT = container("i")


def ended(code: int) -> Object:
    return {"terminated": {"exitCode": code}}


def status(name: str, state: Object, *, last: Object | None = None, **flags: Any) -> Object:
    return {"name": name, "state": state, "lastState": last or {}, "ready": "running" in state, **flags}


@pytest.mark.parametrize(
    ("of", "statuses", "terminal", "phase"),
    [
        pytest.param(pod(), [], False, "Pending", id="nothing known"),
        pytest.param(pod(), [status("web", WAITS)], False, "Pending", id="waiting"),
        pytest.param(pod(), [status("web", RUNS)], False, "Running", id="running"),
        pytest.param(pod(), [status("web", ended(0))], False, "Running", id="Always: ended"),
        pytest.param(pod(), [status("web", WAITS, last=ended(1))], False, "Running", id="backing off"),
        pytest.param(pod(), [status("web", ended(137))], True, "Failed", id="Always, terminal: failed"),
        pytest.param(pod(), [status("web", ended(0))], True, "Succeeded", id="Always, terminal: succeeded"),
        pytest.param(pod(restart="OnFailure"), [status("web", ended(0))], False, "Succeeded", id="OnFailure: 0"),
        pytest.param(pod(restart="OnFailure"), [status("web", ended(1))], False, "Running", id="OnFailure: 1"),
        pytest.param(pod(restart="Never"), [status("web", ended(1))], False, "Failed", id="Never: 1"),
        pytest.param(
            pod(container("a"), container("b"), restart="Never"),
            [status("a", ended(1)), status("b", RUNS)],
            False,
            "Running",
            id="Never: one runs",
        ),
        pytest.param(
            pod(init=(INIT,)), [status("i", RUNS), status("web", WAITS)], False, "Pending", id="initializing"
        ),
        pytest.param(
            pod(init=(INIT,), restart="Never"), [status("i", ended(1)), status("web", WAITS)], False, "Failed",
            id="initialization failed",
        ),
        pytest.param(
            pod(init=(SIDECAR,)), [status("s", RUNS, started=True), status("web", RUNS)], False, "Running",
            id="beside a sidecar",
        ),
        pytest.param(
            pod(init=(SIDECAR,)), [status("s", WAITS, last=ended(1)), status("web", RUNS)], False, "Running",
            id="the sidecar restarts",
        ),
        pytest.param(
            pod(init=(SIDECAR,)), [status("s", RUNS, started=False), status("web", WAITS)], False, "Pending",
            id="the sidecar has not started",
        ),
        pytest.param(
            pod(init=(SIDECAR,)), [status("s", RUNS, started=False), status("web", RUNS)], False, "Running",
            id="the sidecar starts again",
        ),
        pytest.param(
            pod(init=(SIDECAR,), restart="Never"), [status("s", RUNS, started=True), status("web", ended(0))], False,
            "Running", id="the sidecar runs on for a moment",
        ),
        pytest.param(
            pod(init=(SIDECAR,), restart="Never"), [status("s", ended(137)), status("web", ended(0))], False,
            "Succeeded", id="the sidecar's end counts for nothing",
        ),
        pytest.param(
            pod(init=(INIT,)), [status("i", RUNS), status("web", RUNS)], False, "Pending", id="an init container runs"
        ),
        pytest.param(
            pod(init=(INIT,)), [status("i", WAITS, last=ended(1)), status("web", WAITS)], False, "Pending",
            id="an init container is tried again",
        ),
        pytest.param(
            pod(init=(container("i", restartPolicy="OnFailure"),), restart="Never"),
            [status("i", ended(1)), status("web", WAITS)], False, "Pending", id="by a policy of its own",
        ),
        pytest.param(
            pod(init=(container("i", restartPolicy="Never"),)), [status("i", ended(1)), status("web", WAITS)], False,
            "Failed", id="never by a policy of its own",
        ),
        pytest.param(
            pod(container(restartPolicy="Never")), [status("web", ended(0))], False, "Succeeded",
            id="a container's own Never",
        ),
        pytest.param(
            pod(container("a", restartPolicy="Always"), container("b"), restart="Never"),
            [status("a", ended(0)), status("b", ended(1))], False, "Running", id="one has a policy of its own",
        ),
        pytest.param(
            pod(restart="Never"), [status("web", WAITS, last=ended(0))], False, "Failed",
            id="Never: waiting after success",
        ),
    ],
)  # fmt: skip
def test_phases(of: Object, statuses: list[Object], terminal: bool, phase: str) -> None:
    assert pod_phase(of, statuses, terminal=terminal) == phase


class Nothing:
    """A runtime that has nothing left of its containers."""

    def read_file(self, container_id: str, path: str) -> str | None:
        return None

    def log(self, container_id: str) -> ContainerLog | None:
        return None


def shown(of: Object, held: PodRuntimeStatus, previous: list[Object], *, init: bool = False) -> Object:
    containers = of["spec"]["initContainers" if init else "containers"]
    [made] = container_statuses(of, held, containers, previous, init=init, reasons=ReasonCache(), leavings=Nothing())
    return made


LOST: Object = {
    "exitCode": 137,
    "reason": "ContainerStatusUnknown",
    "message": "The container could not be located when the pod was deleted.  The container used to be Running",
    "startedAt": None,
    "finishedAt": None,
}


def known(state: Object, *, last: Object | None = None) -> Object:
    return status("web", state, last=last, restartCount=2, containerID="containerd://web-0")


@pytest.mark.parametrize(
    ("held", "previous", "state", "last"),
    [
        pytest.param(holds(), [], {"waiting": {"reason": "ContainerCreating"}}, {}, id="not begun"),
        pytest.param(holds(created()), [], {"waiting": {}}, {}, id="created"),
        pytest.param(
            holds(), [known(RUNS)], {"waiting": {"reason": "ContainerCreating"}}, {"terminated": LOST}, id="lost"
        ),
        pytest.param(
            holds(), [known(RUNS, last=ended(3))], {"waiting": {"reason": "ContainerCreating"}}, ended(3),
            id="lost, and known how the one before it ended",
        ),
        pytest.param(holds(), [known(ended(3))], ended(3), {}, id="ended and removed"),
    ],
)  # fmt: skip
def test_statuses_of_containers(held: PodRuntimeStatus, previous: list[Object], state: Object, last: Object) -> None:
    made = shown(pod(), held, previous)
    assert (made["state"], made["lastState"]) == (state, last)


def test_an_init_container_that_nobody_knows_of_has_done_its_work_once_others_run() -> None:
    made = shown(pod(init=(INIT,)), holds(running()), [], init=True)
    assert (made["state"]["terminated"]["exitCode"], made["state"]["terminated"]["reason"]) == (0, "Completed")
    assert shown(pod(init=(SIDECAR,)), holds(running()), [], init=True)["state"] == {
        "waiting": {"reason": "PodInitializing"}
    }


@pytest.mark.parametrize(
    ("of", "statuses", "phase", "expected"),
    [
        pytest.param(
            pod(),
            [status("web", RUNS)],
            "Running",
            {"Initialized": "True", "ContainersReady": "True", "Ready": "True", "PodReadyToStartContainers": "True"},
            id="ready",
        ),
        pytest.param(
            pod(container("a"), container("b")),
            [status("a", WAITS), status("b", WAITS)],
            "Pending",
            {
                "Ready": "False ContainersNotReady containers with unready status: [a b]",
                "ContainersReady": "False ContainersNotReady containers with unready status: [a b]",
            },
            id="not ready",
        ),
        pytest.param(
            pod(init=(INIT,)),
            [status("i", RUNS, ready=False), status("web", WAITS)],
            "Pending",
            {"Initialized": "False ContainersNotInitialized containers with incomplete status: [i]"},
            id="not initialized",
        ),
        pytest.param(
            pod(), [status("web", ended(0))], "Succeeded",
            {"Ready": "False PodCompleted", "Initialized": "True PodCompleted"},
            id="completed",
        ),
        pytest.param(pod(), [status("web", ended(1))], "Failed", {"Ready": "False PodFailed"}, id="failed"),
    ],
)  # fmt: skip
def test_conditions(of: Object, statuses: list[Object], phase: str, expected: dict[str, str]) -> None:
    made = conditions(of, holds(), statuses, phase, ())
    told = {each["type"]: " ".join(filter(None, map(each.get, ("status", "reason", "message")))) for each in made}
    assert expected.items() <= told.items()


def test_conditions_stand_in_upstreams_order_with_those_of_others_first() -> None:
    gate = {"type": "example.com/gate", "status": "False"}
    gated = pod(generation=3)
    gated["spec"]["readinessGates"] = [{"conditionType": "example.com/gate"}, {"conditionType": "other"}]

    made = conditions(gated, holds(), [status("web", RUNS)], "Running", [gate])

    assert [item["type"] for item in made] == [
        "example.com/gate",
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ]
    assert {item.get("observedGeneration") for item in made[1:]} == {3}
    assert made[3]["reason"] == "ReadinessGatesNotReady"
    assert made[3]["message"] == (
        'the status of pod readiness gate "example.com/gate" is not "True", but False, '
        'corresponding condition of pod readiness gate "other" does not exist.'
    )


@pytest.mark.parametrize(
    ("sandboxes", "said"),
    [
        ((), "no pod sandbox exists"),
        ((sandbox(PodSandboxState.NOTREADY),), "pod sandbox is not ready"),
        ((sandbox(PodSandboxState.NOTREADY, 1), sandbox()), "pod sandbox is not ready"),
        ((replace(sandbox(), ips=()),), "pod sandbox has no IP address"),
    ],
)
def test_why_containers_cannot_be_started_yet(sandboxes: tuple[PodSandboxStatus, ...], said: str) -> None:
    made = conditions(pod(), holds(sandboxes=sandboxes), [status("web", WAITS)], "Pending", ())
    assert [made[0][key] for key in ("type", "status", "reason", "message")] == [
        "PodReadyToStartContainers", "False", "PodSandboxNotReady", said
    ]  # fmt: skip


# -- the patch

READY: Object = {"type": "Ready", "status": "True", "lastProbeTime": None}


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        pytest.param({"phase": "Running"}, {"phase": "Running"}, None, id="nothing"),
        pytest.param({}, {"phase": "Pending"}, {"phase": "Pending"}, id="a field more"),
        pytest.param({"reason": "Evicted"}, {}, {"reason": None}, id="a field less"),
        pytest.param(
            {"conditions": [{"type": "Ready", "status": "True"}]}, {"conditions": [READY]}, None, id="a null is nothing"
        ),
        pytest.param(
            {"conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}, {"type": "Mine"}]},
            {"conditions": [READY, {"type": "Mine"}]},
            {
                "$setElementOrder/conditions": [{"type": "Ready"}, {"type": "Mine"}],
                "conditions": [{"status": "True", "reason": None, "type": "Ready"}],
            },
            id="a condition",
        ),
        pytest.param(
            {"conditions": [{"type": "A"}, {"type": "B"}]},
            {"conditions": [{"type": "B"}]},
            {
                "$setElementOrder/conditions": [{"type": "B"}],
                "conditions": [{"$patch": "delete", "type": "A"}],
            },
            id="a condition less",
        ),
        pytest.param(
            {"containerStatuses": [{"name": "a", "ready": False}]},
            {"containerStatuses": [{"name": "a", "ready": True}]},
            {"containerStatuses": [{"name": "a", "ready": True}]},
            id="container statuses are replaced",
        ),
    ],
)
def test_patches_hold_what_differs(old: Object, new: Object, changes: Object | None) -> None:
    expected = None if changes is None else {"metadata": {"uid": "uid-1"}, "status": changes}

    assert status_patch("uid-1", old, new) == expected
