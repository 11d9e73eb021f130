"""When the exit of one container starts all of its Pod again, in the sandbox that there is (container/helpers.go
ShouldAllContainersRestart, AllContainersRestartCleanedUp; KEP-5532).

First everything that the runtime holds of the Pod's containers is removed, which its condition tells; then it starts as
a new Pod does.
"""

from __future__ import annotations

from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.cri import ContainerState, ContainerStatus
from engine.kubelet.kuberuntime.pod_status import PodRuntimeStatus, restart_rule

CONDITION = "AllContainersRestarting"
ACTION = "RestartAllContainers"
# What is said of a container that was removed for it, by its waiting state and by its last one.
REASON = "RestartingAllContainers"
MESSAGE = "The container is removed because RestartAllContainers in place"


def could_restart_all(pod: Object) -> bool:
    """Whether a container has a rule for it: only such Pods have the condition."""
    return any(
        rule.get("action") == ACTION
        for container in _restartable(pod)
        for rule in container.get("restartPolicyRules") or ()
    )


def is_restarting_all(status: Object) -> bool:
    """Whether an API status says so."""
    return any(item["type"] == CONDITION and item["status"] == "True" for item in status.get("conditions") or ())


def should_restart_all(pod: Object, status: PodRuntimeStatus, previous: Object) -> bool:
    """Whether a container has ended in that way, by the runtime or by the status before, or it has begun already."""
    if is_restarting_all(previous):
        return True
    told = {
        item["name"]: item
        for field in ("initContainerStatuses", "containerStatuses")
        for item in previous.get(field) or ()
    }
    for container in _restartable(pod):
        found = status.find(container["name"])
        if found is not None and found.state == ContainerState.EXITED and _restarts_all(container, found.exit_code):
            return True
        ended = (told.get(container["name"], {}).get("state") or {}).get("terminated")
        if ended is not None and _restarts_all(container, ended["exitCode"]):
            return True
    return False


def is_cleaned_up(pod: Object, status: PodRuntimeStatus) -> bool:
    """Whether nothing is left of the containers."""
    return all(status.find(container["name"]) is None for container in _restartable(pod))


def containers_to_reset(pod: Object, status: PodRuntimeStatus) -> list[ContainerStatus]:
    """What the runtime holds of them, those last that have ended in that way: until they are gone, it is known why."""
    sources: list[ContainerStatus] = []
    targets: list[ContainerStatus] = []
    for container in [*pods.containers_of(pod), *pods.init_containers_of(pod)]:
        for found in status.of_name(container["name"]):
            ended = found.state == ContainerState.EXITED and _restarts_all(container, found.exit_code)
            (sources if ended else targets).append(found)
    return [*targets, *sources]


def was_removed(container_status: Object) -> bool:
    """Whether a container waits for its start after that, and has not been started since."""
    last = (container_status.get("lastState") or {}).get("terminated") or {}
    return "waiting" in (container_status.get("state") or {}) and last.get("reason") == REASON


def _restarts_all(container: Object, exit_code: int) -> bool:
    rule = restart_rule(container, exit_code)
    return rule is not None and rule.get("action") == ACTION


def _restartable(pod: Object) -> list[Object]:
    """Ephemeral containers are let be."""
    return [*pods.init_containers_of(pod), *pods.containers_of(pod)]
