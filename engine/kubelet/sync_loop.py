"""The kubelet's heart: one loop over five inputs that tells Pod workers to work (kubelet.go syncLoopIteration).

Upstream's tickers become timers that are set only when there is something to come back to: an idle node costs nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import Context
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from engine.api.types import Object
from engine.client import Origin
from engine.kubelet.pleg import PodLifecycleEvent
from engine.kubelet.prober.manager import ProbeUpdate
from engine.tasks import Supervisor


class Input(StrEnum):
    CONFIG = "config"
    PLEG = "pleg"
    SYNC = "sync"
    HOUSEKEEPING = "housekeeping"
    PROBES = "probes"


class Operation(StrEnum):
    """What has become of a Pod in its source (pkg/kubelet/types pod_update.go)."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"  # it has a deletionTimestamp: end it gracefully
    REMOVE = "REMOVE"  # it is gone from the API
    RECONCILE = "RECONCILE"  # only its status differs


class PodUpdate(NamedTuple):
    operation: Operation
    pod: Object
    origin: Origin


class SyncHandler(Protocol):
    """What the loop calls; everything returns at once."""

    def handle_pod_update(self, update: PodUpdate) -> None: ...

    def handle_lifecycle_event(self, event: PodLifecycleEvent) -> None: ...

    def handle_sync(self, pod_uid: str) -> None: ...

    def handle_probe_update(self, update: ProbeUpdate) -> None: ...

    def handle_housekeeping(self) -> None: ...


class SyncLoop:
    def __init__(self, handler: SyncHandler, *, name: str) -> None:
        self.counts: dict[Input, int] = dict.fromkeys(Input, 0)
        self.iterations = 0
        self.last: Object = {}
        self._handler = handler
        self._queue: deque[tuple[Input, Any]] = deque()
        self._wake: asyncio.Future[None] | None = None
        self._tasks = Supervisor(name)

    def start(self) -> None:
        Context().run(self._tasks.spawn, self._run(), "syncloop")

    async def stop(self) -> None:
        await self._tasks.close()

    # -- the five inputs

    def config(self, update: PodUpdate) -> None:
        self._push(Input.CONFIG, update)

    def pleg(self, event: PodLifecycleEvent) -> None:
        self._push(Input.PLEG, event)

    def sync(self, pod_uid: str) -> None:
        """A Pod's time has come: a back-off has passed, a failed sync is tried again, a deadline is reached."""
        self._push(Input.SYNC, pod_uid)

    def probes(self, update: ProbeUpdate) -> None:
        self._push(Input.PROBES, update)

    def housekeeping(self) -> None:
        self._push(Input.HOUSEKEEPING, None)

    def _push(self, kind: Input, item: Any) -> None:
        self._queue.append((kind, item))
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    # -- the loop

    async def _run(self) -> None:
        while True:
            while self._queue:
                self._iterate(*self._queue.popleft())
            self._wake = asyncio.get_running_loop().create_future()
            await self._wake

    def _iterate(self, kind: Input, item: Any) -> None:
        self.iterations += 1
        self.counts[kind] += 1
        self.last = {"input": kind.value, "item": _shown(kind, item)}
        if kind == Input.CONFIG:
            self._handler.handle_pod_update(item)
        elif kind == Input.PLEG:
            self._handler.handle_lifecycle_event(item)
        elif kind == Input.SYNC:
            self._handler.handle_sync(item)
        elif kind == Input.PROBES:
            self._handler.handle_probe_update(item)
        else:
            self._handler.handle_housekeeping()

    def view(self) -> Object:
        return {
            "iterations": self.iterations,
            "inputs": {kind.value: count for kind, count in self.counts.items()},
            "queued": [{"input": kind.value, "item": _shown(kind, item)} for kind, item in self._queue],
            "last": self.last,
        }


def _shown(kind: Input, item: Any) -> str:
    if kind == Input.CONFIG:
        metadata = item.pod["metadata"]
        return f"{item.operation} {metadata.get('namespace', '')}/{metadata['name']}"
    if kind == Input.PLEG:
        return f"{item.type} {item.data[:12]}"
    if kind == Input.PROBES:
        return f"{item.kind} {item.container} {item.result}"
    return str(item or "")
