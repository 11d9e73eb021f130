"""What a work queue tells of itself (client-go util/workqueue metrics.go; the names and buckets are component-base's,
metrics/prometheus/workqueue).

Durations are the model's: a queue's back-offs and its workers' work happen on that clock.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from engine.clock import Clock
from engine.metrics import Distribution, Sample, exponential_buckets

_BUCKETS = exponential_buckets(1e-6, 10, 10)


class QueueMetrics:
    """`depth` counts a key that was added while it is processed, which the queue itself holds back."""

    def __init__(self, clock: Clock) -> None:
        self.adds = 0
        self.retries = 0
        self.depth = 0
        self._clock = clock
        self._added: dict[Hashable, float] = {}
        self._started: dict[Hashable, float] = {}
        self._waited = Distribution(_BUCKETS)
        self._worked = Distribution(_BUCKETS)

    def add(self, key: Hashable) -> None:
        self.adds += 1
        self.depth += 1
        self._added.setdefault(key, self._clock.monotonic())

    def get(self, key: Hashable) -> None:
        self.depth -= 1
        now = self._clock.monotonic()
        self._started[key] = now
        self._waited.observe(now - self._added.pop(key, now))

    def done(self, key: Hashable) -> None:
        now = self._clock.monotonic()
        began = self._started.pop(key, None)
        if began is not None:
            self._worked.observe(now - began)

    def retry(self) -> None:
        self.retries += 1

    def families(self, name: str) -> list[dict[str, Any]]:
        """In the form of `engine.metrics` views."""
        return [_family(*head, samples) for head, samples in zip(_HEADS, self._samples({"name": name}), strict=True)]

    def _samples(self, labels: dict[str, str]) -> Iterator[list[Sample]]:
        now = self._clock.monotonic()
        running = [now - began for began in self._started.values()]
        yield [Sample(labels, self.adds)]
        yield [Sample(labels, self.depth)]
        yield [Sample(labels, max(running, default=0.0))]
        yield list(self._waited.samples(labels))
        yield [Sample(labels, self.retries)]
        yield [Sample(labels, sum(running))]
        yield list(self._worked.samples(labels))


_HEADS = (
    ("adds_total", "counter", "Total number of adds handled by workqueue"),
    ("depth", "gauge", "Current depth of workqueue"),
    (
        "longest_running_processor_seconds",
        "gauge",
        "How many seconds has the longest running processor for workqueue been running.",
    ),
    (
        "queue_duration_seconds",
        "histogram",
        "How long in seconds an item stays in workqueue before being requested.",
    ),
    ("retries_total", "counter", "Total number of retries handled by workqueue"),
    (
        "unfinished_work_seconds",
        "gauge",
        "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values "
        "indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this "
        "increases.",
    ),
    ("work_duration_seconds", "histogram", "How long in seconds processing an item from workqueue takes."),
)


def _family(name: str, kind: str, help: str, samples: list[Sample]) -> dict[str, Any]:
    return {
        "name": f"workqueue_{name}",
        "type": kind,
        "help": f"[BETA] {help}",
        "samples": [sample._asdict() for sample in samples],
    }
