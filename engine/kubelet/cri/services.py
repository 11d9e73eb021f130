"""The two services of CRI as protocols: the seam at which a real runtime could stand in for the simulated one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from engine.api.types import Object
from engine.kubelet.cri.types import (
    ContainerConfig,
    ContainerEvent,
    ContainerStatus,
    ExecResult,
    Image,
    PodSandboxConfig,
    PodSandboxStatus,
    PullProgress,
    RuntimeCondition,
    VersionResponse,
)
from engine.streaming import Log, LogLine


class ContainerLog(Log, Protocol):
    """A log file: what is there, and what comes."""

    def follow(self, follower: Callable[[LogLine | None], None]) -> Callable[[], object]:
        """Tell of each further line, and None at the end; returns what stops it."""
        ...


class RuntimeService(Protocol):
    """Calls raise CriError."""

    async def version(self) -> VersionResponse: ...

    async def status(self) -> Sequence[RuntimeCondition]: ...

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> str: ...

    async def stop_pod_sandbox(self, sandbox_id: str) -> None:
        """Stop all that runs in it and give its addresses back; a second call does nothing."""
        ...

    async def remove_pod_sandbox(self, sandbox_id: str) -> None: ...

    async def pod_sandbox_status(self, sandbox_id: str) -> PodSandboxStatus: ...

    async def list_pod_sandbox(self, *, pod_uid: str = "") -> Sequence[PodSandboxStatus]:
        """Newest first."""
        ...

    async def create_container(self, sandbox_id: str, config: ContainerConfig) -> str: ...

    async def start_container(self, container_id: str) -> None: ...

    async def stop_container(self, container_id: str, timeout: float) -> None:
        """Send the image's stop signal, then SIGKILL after `timeout` seconds."""
        ...

    async def remove_container(self, container_id: str) -> None: ...

    async def update_container_resources(self, container_id: str, resources: Object) -> None:
        """Give a running container other `requests` and `limits`."""
        ...

    async def list_containers(self, *, pod_uid: str = "") -> Sequence[ContainerStatus]:
        """Newest first."""
        ...

    async def container_status(self, container_id: str) -> ContainerStatus: ...

    async def exec_sync(
        self, container_id: str, command: Sequence[str], timeout: float | None = None
    ) -> ExecResult: ...

    def get_container_events(self, subscriber: Callable[[ContainerEvent], None]) -> Callable[[], None]:
        """Tell the subscriber of every event from now on; returns what ends the subscription."""
        ...


class ImageService(Protocol):
    async def list_images(self) -> Sequence[Image]: ...

    async def image_status(self, image: str) -> Image | None: ...

    async def pull_image(self, image: str) -> str:
        """Returns the image's reference (a digest)."""
        ...

    async def remove_image(self, image: str) -> None: ...

    def pulls(self) -> Sequence[PullProgress]: ...


class Runtime(RuntimeService, ImageService, Protocol):
    """One endpoint that serves both, as containerd does; beside CRI, what the kubelet gets from the node itself."""

    def network_probe(self, container_id: str, port: int, path: str | None = None) -> tuple[str, str]:
        """Knock at a port of the container: (`ok`, ""), (`refused`, why) or (`status`, HTTP code)."""
        ...

    def snapshot(self) -> Object:
        """Sandboxes and containers as they are now, for the view."""
        ...

    def log(self, container_id: str) -> ContainerLog | None:
        """The container's log file, as long as the container is there."""
        ...

    def read_file(self, container_id: str, path: str) -> str | None:
        """A file that the container has written, such as its termination message."""
        ...
