"""What /metrics says of the addresses and node ports of Services: how many are taken, and how often one was asked for.

`scope` is static for one that a client named, dynamic for one that was drawn; dry runs count nothing. Durations are
this machine's, as those of requests. Source: pkg/registry/core/service/ipallocator/metrics.go (with ipallocator.go and
bitmap.go), portallocator/metrics.go (with allocator.go).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from engine.metrics import Counter, Family, Gauge, Histogram

STATIC, DYNAMIC = "static", "dynamic"
_DEFAULT_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)  # component-base metrics.DefBuckets


class Allocations(Protocol):
    """`labels` are those of a metric of allocations."""

    def allocated(self, *labels: str) -> None: ...

    def failed(self, *labels: str) -> None: ...


@contextmanager
def counted(metrics: Allocations, *labels: str, failures: tuple[type[Exception], ...]) -> Iterator[None]:
    """Around one allocation, which may fail so."""
    try:
        yield
    except failures:
        metrics.failed(*labels)
        raise
    metrics.allocated(*labels)


class ClusterIpMetrics:
    """By range, as it is written."""

    def __init__(self) -> None:
        self._taken = Gauge(
            _ip("allocated_ips"), "[ALPHA] Gauge measuring the number of allocated IPs for Services", "cidr"
        )
        self._free = Gauge(
            _ip("available_ips"), "[ALPHA] Gauge measuring the number of available IPs for Services", "cidr"
        )
        self._allocations = Counter(
            _ip("allocation_total"), "[ALPHA] Number of Cluster IPs allocations", "cidr", "scope"
        )
        self._errors = Counter(
            _ip("allocation_errors_total"),
            "[ALPHA] Number of errors trying to allocate Cluster IPs",
            "cidr",
            "scope",
        )
        self._durations = Histogram(
            _ip("allocation_duration_seconds"),
            "[ALPHA] Duration in seconds to allocate a Cluster IP by ServiceCIDR",
            "cidr",
            buckets=_DEFAULT_BUCKETS,
        )
        self.ranges: set[str] = set()  # those that something was allocated from

    def allocated(self, *labels: str) -> None:
        """`labels`: the range, and the scope."""
        self.ranges.add(labels[0])
        self._allocations.add(*labels)

    def failed(self, *labels: str) -> None:
        self._errors.add(*labels)

    def took(self, cidr: str, seconds: float) -> None:
        self._durations.observe(seconds, cidr)

    def holds(self, cidr: str, *, taken: int, size: int) -> None:
        self._taken.set(cidr, to=taken)
        self._free.set(cidr, to=size - taken)

    def families(self) -> tuple[Family, ...]:
        return self._taken, self._free, self._allocations, self._errors, self._durations


def _ip(name: str) -> str:
    return f"kube_apiserver_clusterip_allocator_{name}"


class NodePortMetrics:
    def __init__(self) -> None:
        self._taken = Gauge(
            _port("allocated_ports"), "[ALPHA] Gauge measuring the number of allocated NodePorts for Services"
        )
        self._free = Gauge(
            _port("available_ports"), "[ALPHA] Gauge measuring the number of available NodePorts for Services"
        )
        self._allocations = Counter(_port("allocation_total"), "[ALPHA] Number of NodePort allocations", "scope")
        self._errors = Counter(
            _port("allocation_errors_total"), "[ALPHA] Number of errors trying to allocate NodePort", "scope"
        )

    def allocated(self, *labels: str) -> None:
        """`labels`: the scope."""
        self._allocations.add(*labels)

    def failed(self, *labels: str) -> None:
        self._errors.add(*labels)

    def holds(self, *, taken: int, size: int) -> None:
        self._taken.set(to=taken)
        self._free.set(to=size - taken)

    def families(self) -> tuple[Family, ...]:
        return self._taken, self._free, self._allocations, self._errors


def _port(name: str) -> str:
    return f"kube_apiserver_nodeport_allocator_{name}"
