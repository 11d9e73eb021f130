"""Milliseconds from an event's arrival at the watch cache until in-process watchers have it: 1, 100 and 1,000 of them.

Each watcher is a task that reads its own stream. The figure is the median over all events and all of 1,000 watchers;
beside it stand the last watcher's, and the time that the watch cache takes to hand the event to all buffers. The
garbage collector is set as `ktui up` sets it.
"""

from __future__ import annotations

import asyncio
import statistics
import time

from engine.api.types import CONFIGMAPS
from engine.client import Client
from engine.cluster import Cluster
from engine.config import ClusterConfig, Component
from engine.trace import Hop, Span
from ktui.engine_collector import tame_the_collector
from tests.benchmarks import Result

EVENTS = 200


class Marks:
    """When an event came to the cache, when that had handed it out (the span of hop 8), when each watcher got it."""

    def __init__(self) -> None:
        self.came = self.handed_out = 0.0
        self.received: list[float] = []

    def note(self, span: Span) -> None:
        if span.hop == Hop.WATCH and span.object == "configmap/default/fan-out":
            self.handed_out = time.perf_counter()
            self.came = self.handed_out - span.wall_ms / 1000


async def measure(client: Client, marks: Marks, count: int) -> float:
    """The median; prints what it found."""
    arrived = asyncio.Semaphore(0)

    async def follow() -> None:
        async with await client.watch(CONFIGMAPS, namespace="default", resource_version="0") as events:
            async for event in events:
                if event.type == "MODIFIED":
                    marks.received.append(time.perf_counter())
                    if len(marks.received) == count:
                        arrived.release()

    watchers = [asyncio.create_task(follow()) for _ in range(count)]
    await asyncio.sleep(0.2)
    each: list[float] = []
    last: list[float] = []
    handed_out: list[float] = []
    for number in range(EVENTS):
        marks.received.clear()
        await client.patch(CONFIGMAPS, "fan-out", {"data": {"n": str(number)}}, namespace="default")
        await arrived.acquire()
        began = marks.came
        each += [(at - began) * 1000 for at in marks.received]
        last.append((marks.received[-1] - began) * 1000)
        handed_out.append((marks.handed_out - began) * 1000)
    for watcher in watchers:
        watcher.cancel()
    await asyncio.gather(*watchers, return_exceptions=True)
    median = statistics.median(each)
    print(
        f"{count} watcher(s), {EVENTS} events: handed to all buffers after {statistics.median(handed_out):.3f} ms, "
        f"received after {median:.3f} ms (p50), by the last after {statistics.median(last):.3f} ms"
    )
    return median


async def run() -> Result:
    tame_the_collector()
    async with Cluster(ClusterConfig(components=frozenset({Component.APISERVER}))) as cluster:
        client = cluster.client()
        marks = Marks()
        cluster.world.tracer.add_sink(marks.note)
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "fan-out"}}
        await client.create(CONFIGMAPS, made, namespace="default")
        figures = [await measure(client, marks, count) for count in (1, 100, 1000)]
    return Result("fan_out", round(figures[-1], 3), "ms")
