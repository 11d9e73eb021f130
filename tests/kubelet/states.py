"""Pods and what a runtime holds of them, written short."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from engine.api.types import Object
from engine.kubelet.cri import (
    ContainerConfig,
    ContainerState,
    ContainerStatus,
    PodSandboxConfig,
    PodSandboxState,
    PodSandboxStatus,
)
from engine.kubelet.kuberuntime.pod_status import PodRuntimeStatus

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def container(name: str = "web", image: str = "nginx:1.27", **fields: Any) -> Object:
    return {"name": name, "image": image, **fields}


def pod(*containers: Object, init: tuple[Object, ...] = (), restart: str = "Always", **metadata: Any) -> Object:
    spec: Object = {"containers": list(containers or (container(),)), "restartPolicy": restart}
    if init:
        spec["initContainers"] = list(init)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default", "uid": "uid-1", **metadata},
        "spec": spec,
        "status": {},
    }


def sandbox(state: PodSandboxState = PodSandboxState.READY, attempt: int = 0) -> PodSandboxStatus:
    config = PodSandboxConfig("web", "uid-1", "default", attempt)
    return PodSandboxStatus(f"sandbox-{attempt}", config, state, NOW, ("10.244.0.2",))


def running(name: str = "web", image: str = "nginx:1.27", attempt: int = 0) -> ContainerStatus:
    return _status(name, image, attempt, ContainerState.RUNNING)


def exited(name: str = "web", code: int = 0, attempt: int = 0) -> ContainerStatus:
    status = _status(name, "nginx:1.27", attempt, ContainerState.EXITED)
    status.exit_code, status.finished_at, status.reason = code, NOW, "Error" if code else "Completed"
    return status


def created(name: str = "web") -> ContainerStatus:
    return _status(name, "nginx:1.27", 0, ContainerState.CREATED)


def _status(name: str, image: str, attempt: int, state: ContainerState) -> ContainerStatus:
    config = ContainerConfig(name, attempt, image, image)
    return ContainerStatus(f"{name}-{attempt}", "sandbox-0", "uid-1", config, state, NOW, NOW)


def holds(*containers: ContainerStatus, sandboxes: tuple[PodSandboxStatus, ...] | None = None) -> PodRuntimeStatus:
    """Containers newest first; a ready sandbox unless others are given."""
    return PodRuntimeStatus("uid-1", (sandbox(),) if sandboxes is None else sandboxes, containers)


class Probes:
    """What the prober would say."""

    def __init__(self, *failed: tuple[str, str], unstarted: tuple[str, ...] = ()) -> None:
        self._failed = failed
        self._unstarted = unstarted

    def failed(self, kind: str, container_id: str) -> bool:
        return (kind, container_id) in self._failed

    def started(self, container: Object, container_id: str) -> bool:
        return container_id not in self._unstarted
