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
    if sandbox_flaw(pod, status):
        return True, newest.config.attempt + 1, newest.id
    return False, newest.config.attempt, newest.id


def sandbox_flaw(pod: Object, status: PodRuntimeStatus) -> str:
    """Why containers cannot be started in the sandbox that there is, as the kubelet says it; empty if they can."""
    if not status.sandboxes:
        return "no pod sandbox exists"
    newest = status.sandboxes[0]
    if sum(sandbox.state == PodSandboxState.READY for sandbox in status.sandboxes) > 1:
        return "multiple pod sandboxes are ready"
    if newest.state != PodSandboxState.READY:
        return "pod sandbox is not ready"
    if newest.config.host_network != pods.host_network(pod):
        return "pod sandbox network namespace mode changed"
    return "" if newest.ips else "pod sandbox has no IP address"


def should_restart(pod: Object, container: Object, status: PodRuntimeStatus) -> bool:
    """Whether a container that does not run is to be started (again) (container/helpers.go
    ShouldContainerBeRestarted)."""
    if pods.is_deleted(pod):
        return False
    found = status.find(container["name"])
    if found is None:
        return True
    if found.state == ContainerState.RUNNING:
        return False
    if found.state != ContainerState.EXITED:
        return True
    return restarts_after(pod, container, found.exit_code)


def restarts_after(pod: Object, container: Object, exit_code: int) -> bool:
    """Whether a container that ended with this code is started again: by the first of its own rules that fits, by its
    own policy, by the Pod's (pkg/api/v1/pod util.go ContainerShouldRestart; KEP-5307)."""
    if (rule := restart_rule(container, exit_code)) is not None:
        return rule.get("action") in ("Restart", "RestartAllContainers")
    policy = pods.container_restart_policy(pod, container)
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def restart_rule(container: Object, exit_code: int) -> Object | None:
    """The first of a container's own rules that says something of this code."""
    if not container.get("restartPolicy"):
        return None
    rules = container.get("restartPolicyRules") or ()
    return next((rule for rule in rules if _fits(rule.get("exitCodes") or {}, exit_code)), None)


def _fits(codes: Object, exit_code: int) -> bool:
    listed = exit_code in (codes.get("values") or ())
    return listed == (codes.get("operator") == "In")
