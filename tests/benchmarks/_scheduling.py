"""An API server and a scheduler in one process, without kubelets or controllers, and a stopwatch on binding.

The Pods that are measured are made before the scheduler starts, as upstream's floors are of scheduling and not of
creating; time runs from when its caches are filled until the last of them is bound. All goes through the whole API
server: authorization, admission, validation, the store (SQLite in memory) and the watches.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from engine.api.types import NODES, PODS, SERVICE_ACCOUNTS, Object
from engine.api.wire import ClientCertificate
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.scheduler import Scheduler
from engine.store.sqlite import SqliteStore
from engine.trace import Span
from engine.world import World
from ktui.engine_collector import tame_the_collector

WRITERS = 32
IDLE_SECONDS = 15.0  # without any attempt for so long, the rest will never be bound


@dataclass(frozen=True, slots=True)
class Measured:
    """Binds a second, the time of an attempt in milliseconds, and memory in MiB. `cpu` is the seconds that this process
    had a processor: less than `seconds` where it had to share one."""

    pods: int
    bound: int
    seconds: float
    cpu: float
    p50: float
    p99: float
    memory: int

    @property
    def rate(self) -> float:
        return self.bound / self.seconds

    def __str__(self) -> str:
        used = self.bound / self.cpu
        told = f"{self.bound} Pods bound in {self.seconds:.1f} s: {self.rate:.0f} a second ({used:.0f} a CPU second); "
        told += f"attempt {self.p50:.2f} ms (p50), {self.p99:.2f} ms (p99); {self.memory} MiB"
        return told if self.bound == self.pods else f"{told}; {self.pods - self.bound} Pods left"


async def many(count: int, write: Callable[[int], Coroutine[Any, Any, Any]]) -> None:
    """`write(i)` for all i, by `WRITERS` at once."""

    async def writer(first: int) -> None:
        for i in range(first, count, WRITERS):
            await write(i)

    await asyncio.gather(*(writer(first) for first in range(WRITERS)))


class Bindings:
    """Counts bindings and the times of attempts, by their spans."""

    def __init__(self, world: World) -> None:
        self.count = 0
        self.attempts: list[float] = []
        self.last = self.last_try = time.perf_counter()
        self._wanted = 0
        self._done = asyncio.Event()
        world.tracer.add_sink(self._see)

    def _see(self, span: Span) -> None:
        if span.verb == "schedule":
            self.attempts.append(span.wall_ms)
            self.last_try = time.perf_counter()
        if span.verb != "bind" or span.outcome != "ok":
            return
        self.count += 1
        self.last = time.perf_counter()
        if self.count >= self._wanted:
            self._done.set()

    async def wait(self, count: int) -> int:
        """Until so many more are bound, or nothing moves any more; returns how many are."""
        before, self.last_try = self.count, time.perf_counter()
        self._wanted = before + count
        self._done.clear()
        while not self._done.is_set() and time.perf_counter() - self.last_try < IDLE_SECONDS:
            try:
                await asyncio.wait_for(self._done.wait(), 1.0)
            except TimeoutError:
                continue
        return self.count - before


class Stage:
    """The API server, and a scheduler that is started for each part of a workload."""

    def __init__(self, world: World, api: ApiServer) -> None:
        def client(name: str, *groups: str) -> Client:
            return Client(InProcessTransport(api, ClientCertificate(name, groups)), user_agent=name)

        self.world = world
        self.admin = client("kubernetes-admin", "system:masters")
        self.bindings = Bindings(world)
        self._client = client("system:kube-scheduler")

    async def add_nodes(self, nodes: list[Object]) -> None:
        async def add(i: int) -> None:
            made = await self.admin.create(NODES, nodes[i])
            # A new node is tainted until its kubelet is ready; there is none.
            await self.admin.update(NODES, {**made, "spec": {}})

        await many(len(nodes), add)

    async def add_pods(self, pods: list[Object]) -> None:
        async def add(i: int) -> None:
            await self.admin.create(PODS, pods[i], namespace="default")

        await many(len(pods), add)

    async def schedule(self, count: int, beside: Callable[[], Coroutine[Any, Any, None]] | None = None) -> Measured:
        """Run a scheduler until so many Pods are bound; `beside` runs as long as it does."""
        scheduler = Scheduler(self._client, self.world)
        await scheduler.start()
        gc.collect()
        self.bindings.attempts.clear()
        began, used = time.perf_counter(), time.process_time()
        work = asyncio.ensure_future(beside()) if beside is not None else None
        bound = await self.bindings.wait(count)
        seconds, cpu = self.bindings.last - began, time.process_time() - used
        if work is not None:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        await scheduler.stop()
        times = sorted(self.bindings.attempts)
        p50, p99 = (times[int(len(times) * share)] for share in (0.5, 0.99))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        return Measured(count, bound, seconds, cpu, p50, p99, memory)


@asynccontextmanager
async def open_stage() -> AsyncIterator[Stage]:
    """As the process of `ktui up` has it, the collector's thresholds included."""
    world = World.create(seed=1)
    store = await SqliteStore.open(None, clock=world.clock, rng=world.rng.stream("store"))
    api = ApiServer(world, store)
    await api.start()
    tame_the_collector()
    made = Stage(world, api)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    await made.admin.create(SERVICE_ACCOUNTS, account, namespace="default")
    try:
        yield made
    finally:
        await api.stop()
        await store.close()
