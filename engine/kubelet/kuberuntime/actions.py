"""Decides, without doing anything, what a Pod's containers need (kuberuntime_manager.go, computePodActions)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.cri import ContainerState, ContainerStatus
from engine.kubelet.kuberuntime.pod_status import PodRuntimeStatus, sandbox_changed, should_restart


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

    @property
    def nothing(self) -> bool:
        to_start = self.init_containers_to_start or self.containers_to_start or self.ephemeral_containers_to_start
        return not (self.kill_pod or self.create_sandbox or to_start or self.containers_to_kill)


def compute_pod_actions(pod: Object, status: PodRuntimeStatus, probes: ProbeFailures) -> PodActions:
    create, attempt, sandbox_id = sandbox_changed(pod, status)
    actions = PodActions(kill_pod=create, create_sandbox=create, sandbox_id=sandbox_id, attempt=attempt)
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
    policy = pods.restart_policy(pod)
    if policy == "Never" and actions.attempt and status.containers:
        actions.create_sandbox = False
        return
    to_start = [
        container
        for container in pods.containers_of(pod)
        if not (policy == "OnFailure" and _succeeded(status.find(container["name"])))
    ]
    if not to_start and _any_regular_container(pod, status):
        actions.create_sandbox = False
        return
    if init_containers := pods.init_containers_of(pod):
        actions.init_containers_to_start = init_containers[:1]
    else:
        actions.containers_to_start = to_start


def _succeeded(status: ContainerStatus | None) -> bool:
    return status is not None and status.state == ContainerState.EXITED and status.exit_code == 0


def _any_regular_container(pod: Object, status: PodRuntimeStatus) -> bool:
    return any(status.find(container["name"]) is not None for container in pods.containers_of(pod))


def _init_containers(actions: PodActions, pod: Object, status: PodRuntimeStatus, probes: ProbeFailures) -> bool:
    """The next step of initialization; True when it is over. Sidecars are kept running also after that."""
    over = _any_regular_container(pod, status)
    for container in pods.init_containers_of(pod):
        found = status.find(container["name"])
        if pods.is_sidecar(container):
            going_on = _sidecar(actions, container, found, probes)
            if not going_on and not over:
                return False
        elif not over and not _init_container(actions, pod, container, found):
            return False
    return True


def _sidecar(actions: PodActions, container: Object, found: ContainerStatus | None, probes: ProbeFailures) -> bool:
    """Whether the containers behind a sidecar may go on: it runs and has started."""
    if found is None or found.state != ContainerState.RUNNING:
        actions.init_containers_to_start.append(container)
        return False
    if kill := _unhealthy(container, found, probes):
        actions.containers_to_kill.append(kill._replace(message=f"{kill.message}, will be restarted"))
        actions.init_containers_to_start.append(container)
        return False
    return probes.started(container, found.id)


def _init_container(actions: PodActions, pod: Object, container: Object, found: ContainerStatus | None) -> bool:
    """Whether an init container has done its work."""
    if found is None:
        actions.init_containers_to_start.append(container)
        return False
    if found.state != ContainerState.EXITED:
        return False
    if found.exit_code == 0:
        return True
    if pods.restart_policy(pod) == "Never":
        actions.kill_pod = True
    else:
        actions.init_containers_to_start.append(container)
    return False


def _containers(actions: PodActions, pod: Object, status: PodRuntimeStatus, probes: ProbeFailures) -> None:
    keep = 0
    for container in pods.containers_of(pod):
        found = status.find(container["name"])
        if found is None or found.state != ContainerState.RUNNING:
            if should_restart(pod, container, status):
                actions.containers_to_start.append(container)
            continue
        kill, restart = _unhealthy(container, found, probes), pods.restart_policy(pod) != "Never"
        if found.config.image != container["image"]:
            kill = ContainerKill(container, found, f"Container {container['name']} definition changed")
            restart = True
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
