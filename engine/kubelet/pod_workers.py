"""One worker for each Pod, and the states that it goes through (pkg/kubelet pod_workers.go).

SyncPod until something asks the Pod to end; then TerminatingPod until nothing of it runs, TerminatedPod to clean up,
and finished. Never back. A worker's task exists only while there is work, so that an idle Pod costs no task.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.client import Origin, first_cause, woken_by
from engine.clock import Timer
from engine.kubelet import pods
from engine.kubelet.cri import CriError
from engine.kubelet.status.generate import Override
from engine.tasks import Supervisor
from engine.trace import Hop
from engine.world import World

log = logging.getLogger(__name__)

BACK_OFF_PERIOD = 10.0
BACK_OFF_JITTER = 0.5


class WorkType(StrEnum):
    SYNC_POD = "SyncPod"
    TERMINATING_POD = "TerminatingPod"
    TERMINATED_POD = "TerminatedPod"
    FINISHED = "finished"


class SyncOutcome(NamedTuple):
    """What a SyncPod came to: whether the Pod has reached its end, and when to look again (None: not before
    something happens)."""

    terminal: bool = False
    again_after: float | None = None


class PodSyncer(Protocol):
    """The three kinds of work."""

    async def sync_pod(self, pod: Object) -> SyncOutcome: ...

    async def sync_terminating_pod(self, pod: Object, *, grace: float | None, override: Override | None) -> None: ...

    async def sync_terminated_pod(self, pod: Object) -> None: ...


@dataclass(slots=True)
class PodWorker:
    pod: Object
    state: WorkType = WorkType.SYNC_POD
    origins: list[Origin] = field(default_factory=list)
    dirty: bool = False
    grace: float | None = None
    override: Override | None = None
    deleted: bool = False  # gone from the API
    interrupted: bool = False
    working: WorkType | None = None
    syncs: int = 0
    error: str = ""
    started_at: str = ""
    terminating_at: str = ""
    terminated_at: str = ""
    task: asyncio.Task[None] | None = None
    timer: Timer | None = None


class PodWorkers:
    """`wake` asks the SyncLoop to come back to a Pod; `finished` says that a worker has nothing more to do."""

    def __init__(
        self,
        syncer: PodSyncer,
        world: World,
        *,
        wake: Callable[[str], None],
        finished: Callable[[str], None],
        node_name: str,
    ) -> None:
        self._syncer = syncer
        self._world = world
        self._wake = wake
        self._finished = finished
        self._component = f"kubelet {node_name}"
        self._rng = world.rng.stream(f"pod-workers/{node_name}")
        self._workers: dict[str, PodWorker] = {}
        self._tasks = Supervisor(f"{self._component} workers")

    async def close(self) -> None:
        for worker in self._workers.values():
            _cancel_timer(worker)
        await self._tasks.close()

    # -- updates

    def update_pod(self, pod: Object, origin: Origin | None = None) -> None:
        """A Pod is new or has changed: work on it."""
        uid = pods.uid_of(pod)
        worker = self._workers.get(uid)
        if worker is None:
            worker = self._workers[uid] = PodWorker(pod, started_at=self._world.clock.micro_timestamp())
        worker.pod = pod
        if pods.is_deleted(pod):
            self._terminate(worker, grace=pods.grace_period(pod))
        elif pods.phase_of(pod) in pods.TERMINAL_PHASES:
            self._terminate(worker, grace=None)
        self._work(uid, worker, origin)

    def sync(self, uid: str, origin: Origin | None = None) -> None:
        """Something has happened to a Pod that is known."""
        worker = self._workers.get(uid)
        if worker is not None:
            self._work(uid, worker, origin)

    def kill_pod(self, uid: str, *, grace: float | None, override: Override | None) -> None:
        """End a Pod that the API does not want to end: an eviction, a deadline."""
        worker = self._workers.get(uid)
        if worker is not None:
            worker.override = worker.override or override
            self._terminate(worker, grace=grace)
            self._work(uid, worker, None)

    def remove_pod(self, uid: str, origin: Origin | None) -> None:
        """The Pod is gone from the API: what still runs of it is ended."""
        worker = self._workers.get(uid)
        if worker is None:
            return
        worker.deleted = True
        self._terminate(worker, grace=pods.grace_period(worker.pod) or 1.0)
        self._work(uid, worker, origin)
        if worker.state == WorkType.FINISHED:
            self._finished(uid)

    def forget(self, uid: str) -> None:
        worker = self._workers.pop(uid, None)
        if worker is not None:
            _cancel_timer(worker)

    def get(self, uid: str) -> PodWorker | None:
        return self._workers.get(uid)

    def items(self) -> list[tuple[str, PodWorker]]:
        return list(self._workers.items())

    def could_have_running_containers(self, uid: str) -> bool:
        worker = self._workers.get(uid)
        return worker is not None and worker.state in (WorkType.SYNC_POD, WorkType.TERMINATING_POD)

    def _terminate(self, worker: PodWorker, *, grace: float | None) -> None:
        shorter = worker.grace is not None and grace is not None and grace < worker.grace
        if worker.state == WorkType.SYNC_POD:
            worker.state = WorkType.TERMINATING_POD
            worker.terminating_at = self._world.clock.micro_timestamp()
            worker.grace = grace
            self._interrupt(worker)  # an image pull, say, is of no more use
        elif worker.state == WorkType.TERMINATING_POD and shorter:
            worker.grace = grace
            self._interrupt(worker)

    def _interrupt(self, worker: PodWorker) -> None:
        """Break off what the worker is doing; it goes on with what is to be done now."""
        if worker.task is not None and not worker.task.done() and worker.working is not None:
            worker.interrupted = True
            worker.task.cancel()

    # -- work

    def _work(self, uid: str, worker: PodWorker, origin: Origin | None) -> None:
        if origin is not None:
            worker.origins.append(origin)
        if worker.state == WorkType.FINISHED:
            worker.origins.clear()
            return
        worker.dirty = True
        if worker.task is None or worker.task.done():
            worker.task = Context().run(self._tasks.spawn, self._run(uid, worker), pods.name_of(worker.pod))

    async def _run(self, uid: str, worker: PodWorker) -> None:
        """Work until nothing is left to do."""
        while worker.dirty and worker.state != WorkType.FINISHED:
            worker.dirty = False
            _cancel_timer(worker)
            origins, worker.origins = worker.origins, []
            try:
                await self._step(uid, worker, origins)
            except asyncio.CancelledError:
                if not worker.interrupted:
                    raise
                worker.interrupted = False
                if worker.task is not None:
                    worker.task.uncancel()
                worker.dirty = True
                worker.origins = [*origins, *worker.origins]
            if worker.dirty:
                await self._world.clock.sleep(0)  # what the SyncLoop still has for this Pod is answered along with it
        if worker.state == WorkType.FINISHED:
            self._finished(uid)

    async def _step(self, uid: str, worker: PodWorker, origins: list[Origin]) -> None:
        worker.working = worker.state
        worker.syncs += 1
        again: float | None = None
        try:
            with self._world.tracer.span(
                Hop.KUBELET,
                component=self._component,
                verb="sync",
                object=pods.trace_object(worker.pod),
                cause=first_cause(origins),
                revision=origins[0].revision if origins else 0,
                woken_by=woken_by(origins),
                detail={"work": worker.state.value},
            ):
                again = await self._do(worker)
            worker.error = ""
        except (ApiError, CriError, ConnectionError) as error:
            worker.error = str(error)
            log.warning("%s: error syncing pod %s, skipping: %s", self._component, pods.full_name(worker.pod), error)
            again = BACK_OFF_PERIOD * (1 + BACK_OFF_JITTER * self._rng.random())
        finally:
            worker.working = None
        if again is not None:
            worker.timer = self._world.clock.call_later(again, lambda: self._wake(uid))

    async def _do(self, worker: PodWorker) -> float | None:
        """One unit of work in the worker's state; when to come back."""
        if worker.state == WorkType.SYNC_POD:
            outcome = await self._syncer.sync_pod(worker.pod)
            if outcome.terminal and worker.state == WorkType.SYNC_POD:
                worker.terminating_at = self._world.clock.micro_timestamp()
                worker.state = WorkType.TERMINATING_POD
                worker.dirty = True
            return outcome.again_after
        if worker.state == WorkType.TERMINATING_POD:
            await self._syncer.sync_terminating_pod(worker.pod, grace=worker.grace, override=worker.override)
            worker.state = WorkType.TERMINATED_POD
            worker.terminated_at = self._world.clock.micro_timestamp()
            worker.dirty = True
        elif worker.state == WorkType.TERMINATED_POD:
            await self._syncer.sync_terminated_pod(worker.pod)
            worker.state = WorkType.FINISHED
        return None

    # -- the view

    def view(self) -> list[Object]:
        now = self._world.clock.monotonic()
        return [
            {
                "uid": uid,
                "pod": f"{pods.namespace_of(worker.pod)}/{pods.name_of(worker.pod)}",
                "state": worker.state.value,
                "working": worker.working is not None,
                "pending": worker.dirty,
                "syncs": worker.syncs,
                "error": worker.error,
                "startedAt": worker.started_at,
                "terminatingAt": worker.terminating_at,
                "terminatedAt": worker.terminated_at,
                "gracePeriodSeconds": worker.grace,
                "nextSyncSeconds": None if worker.timer is None else round(max(0.0, worker.timer.due - now), 3),
            }
            for uid, worker in self._workers.items()
        ]


def _cancel_timer(worker: PodWorker) -> None:
    if worker.timer is not None:
        worker.timer.cancel()
        worker.timer = None
