"""Milliseconds to start one more in-process cluster with all components, as a test does; median of ten."""

from __future__ import annotations

import statistics
import time

from engine.cluster import Cluster
from engine.config import ClusterConfig
from tests.benchmarks import Result

RUNS = 10


async def run() -> Result:
    milliseconds = []
    for _ in range(RUNS + 1):
        began = time.perf_counter()
        async with Cluster(ClusterConfig()):
            milliseconds.append((time.perf_counter() - began) * 1000)
    print(f"the first {milliseconds[0]:.0f} ms, then {', '.join(f'{value:.0f} ms' for value in milliseconds[1:])}")
    return Result("further_cluster", round(statistics.median(milliseconds[1:]), 1), "ms")
