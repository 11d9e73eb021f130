"""The phase of a Pod from its containers' states (kubelet_pods.go getPhase)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.kuberuntime.pod_status import restarts_after
from engine.kubelet.kuberuntime.restarting import was_removed


class _Counts:
    def __init__(self) -> None:
        self.unknown = self.running = self.waiting = self.stopped = self.succeeded = self.ended = 0
        self.pending_initialization = self.pending_sidecars = self.failed_initialization = 0


def pod_phase(pod: Object, statuses: Sequence[Object], *, terminal: bool) -> str:
    """`terminal` says that its containers will not be started again, whatever the restart policy."""
    known = {status["name"]: status for status in statuses}
    counts = _Counts()
    for container in pods.init_containers_of(pod):
        if pods.is_sidecar(container):
            _count_sidecar(counts, known.get(container["name"]))
        else:
            _count_init(counts, pod, container, known)
    for container in pods.containers_of(pod):
        _count(counts, pod, container, known)
    if counts.failed_initialization:
        return "Failed"
    initializing = counts.pending_sidecars and not any_regular_started(pod, statuses)
    if counts.pending_initialization or initializing or counts.waiting:
        return "Pending"
    if counts.running and not counts.unknown:
        return "Running"
    if counts.stopped and not counts.unknown:
        return _ended(counts, terminal=terminal)
    return "Pending"


def _ended(counts: _Counts, *, terminal: bool) -> str:
    if not terminal and counts.stopped != counts.ended:
        return "Running"  # one at least is about to be started again
    return "Succeeded" if counts.stopped == counts.succeeded else "Failed"


def _last_end(status: Object | None) -> Object | None:
    """How a container ended, if it does not run now; None if it has not begun, also after its Pod began again."""
    state = (status or {}).get("state") or {}
    ended: Object | None = state.get("terminated")
    if ended is None and "waiting" in state and not was_removed(status or {}):
        ended = ((status or {}).get("lastState") or {}).get("terminated")
    return ended


def _count_init(counts: _Counts, pod: Object, container: Object, known: Mapping[str, Object]) -> None:
    ended = _last_end(known.get(container["name"]))
    if ended is None:
        counts.pending_initialization += 1
    elif ended["exitCode"] != 0 and not restarts_after(pod, container, ended["exitCode"]):
        counts.failed_initialization += 1


def _count_sidecar(counts: _Counts, status: Object | None) -> None:
    """One that has ended counts for nothing."""
    if status is None:
        counts.unknown += 1
        return
    state = status.get("state") or {}
    if "running" in state:
        counts.pending_sidecars += not status.get("started")
        counts.running += 1
    elif "terminated" in state or _last_end(status) is not None:
        return
    elif "waiting" in state:
        counts.pending_sidecars += 1
        counts.waiting += 1
    else:
        counts.pending_sidecars += 1
        counts.unknown += 1


def _count(counts: _Counts, pod: Object, container: Object, known: Mapping[str, Object]) -> None:
    status = known.get(container["name"])
    state = (status or {}).get("state") or {}
    ended = _last_end(status)
    if "running" in state:
        counts.running += 1
    elif ended is not None:
        counts.stopped += 1
        counts.ended += not restarts_after(pod, container, ended["exitCode"])
        counts.succeeded += "terminated" in state and ended["exitCode"] == 0
    elif "waiting" in state:
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
