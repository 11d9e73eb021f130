"""What the containers of a node use, as one look at them finds it: the source of statistics and metrics.

Stands where cAdvisor and the runtime's own statistics stand (pkg/kubelet/stats cri_stats_provider.go). Nothing
computes on a simulated node: what is used is what somebody says (`engine.api.simulated_usage`). Time of a CPU that was
used up is added up from look to look, at the rate of the later one, for nobody looks in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from engine.api.quantity import Quantity
from engine.api.simulated_usage import IDLE, usage
from engine.api.types import Object
from engine.clock import Clock
from engine.kubelet import pods
from engine.kubelet.cri import ContainerState, ContainerStatus
from engine.kubelet.space import Space, log_space, space_of

if TYPE_CHECKING:
    from engine.kubelet.kubelet import Kubelet

NODE = "node"
_IDLE_CPU, _IDLE_MEMORY = IDLE["cpu"].nanos, IDLE["memory"].value


# When something was looked at last, and what it had used up by then; by container id.
_Looks = Mapping[str, tuple[datetime, int]]


class Use(NamedTuple):
    """`cores` in billionths of one, `spent` in nanoseconds since it began."""

    cores: int
    spent: int
    memory: int


class MeasuredContainer(NamedTuple):
    status: ContainerStatus
    started: datetime
    use: Use
    processes: int
    layer: Space = Space()  # what it has written itself
    logs: Space = Space()

    def limit(self, resource: str) -> Quantity | None:
        return _amount(self.status, "limits", resource)

    def request(self, resource: str) -> Quantity | None:
        return _amount(self.status, "requests", resource)


class MeasuredPod(NamedTuple):
    pod: Object
    sandbox: str
    started: datetime
    containers: tuple[MeasuredContainer, ...]
    volumes: Mapping[str, Space] = MappingProxyType({})

    @property
    def use(self) -> Use:
        return _sum(container.use for container in self.containers)


class Measured(NamedTuple):
    """The node at one moment. `system` is what runs beside Pods, which is the kubelet."""

    at: datetime
    started: datetime
    pods: tuple[MeasuredPod, ...]
    system: Use
    images: Space

    @property
    def of_pods(self) -> Use:
        return _sum(pod.use for pod in self.pods)

    @property
    def node(self) -> Use:
        return _sum((self.of_pods, self.system))


class Meter:
    """Looks at a node."""

    def __init__(self, kubelet: Kubelet, started: datetime) -> None:
        self._kubelet = kubelet
        self.started = started
        self._spent: dict[str, tuple[datetime, int]] = {}
        self._ended = 0  # what containers had used up that have gone since

    def look(self, now: datetime) -> Measured:
        """At CPU and memory; what is on disks is left at nothing (see `weighed`)."""
        before, self._spent = self._spent, {}
        system = self._use(NODE, self.started, _IDLE_CPU, _IDLE_MEMORY, now, before)
        found = tuple(
            measured for pod in self._kubelet.pods.all() if (measured := self._pod(pod, now, before)) is not None
        )
        self._ended += sum(spent for key, (_, spent) in before.items() if key not in self._spent)
        images = self._kubelet.simulated.images.list_images()
        return Measured(
            now,
            self.started,
            found,
            system._replace(spent=system.spent + self._ended),
            Space(sum(image.size for image in images), len(images)),
        )

    def _pod(self, pod: Object, now: datetime, before: _Looks) -> MeasuredPod | None:
        """None where nothing of it runs."""
        uid, simulated = pods.uid_of(pod), self._kubelet.simulated
        sandbox = simulated.sandbox_of(uid)
        running = [each for each in simulated.containers_of(uid) if each.state == ContainerState.RUNNING]
        if sandbox is None or not running:
            return None
        used = usage(pod, {})
        containers = []
        for status in sorted(running, key=lambda each: each.name):
            container = simulated.container(status.id)
            rates = used.get(status.name, IDLE)
            started = status.started_at or status.created_at
            use = self._use(status.id, started, rates["cpu"].nanos, rates["memory"].value, now, before)
            containers.append(MeasuredContainer(status, started, use, len(container.machine.processes) or 1))
        return MeasuredPod(pod, sandbox.id, sandbox.created_at, tuple(containers))

    def _use(self, key: str, since: datetime, cores: int, memory: int, now: datetime, before: _Looks) -> Use:
        looked, spent = before.get(key, (since, 0))
        spent += int(cores * max(0.0, (now - looked).total_seconds()))
        self._spent[key] = now, spent
        return Use(cores, spent, memory)

    async def weighed(self, measured: Measured, clock: Clock) -> Measured:
        """With what is on disks. Logs may be long: others have their turn between two Pods."""
        found = []
        for pod in measured.pods:
            await clock.sleep(0)
            found.append(self._weighed(pod))
        return measured._replace(pods=tuple(found))

    def _weighed(self, pod: MeasuredPod) -> MeasuredPod:
        simulated, uid = self._kubelet.simulated, pods.uid_of(pod.pod)
        there = {status.id for status in simulated.containers_of(uid)}
        containers = []
        for each in pod.containers:
            if each.status.id in there:
                container = simulated.container(each.status.id)
                layer = Space(*container.machine.files.written())
                each = each._replace(layer=layer, logs=log_space(container.log))
            containers.append(each)
        volumes = {name: space_of(files.values()) for name, files in self._kubelet.volume_files(uid).items()}
        return pod._replace(containers=tuple(containers), volumes=volumes)


def _sum(uses: Iterable[Use]) -> Use:
    found = list(uses)
    return Use(sum(use.cores for use in found), sum(use.spent for use in found), sum(use.memory for use in found))


def _amount(status: ContainerStatus, part: str, resource: str) -> Quantity | None:
    amount = (status.config.resources.get(part) or {}).get(resource)
    return Quantity.parse(str(amount)) if amount is not None else None
