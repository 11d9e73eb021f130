"""Pods that wait out a back-off before they are tried again (upstream's backend/queue/backoff_queue.go).

Expiry is cut to whole seconds, so that pods due within one second come out together, the most important first.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from engine.clock import Clock, Timer
from engine.scheduler.queue.heap import Heap
from engine.scheduler.queue.queued_pod import QueuedPod

INITIAL_BACKOFF = 1.0
MAX_BACKOFF = 10.0

Less = Callable[[QueuedPod, QueuedPod], bool]


def backoff_seconds(failures: int, *, initial: float = INITIAL_BACKOFF, maximum: float = MAX_BACKOFF) -> float:
    """1 s, 2 s, 4 s, 8 s, 10 s, ...; none for a pod that has not failed."""
    if failures <= 0:
        return 0.0
    return float(min(initial * 2 ** min(failures - 1, 32), maximum))


class BackoffQueue:
    """Two heaps: pods that plugins rejected, and pods that failed by an error, which nothing may hurry."""

    def __init__(
        self, clock: Clock, less: Less, *, initial: float = INITIAL_BACKOFF, maximum: float = MAX_BACKOFF
    ) -> None:
        self._clock = clock
        self._initial = initial
        self._maximum = maximum

        def sooner(first: QueuedPod, second: QueuedPod) -> bool:
            if first.backoff_expiration != second.backoff_expiration:
                return first.backoff_expiration < second.backoff_expiration
            return less(first, second)

        self._rejected: Heap[QueuedPod] = Heap(sooner)
        self._errors: Heap[QueuedPod] = Heap(sooner)
        self._timer: Timer | None = None
        self._on_due: Callable[[], None] = lambda: None

    def run(self, on_due: Callable[[], None]) -> None:
        """Call `on_due` whenever a pod's back-off is over."""
        self._on_due = on_due
        self._arm()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._on_due = lambda: None

    def __len__(self) -> int:
        return len(self._rejected) + len(self._errors)

    def expiration(self, queued: QueuedPod) -> float:
        failures = queued.consecutive_errors or queued.unschedulable_count
        seconds = backoff_seconds(failures, initial=self._initial, maximum=self._maximum)
        return float(math.floor(queued.timestamp + seconds)) if seconds else 0.0

    def is_backing_off(self, queued: QueuedPod) -> bool:
        return self.expiration(queued) > math.floor(self._clock.monotonic())

    def add(self, queued: QueuedPod) -> None:
        queued.backoff_expiration = self.expiration(queued)
        heap = self._rejected if queued.rejectors else self._errors
        heap.add(queued.pod.key, queued)
        self._arm()

    def get(self, key: str) -> QueuedPod | None:
        return self._rejected.get(key) or self._errors.get(key)

    def remove(self, key: str) -> QueuedPod | None:
        return self._rejected.remove(key) or self._errors.remove(key)

    def pop_early(self) -> QueuedPod | None:
        """The next pod that a plugin rejected, before its time: there is nothing better to do (KEP 5142)."""
        return self._rejected.pop()

    @property
    def can_pop_early(self) -> bool:
        return len(self._rejected) > 0

    def pop_due(self) -> list[QueuedPod]:
        """All pods whose back-off is over."""
        now, due = math.floor(self._clock.monotonic()), []
        for heap in (self._rejected, self._errors):
            while (first := heap.peek()) is not None and first.backoff_expiration <= now:
                heap.pop()
                due.append(first)
        self._arm()
        return due

    def items(self, limit: int | None = None) -> list[QueuedPod]:
        return [*self._rejected.items(limit), *self._errors.items(limit)][:limit]

    def _arm(self) -> None:
        heads = [head for heap in (self._rejected, self._errors) if (head := heap.peek()) is not None]
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if heads:
            due = max(min(head.backoff_expiration for head in heads), self._clock.monotonic())
            self._timer = self._clock.call_at(due, lambda: self._on_due())
