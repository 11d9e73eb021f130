"""The scheduling queue (upstream's backend/queue/scheduling_queue.go).

Three places: the active heap, from which pods are taken; the back-off heap; the pool of unschedulable pods, where a pod
rests until an event comes that, by the hint of a plugin which rejected it, may let it fit.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

from engine.client import Origin
from engine.clock import Clock, Timer
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
    HintFunction,
    QueueingHint,
    pod_events,
)
from engine.scheduler.framework.plugin import PreEnqueuePlugin
from engine.scheduler.metrics import SchedulerMetrics
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.queue.backoff import INITIAL_BACKOFF, MAX_BACKOFF, BackoffQueue, Less
from engine.scheduler.queue.heap import Heap
from engine.scheduler.queue.in_flight import InFlight
from engine.scheduler.queue.nominator import Nominator
from engine.scheduler.queue.queued_pod import Move, QueuedPod
from engine.scheduler.queue.unschedulable import UnschedulablePods

log = logging.getLogger(__name__)

MAX_IN_UNSCHEDULABLE = 5 * 60.0
FLUSH_PERIOD = 30.0

ACTIVE, BACKOFF, UNSCHEDULABLE = "active", "backoff", "unschedulable"

# Of one profile: which plugins wait for an event, and whom to ask whether it helps a pod.
Hints = list[tuple[ClusterEvent, str, HintFunction]]
PreCheck = Callable[[PodInfo], bool]


class Strategy(IntEnum):
    """What an event is worth to a pod; the greater wins."""

    SKIP = 0
    AFTER_BACKOFF = 1
    IMMEDIATELY = 2


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
        self._hints = hints
        self._pre_enqueue = pre_enqueue
        self._interested: dict[ClusterEvent, list[str]] = {}
        self._asked: dict[tuple[ClusterEvent, str], list[tuple[str, HintFunction]]] = {}
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
        if queued.initial_attempt is None:
            queued.initial_attempt = self._clock.monotonic()
        self.in_flight.begin(queued.pod.uid)
        return queued

    def _next(self) -> QueuedPod | None:
        queued = self.active.pop()
        if queued is None and (queued := self.backoff.pop_early()) is not None:
            self._moved(queued, POP_FROM_BACKOFF, ACTIVE)
        return queued

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
            strategy, plugin = self._worth(queued, event, old, new)
            if self._requeue(queued, strategy, event.label, plugin) != UNSCHEDULABLE:
                return

    def add_unschedulable(self, queued: QueuedPod) -> None:
        """A pod comes back from an attempt that failed. Raises ValueError if it waits already."""
        try:
            if self.find(queued.pod.key) is not None:
                raise ValueError(f"Pod {queued.pod.key} is already present in the queue")
            self._metrics.rejected(queued.rejectors, queued.pod.scheduler_name)
            if queued.rejectors:
                queued.unschedulable_count += 1
                queued.consecutive_errors = 0
            else:
                # No plugin said no: something broke, such as a call to the API server.
                queued.consecutive_errors += 1
            queued.timestamp = self._clock.monotonic()
            strategy, plugin = self._worth_of_meanwhile(queued)
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
        queued = self.unschedulable.get(pod.key) or self.backoff.remove(pod.key)
        if queued is not None:
            self._to_active(queued, FORCE_ACTIVATE.label)
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
        elif plugins := self._plugins_interested(event):
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
        if queued.gated and not any(asked.matches(event) for asked in queued.gating_events):
            return
        strategy, plugin = self._worth(queued, event, old, new)
        if strategy is not Strategy.SKIP:
            queued.woken(origin)
            self._requeue(queued, strategy, event.label, plugin)

    def _plugins_interested(self, event: ClusterEvent) -> list[str]:
        known = self._interested.get(event)
        if known is None:
            known = self._interested[event] = list(
                dict.fromkeys(
                    plugin for hints in self._hints.values() for asked, plugin, _ in hints if asked.matches(event)
                )
            )
        return known

    def _asked_about(self, event: ClusterEvent, profile: str) -> list[tuple[str, HintFunction]]:
        """The plugins of a profile that wait for an event, with their hints."""
        known = self._asked.get((event, profile))
        if known is None:
            hints = self._hints.get(profile, ())
            known = [(plugin, hint) for asked, plugin, hint in hints if asked.matches(event)]
            self._asked[event, profile] = known
        return known

    def _worth(self, queued: QueuedPod, event: ClusterEvent, old: Any, new: Any) -> tuple[Strategy, str]:
        """What the event is worth to the pod by the hints of the plugins that rejected it, and by whose hint."""
        rejectors = queued.rejectors
        if not rejectors:
            return Strategy.AFTER_BACKOFF, ""
        if event.wildcard:
            meant = not isinstance(new, PodInfo) or new.uid == queued.pod.uid
            return (Strategy.AFTER_BACKOFF if meant else Strategy.SKIP), ""
        best, by = Strategy.SKIP, ""
        for plugin, hint in self._asked_about(event, queued.pod.scheduler_name):
            if plugin not in rejectors:
                continue
            if _ask(hint, plugin, queued.pod, old, new) is QueueingHint.SKIP:
                continue
            if plugin in queued.pending_plugins:
                return Strategy.IMMEDIATELY, plugin
            if best is Strategy.SKIP:
                best, by = Strategy.AFTER_BACKOFF, plugin
            if not queued.pending_plugins:
                break
        return best, by

    def _worth_of_meanwhile(self, queued: QueuedPod) -> tuple[Strategy, str]:
        """The same for all that happened while the pod was in flight."""
        if not queued.rejectors:
            return Strategy.AFTER_BACKOFF, ""
        best, by = Strategy.SKIP, ""
        for _, event, old, new in self.in_flight.since(queued.pod.uid):
            strategy, plugin = self._worth(queued, event, old, new)
            if strategy > best:
                best, by = strategy, plugin
            if best is Strategy.IMMEDIATELY or (best and not queued.pending_plugins):
                break
        return best, by

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
        if not self._passes_gates(queued, event):
            return UNSCHEDULABLE
        self.unschedulable.remove(queued.pod.key)
        self.backoff.remove(queued.pod.key)
        self.active.add(queued.pod.key, queued)
        if event in (UNSCHEDULED_POD_ADD.label, UNSCHEDULED_POD_UPDATE.label):
            self.nominator.add(queued.pod)
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
        plugins = self._pre_enqueue.get(queued.pod.scheduler_name, [])
        # The plugin that turned it away before is asked first.
        for plugin in sorted(plugins, key=lambda p: p.name != queued.gating_plugin):
            status = plugin.pre_enqueue(queued.pod)
            if not status.ok:
                if plugin.name not in queued.rejectors:
                    self._metrics.rejected([plugin.name], queued.pod.scheduler_name)
                queued.unschedulable_plugins[plugin.name] = None
                queued.gating_plugin = plugin.name
                queued.gating_events = [
                    asked for asked, name, _ in self._hints.get(queued.pod.scheduler_name, ()) if name == plugin.name
                ]
                if queued.pod.key not in self.unschedulable:
                    self._moved(queued, event, UNSCHEDULABLE, plugin.name)
                self._to_unschedulable(queued)
                return False
        queued.gating_plugin, queued.gating_events = "", []
        return True

    def _moved(self, queued: QueuedPod, event: str, to: str, plugin: str = "") -> None:
        queued.moves.append(Move(self._clock.micro_timestamp(), event, to, plugin))
        self._metrics.incoming.add(to, event)

    # -- what time does

    def _backoff_complete(self) -> None:
        for queued in self.backoff.pop_due():
            self.active.add(queued.pod.key, queued)
            self._moved(queued, BACKOFF_COMPLETE, ACTIVE)
            self._wake.set()

    def _arm_flush(self) -> None:
        """One timer while anything rests in the pool."""
        if self._running and self._flush is None and len(self.unschedulable):
            self._flush = self._clock.call_later(FLUSH_PERIOD, self._flush_leftovers)

    def _flush_leftovers(self) -> None:
        """Nothing rests for ever: an event may have been missed, or a hint be wrong."""
        self._flush = None
        limit = self._clock.monotonic() - MAX_IN_UNSCHEDULABLE
        for queued in [q for q in self.unschedulable.items() if q.timestamp < limit]:
            self._move(queued, UNSCHEDULABLE_TIMEOUT, None, None)
        self._arm_flush()

    def counts(self) -> dict[str, int]:
        """How many pods wait where; the gated are among the unschedulable."""
        return {
            ACTIVE: len(self.active),
            BACKOFF: len(self.backoff),
            UNSCHEDULABLE: len(self.unschedulable),
            "gated": sum(queued.gated for queued in self.unschedulable.items()),
        }


def _ask(hint: HintFunction, plugin: str, pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    """A hint that fails must neither keep the pod waiting nor stop what told of the event."""
    try:
        return hint(pod, old, new)
    except Exception:
        log.exception("queueing hint of %s for pod %s", plugin, pod.key)
        return QueueingHint.QUEUE
