"""What Prometheus' own collector tells of a process, read from /proc; nothing where there is none (client_golang
prometheus/process_collector.go).

These are the machine's, as durations of requests are: the model's clock has no say in them.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from engine.metric_text import metric
from engine.metrics import Sample

_SELF = Path("/proc/self")
_UNLIMITED = 2**64 - 1  # as Go reads a limit that is none


def process_lines() -> Iterator[str]:
    try:
        figures = _figures()
    except OSError:
        return
    for name, kind, value, help in figures:
        yield from metric(f"process_{name}", kind, [Sample({}, value)], help)


def _figures() -> list[tuple[str, str, float, str]]:
    """Name, kind, value and help, in the order of their names. Raises OSError where there is no /proc."""
    # The fields of stat(5) after the command's name, which may hold anything: the first of them is the third.
    fields = (_SELF / "stat").read_text().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return [
        (
            "cpu_seconds_total",
            "counter",
            (int(fields[11]) + int(fields[12])) / ticks,
            "Total user and system CPU time spent in seconds.",
        ),
        ("max_fds", "gauge", soft, "Maximum number of open file descriptors."),
        *_network(),
        ("open_fds", "gauge", len(os.listdir(_SELF / "fd")), "Number of open file descriptors."),
        ("resident_memory_bytes", "gauge", int(fields[21]) * resource.getpagesize(), "Resident memory size in bytes."),
        (
            "start_time_seconds",
            "gauge",
            _booted() + int(fields[19]) / ticks,
            "Start time of the process since unix epoch in seconds.",
        ),
        ("virtual_memory_bytes", "gauge", int(fields[20]), "Virtual memory size in bytes."),
        (
            "virtual_memory_max_bytes",
            "gauge",
            _UNLIMITED if most == resource.RLIM_INFINITY else most,
            "Maximum amount of virtual memory available in bytes.",
        ),
    ]


def _network() -> Iterator[tuple[str, str, float, str]]:
    """Of all processes that share the network: the kernel does not count it for each of them."""
    lines = [line.split() for line in (_SELF / "net/netstat").read_text().splitlines() if line.startswith("IpExt:")]
    octets = dict(zip(*lines, strict=True))
    yield (
        "network_receive_bytes_total",
        "counter",
        int(octets["InOctets"]),
        "Number of bytes received by the process over the network.",
    )
    yield (
        "network_transmit_bytes_total",
        "counter",
        int(octets["OutOctets"]),
        "Number of bytes sent by the process over the network.",
    )


@lru_cache(maxsize=1)
def _booted() -> int:
    """When the machine was started, in seconds since 1970."""
    lines = Path("/proc/stat").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("btime "))
