"""Who writes more to the node's own disk than it may is evicted (pkg/kubelet/eviction eviction_manager.go
localStorageEviction).

Looked at every ten seconds, as upstream's kubelet does, but only while there is a Pod with such a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from engine.api.pod_amounts import pod_amounts
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.clock import Clock, Timer
from engine.kubelet import pods
from engine.kubelet.cri import ContainerState
from engine.kubelet.runtime.simulated import SimulatedRuntime
from engine.kubelet.space import log_space, space_of

MONITORING_INTERVAL = 10.0
EPHEMERAL_STORAGE = "ephemeral-storage"


class Excess(NamedTuple):
    """Which limit a Pod has passed: the signal that metrics name it by, and what the Pod is told."""

    signal: str
    message: str


class Written(NamedTuple):
    """Bytes: of containers that run with their logs, and of volumes, by name."""

    containers: Mapping[str, int]
    volumes: Mapping[str, int]


def is_limited(pod: Object) -> bool:
    return any(_limit(container) for container in _containers(pod)) or any(
        source.get("sizeLimit") for _, source in _empty_dirs(pod)
    )


def excess(pod: Object, written: Written) -> Excess | None:
    """The first limit that was passed: of an emptyDir, of the Pod together, of a container."""
    for name, source in _empty_dirs(pod):
        limit = Quantity.parse(str(source.get("sizeLimit") or "0"))
        if 0 < limit.value < written.volumes.get(name, 0):
            return Excess("emptydirfs.limit", f'Usage of EmptyDir volume "{name}" exceeds the limit "{limit}". ')
    total = pod_amounts(pod, "limits").get(EPHEMERAL_STORAGE)
    if total is not None and _together(pod, written) > total.value:
        message = f"Pod ephemeral local storage usage exceeds the total limit of containers {total}. "
        return Excess("ephemeralpodfs.limit", message)
    for container in pods.containers_of(pod):
        limit = Quantity.parse(str(_limit(container) or "0"))
        if 0 < limit.value < written.containers.get(container["name"], 0):
            message = f'Container {container["name"]} exceeded its local ephemeral storage limit "{limit}". '
            return Excess("ephemeralcontainerfs.limit", message)
    return None


def _together(pod: Object, written: Written) -> int:
    """A tmpfs is memory."""
    on_disk = (written.volumes.get(name, 0) for name, source in _empty_dirs(pod) if not source.get("medium"))
    return sum(written.containers.values()) + sum(on_disk)


def _containers(pod: Object) -> Iterator[Object]:
    yield from pods.containers_of(pod)
    yield from pod["spec"].get("initContainers") or ()


def _limit(container: Object) -> str | None:
    limits = (container.get("resources") or {}).get("limits") or {}
    return limits.get(EPHEMERAL_STORAGE)


def _empty_dirs(pod: Object) -> Iterator[tuple[str, Object]]:
    for volume in pod["spec"].get("volumes") or ():
        source = volume.get("emptyDir")
        if source is not None:
            yield volume["name"], source


def written_by(simulated: SimulatedRuntime, uid: str, volumes: Mapping[str, Mapping[str, str]]) -> Written:
    containers = {}
    for status in simulated.containers_of(uid):
        if status.state == ContainerState.RUNNING:
            container = simulated.container(status.id)
            containers[status.name] = container.machine.files.written()[0] + log_space(container.log).size
    return Written(containers, {name: space_of(files.values()).size for name, files in volumes.items()})


class LocalStorage:
    """`active` gives the Pods whose containers run or may run, `written` what one of them has written; `evict` ends
    it."""

    def __init__(
        self,
        clock: Clock,
        *,
        active: Callable[[], Sequence[Object]],
        written: Callable[[Object], Written],
        evict: Callable[[Object, Excess], None],
    ) -> None:
        self._clock = clock
        self._active = active
        self._written = written
        self._evict = evict
        self._timer: Timer | None = None

    def added(self, pod: Object) -> None:
        """Limits stay what they are for a Pod's life."""
        if self._timer is None and is_limited(pod):
            self._timer = self._clock.call_later(MONITORING_INTERVAL, self._look)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        limited = [pod for pod in self._active() if pods.phase_of(pod) not in pods.TERMINAL_PHASES and is_limited(pod)]
        for pod in limited:
            if (found := excess(pod, self._written(pod))) is not None:
                self._evict(pod, found)
        if limited:
            self._timer = self._clock.call_later(MONITORING_INTERVAL, self._look)
