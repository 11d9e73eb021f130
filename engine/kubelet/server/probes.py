"""/metrics/probes: how often probes came to what (pkg/kubelet/prober prober_manager.go). Those of a Pod go with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from engine.kubelet import pods
from engine.kubelet.prober.worker import ProbeWorker
from engine.metric_text import metric
from engine.metrics import Sample


def probe_lines(workers: Sequence[ProbeWorker], started: datetime) -> Iterator[str]:
    yield from metric(
        "prober_probe_total",
        "counter",
        sorted(_samples(workers), key=lambda sample: tuple(sample.labels.values())),
        "[ALPHA] Cumulative number of a liveness, readiness or startup probe for a container by result.",
    )
    yield from metric(
        "process_start_time_seconds",
        "gauge",
        [Sample({}, started.timestamp())],
        "[ALPHA] Start time of the process since unix epoch in seconds.",
    )


def _samples(workers: Sequence[ProbeWorker]) -> Iterator[Sample]:
    for worker in workers:
        labels = {
            "container": worker.container["name"],
            "namespace": pods.namespace_of(worker.pod),
            "pod": pods.name_of(worker.pod),
            "pod_uid": pods.uid_of(worker.pod),
            "probe_type": worker.kind.heading,
        }
        for result, count in (("failed", worker.failures), ("successful", worker.successes)):
            if count:
                yield Sample({**labels, "result": result}, count)
