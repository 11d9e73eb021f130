"""Decides, without doing anything, what a Pod's containers need (kuberuntime_manager.go, computePodActions)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.cri import ContainerState, ContainerStatus
from engine.kubelet.kuberuntime.pod_status import PodRuntimeStatus, restarts_after, sandbox_changed, should_restart
from engine.kubelet.kuberuntime.resizing import changed_resources, restarts_for
from engine.kubelet.kuberuntime.restarting import containers_to_reset


class ProbeFailures(Protocol):
    """What the prober knows of a running container."""

    def failed(self, kind: str, container_id: str) -> bool:
        """Whether its `liveness` or `startup` probe has failed for good."""
        ...

    def started(self, container: Object, container_id: str) -> bool:
        """Whether it counts as started: its startup probe, where it has one, has succeeded."""
        ...


class ContainerKill(NamedTuple):
    container: Object
    status: ContainerStatus
    message: str
    probe: str = ""  # `liveness` or `startup`, whose own grace period then counts


class ContainerResize(NamedTuple):
    container: Object
    status: ContainerStatus


@dataclass(slots=True)
class PodActions:
    kill_pod: bool = False
    create_sandbox: bool = False
    sandbox_id: str = ""
    attempt: int = 0
    init_containers_to_start: list[Object] = field(default_factory=list)
    containers_to_start: list[Object] = field(default_factory=list)
    ephemeral_containers_to_start: list[Object] = field(default_factory=list)
    containers_to_kill: list[ContainerKill] = field(default_factory=list)
    containers_to_resize: list[ContainerResize] = field(default_factory=list)
    containers_to_reset: list[ContainerStatus] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        to_start = self.init_containers_to_start or self.containers_to_start or self.ephemeral_containers_to_start
        to_change = self.containers_to_kill or self.containers_to_resize or self.containers_to_reset
        return not (self.kill_pod or self.create_sandbox or to_start or to_change)


def compute_pod_actions(
    pod: Object, status: PodRuntimeStatus, probes: ProbeFailures, *, restart_all: bool = False
) -> PodActions:
    """`restart_all`: all containers are to go, so that the next sync starts them from the beginning."""
    create, attempt, sandbox_id = sandbox_changed(pod, status)
    actions = PodActions(kill_pod=create, create_sandbox=create, sandbox_id=sandbox_id, attempt=attempt)
    if restart_all:
        actions.containers_to_reset = containers_to_reset(pod, status)
        return actions
    if create:
        _begin_again(actions, pod, status)
        return actions
    actions.ephemeral_containers_to_start = [
        container for container in pods.ephemeral_containers_of(pod) if status.find(container["name"]) is None
    ]
    initialized = _init_containers(actions, pod, status, probes)
    if initialized and not actions.kill_pod:
        _containers(actions, pod, status, probes)
    return actions


def _begin_again(actions: PodActions, pod: Object, status: PodRuntimeStatus) -> None:
    """A new sandbox: everything starts from the beginning, or nothing does if the Pod is done."""
    if actions.attempt and status.containers and not _restarts_anything(pod):
        actions.create_sandbox = False
        return
    to_start = [container for container in pods.containers_of(pod) if not _is_done(pod, container, status)]
    if not to_start and _any_regular_container(pod, status):
        actions.create_sandbox = False
        return
    if init_containers := pods.init_containers_of(pod):
        actions.init_containers_to_start = init_containers[:1]
    else:
        actions.containers_to_start = to_start


def _restarts_anything(pod: Object) -> bool:
    """Whether a container that ended may be started again, by the Pod's policy or by its own."""
    if pods.restart_policy(pod) != "Never":
        return True
    return any(
        container.get("restartPolicy") in ("Always", "OnFailure") or container.get("restartPolicyRules")
        for container in pods.containers_of(pod)
    )


def _is_done(pod: Object, container: Object, status: PodRuntimeStatus) -> bool:
    """Succeeded, and not to be started again for that."""
    found = status.find(container["name"])
    if found is None or found.state != ContainerState.EXITED or found.exit_code:
        return False
    return pods.container_restart_policy(pod, container) == "OnFailure"


def _any_regular_container(pod: Object, status: PodRuntimeStatus) -> bool:
    return any(status.find(container["name"]) is not None for container in pods.containers_of(pod))


# -- initialization


def _init_containers(actions: PodActions, pod: Object, status: PodRuntimeStatus, probes: ProbeFailures) -> bool:
    """The next step of initialization; True when it is over. Sidecars are kept running also after that.

    The last init container that the runtime knows of tells how far the Pod is, as earlier ones may have been removed.
    """
    init_containers = pods.init_containers_of(pod)
    if not init_containers:
        return True
    step = _Initialization(actions, pod, status, probes)
    for number in reversed(range(len(init_containers))):
        if not step.look_at(number):
            return False
    return step.end()


class _Initialization:
    def __init__(self, actions: PodActions, pod: Object, status: PodRuntimeStatus, probes: ProbeFailures) -> None:
        self._actions = actions
        self._pod = pod
        self._status = status
        self._probes = probes
        self._containers = pods.init_containers_of(pod)
        self._over = self._any_regular_container_lives()
        # The containers behind the one that is looked at have begun: it has done its work.
        self._passed = self._over
        self._to_start: list[int] = []

    def _any_regular_container_lives(self) -> bool:
        """Dead ones may be those of an earlier sandbox."""
        living = (ContainerState.CREATED, ContainerState.RUNNING)
        found = (self._status.find(container["name"]) for container in pods.containers_of(self._pod))
        return any(each is not None and each.state in living for each in found)

    def look_at(self, number: int) -> bool:
        """False if the Pod has failed for good."""
        container = self._containers[number]
        found, sidecar = self._status.find(container["name"]), pods.is_sidecar(container)
        if found is None:
            if self._passed and sidecar:
                self._to_start.append(number)
            return True
        if self._passed and not sidecar:
            return True
        going_on = self._sidecar(number, container, found) if sidecar else self._regular(number, container, found)
        self._passed = True
        return going_on

    def _sidecar(self, number: int, container: Object, found: ContainerStatus) -> bool:
        if found.state == ContainerState.CREATED:
            return True
        if found.state != ContainerState.RUNNING:
            self._to_start.append(number)
            return True
        if self._probes.failed("startup", found.id):
            self._restart(number, found, "failed startup probe", "startup")
            return True
        if not self._probes.started(container, found.id):
            return True
        self._done(number)
        if found.config.image != container["image"]:
            self._restart(number, found, "definition changed")
        elif self._probes.failed("liveness", found.id):
            self._restart(number, found, "failed liveness probe", "liveness")
        elif resized := changed_resources(self._pod, container, found):
            if restarts_for(container, resized):
                self._restart(number, found, "resize requires restart")
            else:
                self._actions.containers_to_resize.append(ContainerResize(container, found))
        return True

    def _restart(self, number: int, found: ContainerStatus, why: str, probe: str = "") -> None:
        container = self._containers[number]
        message = f"Init container {container['name']} {why}"
        self._actions.containers_to_kill.append(ContainerKill(container, found, message, probe))
        self._to_start.append(number)

    def _regular(self, number: int, container: Object, found: ContainerStatus) -> bool:
        if found.state in (ContainerState.CREATED, ContainerState.RUNNING):
            return True
        if found.state == ContainerState.EXITED and found.exit_code == 0:
            self._done(number)
            return True
        if not restarts_after(self._pod, container, found.exit_code):
            self._actions.kill_pod = True
            return False
        self._to_start.append(number)
        return True

    def _done(self, number: int) -> None:
        """The container has done its work: the next one's turn has come, if it has not had it."""
        if number == len(self._containers) - 1:
            self._over = True
        elif not self._passed:
            self._to_start.append(number + 1)

    def end(self) -> bool:
        if not self._passed:
            self._to_start.append(0)
        self._actions.init_containers_to_start = [self._containers[number] for number in sorted(self._to_start)]
        return self._over


# -- the regular containers


def _containers(actions: PodActions, pod: Object, status: PodRuntimeStatus, probes: ProbeFailures) -> None:
    keep = 0
    for container in pods.containers_of(pod):
        found = status.find(container["name"])
        if found is None or found.state != ContainerState.RUNNING:
            if should_restart(pod, container, status):
                actions.containers_to_start.append(container)
                if found is not None and found.state == ContainerState.UNKNOWN:
                    message = 'Container is in "unknown" state, try killing it before restart'
                    actions.containers_to_kill.append(ContainerKill(container, found, message))
            continue
        kill, restart = _unhealthy(container, found, probes), pods.container_restart_policy(pod, container) != "Never"
        if found.config.image != container["image"]:
            kill = ContainerKill(container, found, f"Container {container['name']} definition changed")
            restart = True
        if kill is None and (resized := changed_resources(pod, container, found)):
            if restarts_for(container, resized):
                message = f"Container {container['name']} resize requires restart"
                actions.containers_to_kill.append(ContainerKill(container, found, message))
                actions.containers_to_start.append(container)
                continue
            actions.containers_to_resize.append(ContainerResize(container, found))
        if kill is None:
            keep += 1
            continue
        if restart:
            kill = kill._replace(message=f"{kill.message}, will be restarted")
            actions.containers_to_start.append(container)
        actions.containers_to_kill.append(kill)
    if not keep and not actions.containers_to_start:
        actions.kill_pod = True
        actions.init_containers_to_start = []


def _unhealthy(container: Object, found: ContainerStatus, probes: ProbeFailures) -> ContainerKill | None:
    for kind in ("liveness", "startup"):
        if probes.failed(kind, found.id):
            return ContainerKill(container, found, f"Container {container['name']} failed {kind} probe", kind)
    return None
