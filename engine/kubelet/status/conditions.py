"""The conditions that the kubelet owns, with their reasons and messages (pkg/kubelet/status generate.go)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.kuberuntime import restarting
from engine.kubelet.kuberuntime.pod_status import PodRuntimeStatus, sandbox_flaw
from engine.kubelet.status.phase import any_regular_started

OWNED = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
    "PodResizePending",
    "PodResizeInProgress",
    restarting.CONDITION,
)


def conditions(
    pod: Object,
    status: PodRuntimeStatus,
    statuses: Sequence[Object],
    phase: str,
    others: Sequence[Object],
    previous: Object | None = None,
) -> list[Object]:
    """All conditions in upstream's order: `others`, which are not the kubelet's, first. `previous` is the status as it
    was last known, if it was."""
    previous = previous or {}
    ready = _containers_ready(pod, statuses, phase)
    made = [
        *(dict(condition) for condition in others),
        _ready_to_start_containers(pod, status),
        _initialized(pod, statuses, phase, previous),
        _pod_ready(pod, ready, others),
        ready,
        _condition(pod, "PodScheduled", True),
    ]
    if restarting.could_restart_all(pod):
        made.append(_all_restarting(pod, status, phase, previous))
    return made


def _condition(pod: Object, type: str, status: bool, reason: str = "", message: str = "") -> Object:
    made: Object = {"lastProbeTime": None, "status": "True" if status else "False", "type": type}
    if generation := pod["metadata"].get("generation"):
        made["observedGeneration"] = generation
    if reason:
        made["reason"] = reason
    if message:
        made["message"] = message
    return made


def _names(names: Sequence[str]) -> str:
    """A slice of strings as Go prints it."""
    return f"[{' '.join(names)}]"


def _ready_to_start_containers(pod: Object, status: PodRuntimeStatus) -> Object:
    flaw = sandbox_flaw(pod, status)
    return _condition(pod, "PodReadyToStartContainers", not flaw, "PodSandboxNotReady" if flaw else "", flaw)


def _containers_ready(pod: Object, statuses: Sequence[Object], phase: str) -> Object:
    known = {status["name"]: status for status in statuses}
    watched = [c for c in pods.init_containers_of(pod) if pods.is_sidecar(c)] + pods.containers_of(pod)
    unknown = [c["name"] for c in watched if c["name"] not in known]
    unready = [c["name"] for c in watched if c["name"] in known and not known[c["name"]].get("ready")]
    if phase == "Succeeded" and not unknown:
        return _condition(pod, "ContainersReady", False, "PodCompleted")
    if phase == "Failed":
        return _condition(pod, "ContainersReady", False, "PodFailed")
    messages = []
    if unknown:
        messages.append(f"containers with unknown status: {_names(unknown)}")
    if unready:
        messages.append(f"containers with unready status: {_names(unready)}")
    if messages:
        return _condition(pod, "ContainersReady", False, "ContainersNotReady", ", ".join(messages))
    return _condition(pod, "ContainersReady", True)


def _pod_ready(pod: Object, containers_ready: Object, others: Sequence[Object]) -> Object:
    if containers_ready["status"] != "True":
        return {**containers_ready, "type": "Ready"}
    known = {condition["type"]: condition for condition in others}
    messages = []
    for gate in pod["spec"].get("readinessGates") or ():
        type = gate["conditionType"]
        if type not in known:
            messages.append(f'corresponding condition of pod readiness gate "{type}" does not exist.')
        elif known[type]["status"] != "True":
            messages.append(f'the status of pod readiness gate "{type}" is not "True", but {known[type]["status"]}')
    if messages:
        return _condition(pod, "Ready", False, "ReadinessGatesNotReady", ", ".join(messages))
    return _condition(pod, "Ready", True)


def _all_restarting(pod: Object, status: PodRuntimeStatus, phase: str, previous: Object) -> Object:
    """True from the exit that asks for it until nothing is left of the containers; of which generation is not said."""
    made: Object = {"lastProbeTime": None, "status": "False", "type": restarting.CONDITION}
    if phase in pods.TERMINAL_PHASES:
        made["reason"] = "PodCompleted" if phase == "Succeeded" else "PodFailed"
    elif restarting.should_restart_all(pod, status, previous) and not restarting.is_cleaned_up(pod, status):
        why = {"reason": "RestartAllContainersStarted", "message": "container exited with restart policy rule"}
        made.update(status="True", **why)
    return made


def _initialized(pod: Object, statuses: Sequence[Object], phase: str, previous: Object) -> Object:
    known = {status["name"]: status for status in statuses}
    unknown, incomplete = [], []
    for container in pods.init_containers_of(pod):
        status = known.get(container["name"])
        if status is None:
            unknown.append(container["name"])
        elif not status.get("started" if pods.is_sidecar(container) else "ready"):
            incomplete.append(container["name"])
    if phase == "Succeeded" and not unknown:
        return _condition(pod, "Initialized", True, "PodCompleted")
    if any_regular_started(pod, statuses):
        return _condition(pod, "Initialized", True)
    messages = []
    if (unknown or incomplete) and any(
        item["type"] == "Initialized" and item["status"] == "True" for item in previous.get("conditions") or ()
    ):
        return _condition(pod, "Initialized", True)  # once it is, it stays: it may only begin again
    if unknown:
        messages.append(f"containers with unknown status: {_names(unknown)}")
    if incomplete:
        messages.append(f"containers with incomplete status: {_names(incomplete)}")
    if messages:
        return _condition(pod, "Initialized", False, "ContainersNotInitialized", ", ".join(messages))
    return _condition(pod, "Initialized", True)
