"""/metrics/cadvisor: one cgroup after the other, by the names that cAdvisor gives (google/cadvisor metrics
prometheus.go and prometheus_machine.go; labels by pkg/kubelet/server containerPrometheusLabelsFunc).

The cgroups are those of a node with systemd and cgroup v2: the root, the slice of all Pods, each Pod's slice, its
sandbox and its containers. What is not simulated (devices, sockets, networks) is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from engine.api.qos import qos_class
from engine.api.quantity import Quantity
from engine.kubelet import pods
from engine.kubelet.server.measured import Measured, MeasuredContainer, MeasuredPod, Use
from engine.kubelet.server.resource import milliseconds
from engine.kubelet.server.summary import pod_limit
from engine.metric_text import metric
from engine.metrics import Sample

_NANO = 10**9
_PERIOD = 100_000  # of the CPU's quota, in microseconds
_PAGE = 4096


class _Group(NamedTuple):
    """`shares` are those of cgroup v1, as cAdvisor works them out; `quota` the microseconds of a period; 0 for none."""

    labels: dict[str, str]
    seen: int
    started: datetime
    use: Use
    processes: int
    shares: int = 2
    quota: int = 0
    memory_limit: int = 0
    layer: int | None = None


class _Metric(NamedTuple):
    name: str
    kind: str
    help: str
    value: Callable[[_Group], float | None]  # None where a cgroup has none
    extra: tuple[str, str] | None = None
    timed: bool = True


_METRICS = (
    _Metric("container_cpu_system_seconds_total", "counter", "Cumulative system cpu time consumed in seconds.",
            lambda group: 0),
    _Metric("container_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed in seconds.",
            lambda group: group.use.spent / _NANO or None, ("cpu", "total")),
    _Metric("container_cpu_user_seconds_total", "counter", "Cumulative user cpu time consumed in seconds.",
            lambda group: group.use.spent / _NANO),
    _Metric("container_fs_usage_bytes", "gauge",
            "Number of bytes that are consumed by the container on this filesystem.",
            lambda group: group.layer, ("device", "")),
    _Metric("container_last_seen", "gauge", "Last time a container was seen by the exporter", lambda group: group.seen),
    _Metric("container_memory_failcnt", "counter", "Number of memory usage hits limits", lambda group: 0),
    _Metric("container_memory_rss", "gauge", "Size of RSS in bytes.", lambda group: group.use.memory),
    _Metric("container_memory_swap", "gauge", "Container swap usage in bytes.", lambda group: 0),
    _Metric("container_memory_usage_bytes", "gauge",
            "Current memory usage in bytes, including all memory regardless of when it was accessed",
            lambda group: group.use.memory),
    _Metric("container_memory_working_set_bytes", "gauge", "Current working set in bytes.",
            lambda group: group.use.memory),
    _Metric("container_processes", "gauge", "Number of processes running inside the container.",
            lambda group: group.processes),
    _Metric("container_spec_cpu_period", "gauge", "CPU period of the container.", lambda group: _PERIOD, timed=False),
    _Metric("container_spec_cpu_quota", "gauge", "CPU quota of the container.", lambda group: group.quota or None,
            timed=False),
    _Metric("container_spec_cpu_shares", "gauge", "CPU share of the container.", lambda group: group.shares,
            timed=False),
    _Metric("container_spec_memory_limit_bytes", "gauge", "Memory limit for the container.",
            lambda group: group.memory_limit, timed=False),
    _Metric("container_spec_memory_reservation_limit_bytes", "gauge", "Memory reservation limit for the container.",
            lambda group: 0, timed=False),
    _Metric("container_spec_memory_swap_limit_bytes", "gauge", "Memory swap limit for the container.",
            lambda group: 0, timed=False),
    _Metric("container_start_time_seconds", "gauge", "Start time of the container since unix epoch in seconds.",
            lambda group: int(group.started.timestamp()), timed=False),
    _Metric("container_threads", "gauge", "Number of threads running inside the container",
            lambda group: group.processes),
)  # fmt: skip


def cadvisor_lines(
    measured: Measured, cpu: Quantity, memory: Quantity, *, version: dict[str, str], machine: dict[str, str]
) -> Iterator[str]:
    """`version` labels cadvisor_version_info, `machine` what is said of the machine."""
    at = milliseconds(measured.at)
    groups = sorted(_groups(measured, cpu, memory), key=lambda group: tuple(group.labels.values()))
    yield from metric(
        "cadvisor_version_info",
        "gauge",
        [Sample(version, 1)],
        "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor version & "
        "cadvisor revision.",
    )
    for each in _METRICS:
        yield from metric(each.name, each.kind, list(_samples(each, groups, at)), each.help)
    yield from _machine_lines(cpu, memory, machine)


def _samples(each: _Metric, groups: list[_Group], at: int) -> Iterator[Sample]:
    for group in groups:
        value = each.value(group)
        if value is not None:
            labels = {**group.labels, each.extra[0]: each.extra[1]} if each.extra else group.labels
            yield Sample(dict(sorted(labels.items())), value, taken=at if each.timed else None)


def _machine_lines(cpu: Quantity, memory: Quantity, machine: dict[str, str]) -> Iterator[str]:
    for name, value, help in (
        ("machine_cpu_cores", cpu.value, "Number of logical CPU cores."),
        ("machine_cpu_physical_cores", cpu.value, "Number of physical CPU cores."),
        ("machine_cpu_sockets", 1, "Number of CPU sockets."),
        ("machine_memory_bytes", memory.value, "Amount of memory installed on the machine."),
    ):
        yield from metric(name, "gauge", [Sample(machine, value)], help)
    no_error = [Sample({}, 0)]
    yield from metric(
        "machine_scrape_error", "gauge", no_error, "1 if there was an error while getting machine metrics, 0 otherwise."
    )
    yield from metric(
        "machine_swap_bytes", "gauge", [Sample(machine, 0)], "Amount of swap memory available on the machine."
    )


# -- cgroups


def _labels(
    id: str, *, container: str = "", image: str = "", name: str = "", namespace: str = "", pod: str = ""
) -> dict[str, str]:
    return {"container": container, "id": id, "image": image, "name": name, "namespace": namespace, "pod": pod}


def _groups(measured: Measured, cpu: Quantity, memory: Quantity) -> Iterator[_Group]:
    processes = sum(each.processes for pod in measured.pods for each in pod.containers)
    seen = int(measured.at.timestamp())
    yield _Group(_labels("/"), seen, measured.started, measured.node, processes + 1, 1024, 0, memory.value)
    yield _Group(
        _labels("/kubepods.slice"), seen, measured.started, measured.of_pods, processes, _shares(cpu), 0, memory.value
    )
    for pod in measured.pods:
        yield from _of_pod(pod, seen)


def _of_pod(pod: MeasuredPod, seen: int) -> Iterator[_Group]:
    of = {"namespace": pods.namespace_of(pod.pod), "pod": pods.name_of(pod.pod)}
    slice = _slice(pod)
    running = pod.containers
    limit = pod_limit(pod)
    quotas = [_quota(each) for each in running]
    yield _Group(
        _labels(slice, **of), seen, pod.started, pod.use, sum(each.processes for each in running),
        _shares(_total([each.request("cpu") for each in running])),
        sum(quotas) if all(quotas) else 0, _in_pages(limit or 0),
    )  # fmt: skip
    for each in running:
        memory = each.limit("memory")
        labels = _labels(
            f"{slice}/cri-containerd-{each.status.id}.scope",
            container=each.status.name, image=each.status.image, name=each.status.id, **of,
        )  # fmt: skip
        yield _Group(
            labels, seen, each.started, each.use, each.processes, _shares(each.request("cpu") or Quantity()),
            _quota(each), _in_pages(memory.value if memory is not None else 0), each.layer.size,
        )  # fmt: skip


def _slice(pod: MeasuredPod) -> str:
    """Of the Pod's class of service (pkg/kubelet/cm ToSystemd)."""
    quality = qos_class(pod.pod).lower()
    parent = "" if quality == "guaranteed" else f"-{quality}"
    above = f"/kubepods{parent}.slice" if parent else ""
    uid = pods.uid_of(pod.pod).replace("-", "_")
    return f"/kubepods.slice{above}/kubepods{parent}-pod{uid}.slice"


def _shares(asked: Quantity) -> int:
    """pkg/kubelet/cm MilliCPUToShares."""
    return min(262_144, max(2, asked.milli * 1024 // 1000))


def _quota(container: MeasuredContainer) -> int:
    limit = container.limit("cpu")
    return max(1000, limit.milli * _PERIOD // 1000) if limit is not None and limit else 0


def _total(amounts: list[Quantity | None]) -> Quantity:
    return sum((amount for amount in amounts if amount is not None), Quantity())


def _in_pages(size: int) -> int:
    return size // _PAGE * _PAGE
