"""CRI calls as the trace and the view see them (pkg/kubelet/kuberuntime instrumented_services.go).

Each call that changes something is a span of hop 11; all are counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from engine.api.types import Object
from engine.kubelet.cri import (
    ContainerConfig,
    ContainerEvent,
    ContainerStatus,
    CriError,
    ExecResult,
    Image,
    PodSandboxConfig,
    PodSandboxStatus,
    PullProgress,
    Runtime,
    RuntimeCondition,
    VersionResponse,
)
from engine.kubelet.cri.services import ContainerLog
from engine.trace import Hop, Span
from engine.world import World

RECENT = 200


class InstrumentedRuntime:
    """A Runtime around a Runtime."""

    def __init__(self, inner: Runtime, world: World, *, node_name: str) -> None:
        self.calls: dict[str, int] = {}
        self.errors: dict[str, int] = {}
        self.recent: deque[Object] = deque(maxlen=RECENT)
        self._inner = inner
        self._world = world
        self._component = f"kubelet {node_name}"
        self._under_way: dict[int, Object] = {}
        self._number = 0

    def _count(self, verb: str) -> None:
        self.calls[verb] = self.calls.get(verb, 0) + 1

    @contextmanager
    def _call(self, verb: str, object: str, **detail: str) -> Iterator[Span]:
        self._count(verb)
        self._number += 1
        number = self._number
        record: Object = {"call": verb, "object": object, "at": self._world.clock.micro_timestamp(), **detail}
        self._under_way[number] = record
        with self._world.tracer.span(Hop.KUBELET, component=self._component, verb=verb, object=object) as span:
            span.detail = dict(detail)
            try:
                yield span
            except CriError as error:
                span.outcome = error.code
                span.detail = {**span.detail, "error": error.message}
                self.errors[verb] = self.errors.get(verb, 0) + 1
                raise
            finally:
                self._under_way.pop(number)
                self.recent.append({**record, "outcome": span.outcome, "modelMs": round(span.model_ms, 3)})

    def view(self) -> Object:
        """What there is; calls that run now, the last ones and how many there have been."""
        return {
            **self._inner.snapshot(),
            "calls": dict(sorted(self.calls.items())),
            "errors": dict(sorted(self.errors.items())),
            "underWay": list(self._under_way.values()),
            "recent": list(self.recent),
        }

    async def _of_container(self, container_id: str) -> str:
        """The Pod of a container, as spans name it."""
        try:
            labels = (await self._inner.container_status(container_id)).config.labels
        except CriError:
            return f"container/{container_id[:12]}"
        return f"pod/{labels.get('io.kubernetes.pod.namespace', '')}/{labels.get('io.kubernetes.pod.name', '')}"

    async def _of_sandbox(self, sandbox_id: str) -> str:
        try:
            config = (await self._inner.pod_sandbox_status(sandbox_id)).config
        except CriError:
            return f"sandbox/{sandbox_id[:12]}"
        return f"pod/{config.namespace}/{config.name}"

    # -- RuntimeService

    async def version(self) -> VersionResponse:
        self._count("Version")
        return await self._inner.version()

    async def status(self) -> Sequence[RuntimeCondition]:
        self._count("Status")
        return await self._inner.status()

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> str:
        with self._call("RunPodSandbox", f"pod/{config.namespace}/{config.name}") as span:
            sandbox_id = await self._inner.run_pod_sandbox(config)
            span.detail = {"sandbox": sandbox_id, "attempt": config.attempt}
            return sandbox_id

    async def stop_pod_sandbox(self, sandbox_id: str) -> None:
        with self._call("StopPodSandbox", await self._of_sandbox(sandbox_id), sandbox=sandbox_id):
            await self._inner.stop_pod_sandbox(sandbox_id)

    async def remove_pod_sandbox(self, sandbox_id: str) -> None:
        with self._call("RemovePodSandbox", await self._of_sandbox(sandbox_id), sandbox=sandbox_id):
            await self._inner.remove_pod_sandbox(sandbox_id)

    async def pod_sandbox_status(self, sandbox_id: str) -> PodSandboxStatus:
        self._count("PodSandboxStatus")
        return await self._inner.pod_sandbox_status(sandbox_id)

    async def list_pod_sandbox(self, *, pod_uid: str = "") -> Sequence[PodSandboxStatus]:
        self._count("ListPodSandbox")
        return await self._inner.list_pod_sandbox(pod_uid=pod_uid)

    async def create_container(self, sandbox_id: str, config: ContainerConfig) -> str:
        with self._call("CreateContainer", await self._of_sandbox(sandbox_id), container=config.name) as span:
            container_id = await self._inner.create_container(sandbox_id, config)
            span.detail = {**span.detail, "id": container_id, "image": config.image, "attempt": config.attempt}
            return container_id

    async def start_container(self, container_id: str) -> None:
        name = (await self._inner.container_status(container_id)).name
        with self._call("StartContainer", await self._of_container(container_id), container=name, id=container_id):
            await self._inner.start_container(container_id)

    async def stop_container(self, container_id: str, timeout: float) -> None:
        name = (await self._inner.container_status(container_id)).name
        with self._call("StopContainer", await self._of_container(container_id), container=name, id=container_id):
            await self._inner.stop_container(container_id, timeout)

    async def remove_container(self, container_id: str) -> None:
        with self._call("RemoveContainer", await self._of_container(container_id), id=container_id):
            await self._inner.remove_container(container_id)

    async def update_container_resources(self, container_id: str, resources: Object) -> None:
        name = (await self._inner.container_status(container_id)).name
        of = await self._of_container(container_id)
        with self._call("UpdateContainerResources", of, container=name, id=container_id):
            await self._inner.update_container_resources(container_id, resources)

    async def list_containers(self, *, pod_uid: str = "") -> Sequence[ContainerStatus]:
        self._count("ListContainers")
        return await self._inner.list_containers(pod_uid=pod_uid)

    async def container_status(self, container_id: str) -> ContainerStatus:
        self._count("ContainerStatus")
        return await self._inner.container_status(container_id)

    async def exec_sync(self, container_id: str, command: Sequence[str], timeout: float | None = None) -> ExecResult:
        self._count("ExecSync")
        return await self._inner.exec_sync(container_id, command, timeout)

    def get_container_events(self, subscriber: Callable[[ContainerEvent], None]) -> Callable[[], None]:
        self._count("GetContainerEvents")
        return self._inner.get_container_events(subscriber)

    # -- ImageService

    async def list_images(self) -> Sequence[Image]:
        self._count("ListImages")
        return await self._inner.list_images()

    async def image_status(self, image: str) -> Image | None:
        self._count("ImageStatus")
        return await self._inner.image_status(image)

    async def pull_image(self, image: str) -> str:
        with self._call("PullImage", f"image/{image}", image=image) as span:
            reference = await self._inner.pull_image(image)
            pulled = await self._inner.image_status(image)
            span.detail = {"image": image, "ref": reference, "bytes": pulled.size if pulled is not None else 0}
            return reference

    async def remove_image(self, image: str) -> None:
        with self._call("RemoveImage", f"image/{image}"):
            await self._inner.remove_image(image)

    def pulls(self) -> Sequence[PullProgress]:
        return self._inner.pulls()

    # -- the node

    def network_probe(self, container_id: str, port: int, path: str | None = None) -> tuple[str, str]:
        return self._inner.network_probe(container_id, port, path)

    def snapshot(self) -> Object:
        return self._inner.snapshot()

    def log(self, container_id: str) -> ContainerLog | None:
        return self._inner.log(container_id)

    def read_file(self, container_id: str, path: str) -> str | None:
        return self._inner.read_file(container_id, path)
