"""/metrics/resource: CPU and memory alone, which metrics-server reads (pkg/kubelet/metrics/collectors
resource_metrics.go)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from engine.kubelet import pods
from engine.kubelet.server.measured import Measured, MeasuredContainer, MeasuredPod
from engine.metric_text import metric
from engine.metrics import Sample

_NANO = 10**9


def resource_lines(measured: Measured) -> Iterator[str]:
    """In the order of their names."""
    at = milliseconds(measured.at)
    containers = [(labels(pod, each), each) for pod in measured.pods for each in pod.containers]
    yield from metric(
        "container_cpu_usage_seconds_total",
        "counter",
        _sorted(Sample(of, each.use.spent / _NANO, taken=at) for of, each in containers),
        "[STABLE] Cumulative cpu time consumed by the container in core-seconds",
    )
    yield from metric(
        "container_memory_working_set_bytes",
        "gauge",
        _sorted(Sample(of, each.use.memory, taken=at) for of, each in containers),
        "[STABLE] Current working set of the container in bytes",
    )
    yield from metric(
        "container_start_time_seconds",
        "gauge",
        _sorted(Sample(of, each.started.timestamp()) for of, each in containers),
        "[STABLE] Start time of the container since unix epoch in seconds",
    )
    yield from metric(
        "container_swap_usage_bytes",
        "gauge",
        _sorted(Sample(of, 0, taken=at) for of, _ in containers),
        "[ALPHA] Current amount of the container swap usage in bytes. Reported only on non-windows systems",
    )
    yield from _of_node(measured, at)
    yield from _of_pods(measured, at)
    yield from metric(
        "resource_scrape_error",
        "gauge",
        [Sample({}, 0)],
        "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise",
    )


def _of_node(measured: Measured, at: int) -> Iterator[str]:
    yield from metric(
        "node_cpu_usage_seconds_total",
        "counter",
        [Sample({}, measured.node.spent / _NANO, taken=at)],
        "[STABLE] Cumulative cpu time consumed by the node in core-seconds",
    )
    yield from metric(
        "node_memory_working_set_bytes",
        "gauge",
        [Sample({}, measured.node.memory, taken=at)],
        "[STABLE] Current working set of the node in bytes",
    )
    yield from metric(
        "node_swap_usage_bytes",
        "gauge",
        [Sample({}, 0, taken=at)],
        "[ALPHA] Current swap usage of the node in bytes. Reported only on non-windows systems",
    )


def _of_pods(measured: Measured, at: int) -> Iterator[str]:
    yield from metric(
        "pod_cpu_usage_seconds_total",
        "counter",
        _sorted(Sample(_of_pod(pod), pod.use.spent / _NANO, taken=at) for pod in measured.pods),
        "[STABLE] Cumulative cpu time consumed by the pod in core-seconds",
    )
    yield from metric(
        "pod_memory_working_set_bytes",
        "gauge",
        _sorted(Sample(_of_pod(pod), pod.use.memory, taken=at) for pod in measured.pods),
        "[STABLE] Current working set of the pod in bytes",
    )
    yield from metric(
        "pod_swap_usage_bytes",
        "gauge",
        _sorted(Sample(_of_pod(pod), 0, taken=at) for pod in measured.pods),
        "[ALPHA] Current amount of the pod swap usage in bytes. Reported only on non-windows systems",
    )


def labels(pod: MeasuredPod, container: MeasuredContainer) -> dict[str, str]:
    return {"container": container.status.name, **_of_pod(pod)}


def _of_pod(pod: MeasuredPod) -> dict[str, str]:
    return {"namespace": pods.namespace_of(pod.pod), "pod": pods.name_of(pod.pod)}


def milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _sorted(samples: Iterable[Sample]) -> list[Sample]:
    return sorted(samples, key=lambda sample: tuple(sample.labels.values()))
