"""The scheduling queue (upstream's backend/queue/scheduling_queue.go).

Three places: the active heap, from which pods are taken; the back-off heap; the pool of unschedulable pods, where a pod
rests until an event comes that, by the hint of a plugin which rejected it, may let it fit.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from engine.client import Origin
from engine.clock import Clock, Timer, wall
from engine.scheduler.framework.events import (
    BACKOFF_COMPLETE,
    FORCE_ACTIVATE,
    POP_FROM_BACKOFF,
    SCHEDULE_ATTEMPT_FAILURE,
    UNSCHEDULABLE_TIMEOUT,
    UNSCHEDULED_POD_ADD,
    UNSCHEDULED_POD_UPDATE,
    ClusterEvent,
    EventResource,
    pod_events,
)
from engine.scheduler.framework.plugin import PreEnqueuePlugin
from engine.scheduler.metrics import SchedulerMetrics
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.queue.backoff import INITIAL_BACKOFF, MAX_BACKOFF, BackoffQueue, Less
from engine.scheduler.queue.heap import Heap
from engine.scheduler.queue.hints import Hints, QueueingHints, Strategy
from engine.scheduler.queue.in_flight import InFlight
from engine.scheduler.queue.nominator import Nominator
from engine.scheduler.queue.queued_pod import Move, QueuedPod
from engine.scheduler.queue.unschedulable import UnschedulablePods

log = logging.getLogger(__name__)

MAX_IN_UNSCHEDULABLE = 5 * 60.0
FLUSH_PERIOD = 30.0

ACTIVE, BACKOFF, UNSCHEDULABLE = "active", "backoff", "unschedulable"
_IN_WORDS = {ACTIVE: "the active", BACKOFF: "the backoff", UNSCHEDULABLE: "unschedulable"}

PreCheck = Callable[[PodInfo], bool]


class SchedulingQueue:
    def __init__(
        self,
        clock: Clock,
        less: Less,
        *,
        hints: Mapping[str, Hints],
        pre_enqueue: Mapping[str, list[PreEnqueuePlugin]],
        nominator: Nominator | None = None,
        initial_backoff: float = INITIAL_BACKOFF,
        max_backoff: float = MAX_BACKOFF,
        metrics: SchedulerMetrics | None = None,
    ) -> None:
        """`hints` and `pre_enqueue` are those of each profile, by schedulerName."""
        self.nominator = nominator or Nominator()
        self.active: Heap[QueuedPod] = Heap(less)
        self.backoff = BackoffQueue(clock, less, initial=initial_backoff, maximum=max_backoff)
        self.unschedulable = UnschedulablePods()
        self.in_flight = InFlight()
        self._clock = clock
        self._metrics = metrics or SchedulerMetrics()
        self._hints = QueueingHints(hints, self._metrics)
        self._pre_enqueue = pre_enqueue
        self._wake = asyncio.Event()
        self._flush: Timer | None = None
        self._running = False

    def run(self) -> None:
        self._running = True
        self.backoff.run(self._backoff_complete)
        self._arm_flush()

    def close(self) -> None:
        self._running = False
        self.backoff.close()
        if self._flush is not None:
            self._flush.cancel()

    # -- taking pods out

    async def pop(self) -> QueuedPod:
        """The next pod to schedule; waits for one. It is in flight until `done` or `add_unschedulable`."""
        while (queued := self._next()) is None:
            self._wake.clear()
            await self._wake.wait()
        queued.attempts += 1
        self._metrics.rejected(queued.rejectors, queued.pod.scheduler_name, by=-1)
        queued.unschedulable_plugins, queued.pending_plugins = {}, {}
        queued.gating_plugin, queued.gating_events = "", []
        self.in_flight.begin(queued.pod.uid)
        return queued

    def _next(self) -> QueuedPod | None:
        while True:
            queued = self.active.pop()
            if queued is None and (queued := self.backoff.pop_early()) is not None:
                self._moved(queued, POP_FROM_BACKOFF, ACTIVE)
            if queued is None or queued.pod.uid not in self.in_flight:
                return queued
            # Only a bug puts a pod here that is being tried. Trying it twice at once would be worse than dropping it.
            log.error("the same pod is tracked in multiple places in the scheduler: %s", queued.pod.key)

    def done(self, uid: str) -> None:
        """The attempt has ended, or has come to where nothing can make the pod unschedulable any more."""
        self.in_flight.done(uid)

    def find(self, key: str) -> tuple[QueuedPod, str] | None:
        """A waiting pod and where it waits."""
        for place, found in (
            (ACTIVE, self.active.get(key)),
            (BACKOFF, self.backoff.get(key)),
            (UNSCHEDULABLE, self.unschedulable.get(key)),
        ):
            if found is not None:
                return found, place
        return None

    # -- putting pods in

    def add(self, pod: PodInfo, origin: Origin | None = None) -> None:
        queued = QueuedPod(pod, self._clock.monotonic(), origins=[origin] if origin is not None else [])
        self._to_active(queued, UNSCHEDULED_POD_ADD.label)

    def update(self, old: PodInfo, new: PodInfo, origin: Origin | None = None) -> None:
        """A waiting pod has changed."""
        events = pod_events(old, new, EventResource.TARGET_POD)
        if new.uid in self.in_flight:
            for event in events:
                self.in_flight.happened(event, old, new)
            return
        for heap in (self.active, self.backoff):
            if (queued := heap.get(old.key)) is not None:
                self._refresh(queued, old, new, origin)
                if heap is self.active:
                    self.active.add(new.key, queued)
                return
        waiting = self.unschedulable.get(new.key)
        if waiting is None:
            fresh = QueuedPod(new, self._clock.monotonic(), origins=[origin] if origin is not None else [])
            self._to_active(fresh, UNSCHEDULED_POD_UPDATE.label)
            return
        self._refresh(waiting, old, new, origin)
        self._requeue_updated(waiting, events, old, new)

    def _refresh(self, queued: QueuedPod, old: PodInfo, new: PodInfo, origin: Origin | None) -> None:
        queued.pod = new
        queued.woken(origin)
        self.nominator.update(old, new)

    def _requeue_updated(self, queued: QueuedPod, events: list[ClusterEvent], old: PodInfo, new: PodInfo) -> None:
        for event in events:
            strategy, plugin = self._hints.worth(queued, event, old, new)
            if self._requeue(queued, strategy, event.label, plugin) != UNSCHEDULABLE:
                return

    def add_unschedulable(self, queued: QueuedPod) -> None:
        """A pod comes back from an attempt that failed. Raises ValueError if it waits already."""
        try:
            if (found := self.find(queued.pod.key)) is not None:
                raise ValueError(f"Pod {queued.pod.key} is already present in {_IN_WORDS[found[1]]} queue")
            self._metrics.rejected(queued.rejectors, queued.pod.scheduler_name)
            if queued.rejectors:
                queued.unschedulable_count += 1
                queued.consecutive_errors = 0
            else:
                # No plugin said no: something broke, such as a call to the API server.
                queued.consecutive_errors += 1
            queued.timestamp = self._clock.monotonic()
            queued.flushed = False
            strategy, plugin = self._hints.worth_of_all(queued, self.in_flight.since(queued.pod.uid))
            self._requeue(queued, strategy, SCHEDULE_ATTEMPT_FAILURE, plugin)
        finally:
            self.done(queued.pod.uid)

    def delete(self, pod: PodInfo) -> None:
        self.nominator.remove(pod.uid)
        for part in (self.active, self.backoff, self.unschedulable):
            if (queued := part.remove(pod.key)) is not None:
                self._metrics.rejected(queued.rejectors, queued.pod.scheduler_name, by=-1)
                return

    def activate(self, pod: PodInfo) -> None:
        """Put a pod into the active heap whatever it waits for, also if it is only coming back now."""
        if (queued := self.unschedulable.get(pod.key)) is not None:
            self._to_active(queued, FORCE_ACTIVATE.label)
        elif (queued := self.backoff.remove(pod.key)) is not None:
            # It has passed the gates on its way there.
            self._into_active(queued, FORCE_ACTIVATE.label)
        elif pod.uid in self.in_flight:
            self.in_flight.happened(FORCE_ACTIVATE, None, pod)

    # -- moving pods

    def move_all(
        self,
        event: ClusterEvent,
        old: Any,
        new: Any,
        *,
        pre_check: PreCheck | None = None,
        origin: Origin | None = None,
    ) -> None:
        """Something happened in the cluster, by the write `origin`: move those pods that it may help."""
        if event.wildcard:
            candidates = self.unschedulable.items()
        elif plugins := self._hints.interested(event):
            candidates = self.unschedulable.rejected_by(plugins) if len(self.unschedulable) else []
        else:
            return
        for queued in candidates:
            if pre_check is None or pre_check(queued.pod):
                self._move(queued, event, old, new, origin=origin)
        self.in_flight.happened(event, old, new)

    def _move(
        self, queued: QueuedPod, event: ClusterEvent, old: Any, new: Any, *, origin: Origin | None = None
    ) -> None:
        # Wildcards ask every gate again: an event may have been missed.
        if queued.gated and not event.wildcard and not any(asked.matches(event) for asked in queued.gating_events):
            return
        strategy, plugin = self._hints.worth(queued, event, old, new)
        if strategy is not Strategy.SKIP:
            queued.woken(origin)
            self._requeue(queued, strategy, event.label, plugin)

    def _requeue(self, queued: QueuedPod, strategy: Strategy, event: str, plugin: str = "") -> str:
        """Put a pod where the strategy says; returns where it is then."""
        if strategy is Strategy.SKIP:
            fresh = queued.pod.key not in self.unschedulable
            self._to_unschedulable(queued)
            if fresh:
                self._moved(queued, event, UNSCHEDULABLE, plugin)
            return UNSCHEDULABLE
        if strategy is Strategy.AFTER_BACKOFF and self.backoff.is_backing_off(queued):
            return self._to_backoff(queued, event, plugin)
        return self._to_active(queued, event, plugin)

    def _to_active(self, queued: QueuedPod, event: str, plugin: str = "") -> str:
        if event in (UNSCHEDULED_POD_ADD.label, UNSCHEDULED_POD_UPDATE.label):
            # Also of one that is turned away: others are to leave it its place.
            self.nominator.add(queued.pod)
        if not self._passes_gates(queued, event):
            return UNSCHEDULABLE
        return self._into_active(queued, event, plugin)

    def _into_active(self, queued: QueuedPod, event: str, plugin: str = "") -> str:
        if queued.initial_attempt is None:
            queued.initial_attempt = self._clock.monotonic()
        self.unschedulable.remove(queued.pod.key)
        self.backoff.remove(queued.pod.key)
        self.active.add(queued.pod.key, queued)
        self._moved(queued, event, ACTIVE, plugin)
        self._wake.set()
        return ACTIVE

    def _to_backoff(self, queued: QueuedPod, event: str, plugin: str) -> str:
        if not self._passes_gates(queued, event):
            return UNSCHEDULABLE
        self.unschedulable.remove(queued.pod.key)
        self.backoff.add(queued)
        self._moved(queued, event, BACKOFF, plugin)
        if self.backoff.can_pop_early:
            self._wake.set()
        return BACKOFF

    def _to_unschedulable(self, queued: QueuedPod) -> None:
        self.unschedulable.add(queued)
        self._arm_flush()

    def _passes_gates(self, queued: QueuedPod, event: str) -> bool:
        """Run PreEnqueue; a pod that is turned away rests in the pool until its gate opens."""
        profile = queued.pod.scheduler_name
        plugins = self._pre_enqueue.get(profile, [])
        asked, started = list[tuple[str, str, float]](), wall()
        turned_away = message = ""
        # The plugin that turned it away before is asked first.
        for plugin in sorted(plugins, key=lambda p: p.name != queued.gating_plugin):
            began = wall()
            status = plugin.pre_enqueue(queued.pod)
            asked.append((plugin.name, status.code.label, wall() - began))
            if not status.ok:
                turned_away, message = plugin.name, status.message
                break
        self._metrics.gated(asked, profile, wall() - started)
        if not turned_away:
            queued.gating_plugin, queued.gating_events = "", []
            return True
        if turned_away not in queued.rejectors:
            self._metrics.rejected([turned_away], profile)
        queued.unschedulable_plugins[turned_away] = None
        queued.flushed = False
        queued.gating_plugin, queued.gating_message = turned_away, message
        queued.gating_events = self._hints.events_of(turned_away, profile)
        self._gate(queued, event)
        return False

    def _gate(self, queued: QueuedPod, event: str) -> None:
        """Put a pod that was turned away into the pool, unless it waits elsewhere already."""
        key = queued.pod.key
        if key in self.active or self.backoff.get(key) is not None:
            return
        if key not in self.unschedulable:
            self._moved(queued, event, UNSCHEDULABLE, queued.gating_plugin)
        self._to_unschedulable(queued)

    def _moved(self, queued: QueuedPod, event: str, to: str, plugin: str = "") -> None:
        queued.moves.append(Move(self._clock.micro_timestamp(), event, to, plugin))
        self._metrics.came_in(to, event)

    # -- what time does

    def _backoff_complete(self) -> None:
        for queued in self.backoff.pop_due():
            self._into_active(queued, BACKOFF_COMPLETE)

    def _arm_flush(self) -> None:
        """One timer while anything rests in the pool."""
        if self._running and self._flush is None and len(self.unschedulable):
            self._flush = self._clock.call_later(FLUSH_PERIOD, self._flush_leftovers)

    def _flush_leftovers(self) -> None:
        """Nothing rests for ever: an event may have been missed, or a hint be wrong."""
        self._flush = None
        now = self._clock.monotonic()
        limit = now - MAX_IN_UNSCHEDULABLE
        leftovers = [q for q in self.unschedulable.items() if max(q.timestamp, q.flush_timestamp) < limit]
        for queued in leftovers:
            queued.flush_timestamp, queued.flushed = now, True
            self._move(queued, UNSCHEDULABLE_TIMEOUT, None, None)
        if leftovers:
            # Pods that are being tried are not left over; they count it for something that happened, all the same.
            self.in_flight.happened(UNSCHEDULABLE_TIMEOUT, None, None)
        self._arm_flush()

    def counts(self) -> dict[str, int]:
        """How many pods wait where; the gated are among the unschedulable."""
        return {
            ACTIVE: len(self.active),
            BACKOFF: len(self.backoff),
            UNSCHEDULABLE: len(self.unschedulable),
            "gated": sum(queued.gated for queued in self.unschedulable.items()),
        }
