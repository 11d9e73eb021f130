"""The phase of a Pod from its containers' states (kubelet_pods.go getPhase)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.api.types import Object
from engine.kubelet import pods


class _Counts:
    def __init__(self) -> None:
        self.unknown = self.running = self.waiting = self.stopped = self.succeeded = 0
        self.pending_initialization = self.failed_initialization = 0


def pod_phase(pod: Object, statuses: Sequence[Object], *, terminal: bool) -> str:
    """`terminal` says that its containers will not be started again, whatever the restart policy."""
    known = {status["name"]: status for status in statuses}
    policy = pods.restart_policy(pod)
    counts = _Counts()
    for container in pods.init_containers_of(pod):
        if pods.is_sidecar(container):
            _count_sidecar(counts, known.get(container["name"]))
        else:
            _count_init(counts, known.get(container["name"]))
    for container in pods.containers_of(pod):
        _count(counts, known.get(container["name"]))
    if counts.failed_initialization and policy == "Never":
        return "Failed"
    initializing = counts.pending_initialization and not any_regular_started(pod, statuses)
    if initializing or counts.waiting:
        return "Pending"
    if counts.running and not counts.unknown:
        return "Running"
    if counts.stopped and not counts.unknown:
        return _ended(counts, policy, terminal=terminal)
    return "Pending"


def _ended(counts: _Counts, policy: str, *, terminal: bool) -> str:
    all_succeeded = counts.stopped == counts.succeeded
    if terminal:
        return "Succeeded" if all_succeeded else "Failed"
    if policy == "Always":
        return "Running"
    if all_succeeded:
        return "Succeeded"
    return "Failed" if policy == "Never" else "Running"


def _count_init(counts: _Counts, status: Object | None) -> None:
    state = (status or {}).get("state") or {}
    last = ((status or {}).get("lastState") or {}).get("terminated")
    ended = state.get("terminated") or (last if "waiting" in state else None)
    if ended is None:
        counts.pending_initialization += 1
    elif ended["exitCode"] != 0:
        counts.failed_initialization += 1


def _count_sidecar(counts: _Counts, status: Object | None) -> None:
    if status is None:
        counts.unknown += 1
        return
    state = status.get("state") or {}
    if "running" in state:
        counts.pending_initialization += not status.get("started")
        counts.running += 1
    elif "waiting" in state and not (status.get("lastState") or {}).get("terminated"):
        counts.pending_initialization += 1
        counts.waiting += 1


def _count(counts: _Counts, status: Object | None) -> None:
    state = (status or {}).get("state") or {}
    if "running" in state:
        counts.running += 1
    elif "terminated" in state:
        counts.stopped += 1
        counts.succeeded += state["terminated"]["exitCode"] == 0
    elif "waiting" in state:
        if ((status or {}).get("lastState") or {}).get("terminated"):
            counts.stopped += 1
        else:
            counts.waiting += 1
    else:
        counts.unknown += 1


def any_regular_started(pod: Object, statuses: Iterable[Object]) -> bool:
    """Whether a regular container has ever started (container/helpers.go HasAnyRegularContainerStarted)."""
    names = {container["name"] for container in pods.containers_of(pod)}
    for status in statuses:
        if status["name"] not in names:
            continue
        state, last = status.get("state") or {}, status.get("lastState") or {}
        if "running" in state or "terminated" in state or "terminated" in last:
            return True
    return False
