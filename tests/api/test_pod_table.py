"""The table of Pods: READY, STATUS and RESTARTS in every state."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from tests.api.rows import ago, condition, shown


def state(**kind: Any) -> Object:
    return {"state": kind}


def pod(*, spec: Object | None = None, **status: Any) -> Object:
    return {"spec": {"containers": [{"name": "a"}, {"name": "b"}], **(spec or {})}, "status": status}


RUNNING = {"ready": True, "restartCount": 0, **state(running={})}
INIT = {"initContainers": [{"name": "i1"}, {"name": "i2"}]}
SIDECAR = {"initContainers": [{"name": "s", "restartPolicy": "Always"}]}


PODS: dict[str, tuple[Object, str, str, str]] = {
    "just made": (pod(phase="Pending"), "0/2", "Pending", "0"),
    "gated": (
        pod(phase="Pending", conditions=[condition("PodScheduled", "False", "SchedulingGated")]),
        "0/2",
        "SchedulingGated",
        "0",
    ),
    "creating": (
        pod(phase="Pending", containerStatuses=[state(waiting={"reason": "ContainerCreating"})]),
        "0/2",
        "ContainerCreating",
        "0",
    ),
    "running": (pod(phase="Running", containerStatuses=[RUNNING, RUNNING]), "2/2", "Running", "0"),
    "evicted": (pod(phase="Failed", reason="Evicted"), "0/2", "Evicted", "0"),
    "first init container": (
        pod(
            spec=INIT,
            phase="Pending",
            initContainerStatuses=[{"name": "i1", **state(running={})}, state(waiting={"reason": "PodInitializing"})],
        ),
        "0/2",
        "Init:0/2",
        "0",
    ),
    "second init container": (
        pod(
            spec=INIT,
            phase="Pending",
            initContainerStatuses=[state(terminated={"exitCode": 0}), state(waiting={"reason": "PodInitializing"})],
        ),
        "0/2",
        "Init:1/2",
        "0",
    ),
    "init container fails": (
        pod(
            spec=INIT,
            phase="Pending",
            initContainerStatuses=[{"restartCount": 3, **state(terminated={"exitCode": 1, "reason": "Error"})}],
        ),
        "0/2",
        "Init:Error",
        "3",
    ),
    "init container backs off": (
        pod(
            spec=INIT,
            phase="Pending",
            initContainerStatuses=[state(waiting={"reason": "CrashLoopBackOff"})],
        ),
        "0/2",
        "Init:CrashLoopBackOff",
        "0",
    ),
    "init container killed": (
        pod(spec=INIT, phase="Pending", initContainerStatuses=[state(terminated={"exitCode": 137, "signal": 9})]),
        "0/2",
        "Init:Signal:9",
        "0",
    ),
    "initialised, main containers wait": (
        pod(
            spec=INIT,
            phase="Pending",
            initContainerStatuses=[state(terminated={"exitCode": 0}), state(terminated={"exitCode": 0})],
            containerStatuses=[state(waiting={"reason": "PodInitializing"})],
        ),
        "0/2",
        "PodInitializing",
        "0",
    ),
    "a sidecar counts": (
        pod(
            spec=SIDECAR,
            phase="Running",
            initContainerStatuses=[
                {"name": "s", "started": True, "ready": True, "restartCount": 2, **state(running={})}
            ],
            containerStatuses=[RUNNING, RUNNING],
        ),
        "3/3",
        "Running",
        "2",
    ),
    "crash loop": (
        pod(
            phase="Running",
            containerStatuses=[
                {
                    "restartCount": 4,
                    "lastState": {"terminated": {"finishedAt": ago(5)}},
                    **state(waiting={"reason": "CrashLoopBackOff"}),
                },
                RUNNING,
            ],
        ),
        "1/2",
        "CrashLoopBackOff",
        "4 (5s ago)",
    ),
    "exit code without a reason": (
        pod(phase="Failed", containerStatuses=[state(terminated={"exitCode": 3})]),
        "0/2",
        "ExitCode:3",
        "0",
    ),
    "completed": (
        pod(phase="Succeeded", containerStatuses=[state(terminated={"exitCode": 0, "reason": "Completed"})]),
        "0/2",
        "Completed",
        "0",
    ),
    "one completed, one runs, not ready": (
        pod(
            phase="Running",
            containerStatuses=[state(terminated={"exitCode": 0, "reason": "Completed"}), RUNNING],
        ),
        "1/2",
        "NotReady",
        "0",
    ),
    "one completed, one runs, ready": (
        pod(
            phase="Running",
            conditions=[condition("Ready")],
            containerStatuses=[state(terminated={"exitCode": 0, "reason": "Completed"}), RUNNING],
        ),
        "1/2",
        "Running",
        "0",
    ),
    "terminating": (
        {
            **pod(phase="Running", containerStatuses=[RUNNING, RUNNING]),
            "metadata": {"deletionTimestamp": ago(1)},
        },
        "2/2",
        "Terminating",
        "0",
    ),
    "deleted when it had ended": (
        {**pod(phase="Failed", reason="Evicted"), "metadata": {"deletionTimestamp": ago(1)}},
        "0/2",
        "Evicted",
        "0",
    ),
    "on a lost node": (
        {**pod(phase="Running", reason="NodeLost"), "metadata": {"deletionTimestamp": ago(1)}},
        "0/2",
        "Unknown",
        "0",
    ),
}


@pytest.mark.parametrize("case", PODS)
def test_pod(case: str) -> None:
    obj, ready, status, restarts = PODS[case]
    row = shown("", "v1", "Pod", obj)
    assert (row["Ready"], row["Status"], row["Restarts"], row["Age"]) == (ready, status, restarts, "5m")


def test_wide_pod() -> None:
    row = shown(
        "",
        "v1",
        "Pod",
        pod(
            spec={"nodeName": "n", "readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}]},
            podIPs=[{"ip": "10.0.0.1"}],
            nominatedNodeName="m",
            conditions=[condition("a")],
        ),
    )
    assert (row["IP"], row["Node"], row["Nominated Node"], row["Readiness Gates"]) == ("10.0.0.1", "n", "m", "1/2")
    row = shown("", "v1", "Pod", pod())
    assert (row["IP"], row["Node"], row["Nominated Node"], row["Readiness Gates"]) == ("<none>",) * 4
