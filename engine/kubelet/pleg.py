"""The Pod lifecycle event generator, evented: what the runtime tells, as events of Pods (pkg/kubelet/pleg evented.go).

Nothing is polled. A relist, which compares what the runtime holds with nothing at all, happens when the kubelet starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from engine.kubelet.cri import ContainerEvent, ContainerEventType, Runtime
from engine.trace import SpanContext

_KINDS = {
    ContainerEventType.STARTED: "ContainerStarted",
    ContainerEventType.STOPPED: "ContainerDied",
    ContainerEventType.DELETED: "ContainerRemoved",
}


class PodLifecycleEvent(NamedTuple):
    """`type` is ContainerStarted, ContainerDied or ContainerRemoved; `data` the container's or sandbox' id."""

    pod_uid: str
    type: str
    data: str
    cause: SpanContext | None = None

    @property
    def sync_worthy(self) -> bool:
        """Whether the Pod's state can have changed (syncLoopIteration isSyncPodWorthy)."""
        return self.type != "ContainerRemoved"


class Pleg:
    def __init__(self, runtime: Runtime, tell: Callable[[PodLifecycleEvent], None]) -> None:
        self.events = 0
        self.relists = 0
        self._runtime = runtime
        self._tell = tell
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        self._unsubscribe = self._runtime.get_container_events(self._event)

    def stop(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    async def relist(self) -> list[str]:
        """The uids of all Pods of which the runtime holds anything."""
        self.relists += 1
        found = [sandbox.pod_uid for sandbox in await self._runtime.list_pod_sandbox()]
        found += [container.pod_uid for container in await self._runtime.list_containers()]
        return list(dict.fromkeys(found))

    def _event(self, event: ContainerEvent) -> None:
        kind = _KINDS.get(event.type)
        if kind is not None:  # a container that is merely created changes nothing for its Pod
            self.events += 1
            self._tell(PodLifecycleEvent(event.pod_uid, kind, event.container_id, event.cause))
