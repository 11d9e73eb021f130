"""What the runtime holds of one Pod (pkg/kubelet/container runtime.go, PodStatus)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.cri import ContainerState, ContainerStatus, PodSandboxState, PodSandboxStatus, RuntimeService


@dataclass(frozen=True, slots=True)
class PodRuntimeStatus:
    """Sandboxes and containers, newest first, dead ones too."""

    uid: str
    sandboxes: tuple[PodSandboxStatus, ...] = ()
    containers: tuple[ContainerStatus, ...] = ()

    @classmethod
    async def read(cls, runtime: RuntimeService, uid: str) -> PodRuntimeStatus:
        sandboxes = await runtime.list_pod_sandbox(pod_uid=uid)
        return cls(uid, tuple(sandboxes), tuple(await runtime.list_containers(pod_uid=uid)))

    @property
    def ips(self) -> tuple[str, ...]:
        if self.sandboxes and self.sandboxes[0].state == PodSandboxState.READY:
            return self.sandboxes[0].ips
        return ()

    def find(self, name: str) -> ContainerStatus | None:
        """The newest container of a name."""
        return next((container for container in self.containers if container.name == name), None)

    def of_name(self, name: str) -> list[ContainerStatus]:
        return [container for container in self.containers if container.name == name]

    def running(self) -> list[ContainerStatus]:
        return [container for container in self.containers if container.state == ContainerState.RUNNING]


def sandbox_changed(pod: Object, status: PodRuntimeStatus) -> tuple[bool, int, str]:
    """Whether a new sandbox is needed, its attempt, and the id of the one that there is."""
    if not status.sandboxes:
        return True, 0, ""
    newest = status.sandboxes[0]
    ready = sum(sandbox.state == PodSandboxState.READY for sandbox in status.sandboxes)
    stale = ready > 1 or newest.state != PodSandboxState.READY
    if stale or newest.config.host_network != pods.host_network(pod) or not newest.ips:
        return True, newest.config.attempt + 1, newest.id
    return False, newest.config.attempt, newest.id


def should_restart(pod: Object, container: Object, status: PodRuntimeStatus) -> bool:
    """Whether a container that does not run is to be started (again) (container/helpers.go
    ShouldContainerBeRestarted; KEP-5307 for rules of a container of its own)."""
    if pods.is_deleted(pod):
        return False
    found = status.find(container["name"])
    if found is None:
        return True
    if found.state == ContainerState.RUNNING:
        return False
    if found.state != ContainerState.EXITED:
        return True
    policy = container.get("restartPolicy") or pods.restart_policy(pod)
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes") or {}
        listed = found.exit_code in (codes.get("values") or ())
        if rule.get("action") == "Restart" and listed == (codes.get("operator") == "In"):
            return True
    if policy == "Never":
        return False
    return policy == "Always" or found.exit_code != 0
