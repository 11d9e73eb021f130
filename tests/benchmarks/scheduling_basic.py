"""Pods bound a second on 5,000 nodes with the default plugins, API server included (scheduler_perf's SchedulingBasic).

Nodes of 4 CPU, 32 Gi and 110 Pods, 10,000 Pods of 100m and 500 Mi; no kubelets, no controllers. The Pods are made
first, as upstream's floor of 680 counts scheduling and not creating: time runs from the scheduler's start until the
last Pod is bound. Beside it stand what creating and binding take together, and the time that an attempt takes.
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Callable, Coroutine
from typing import Any

from engine.api.types import NODES, PODS, SERVICE_ACCOUNTS
from engine.api.wire import ClientCertificate
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.scheduler import Scheduler
from engine.store.sqlite import SqliteStore
from engine.trace import Span
from engine.world import World
from tests.benchmarks import Result
from tests.scheduler.objects import node, pod

NODE_COUNT = 5_000
POD_COUNT = 10_000
WRITERS = 32
UPSTREAM_FLOOR = 680.0  # test/integration/scheduler_perf, SchedulingBasic/5000Nodes_10000Pods


async def _many(count: int, write: Callable[[int], Coroutine[Any, Any, Any]]) -> None:
    """`write(i)` for all i, by `WRITERS` at once."""

    async def writer(first: int) -> None:
        for i in range(first, count, WRITERS):
            await write(i)

    await asyncio.gather(*(writer(first) for first in range(WRITERS)))


class Bindings:
    """Waits for so many bindings, by their spans."""

    def __init__(self, world: World, count: int) -> None:
        self.done = asyncio.Event()
        self._left = count
        world.tracer.add_sink(self._count)

    def _count(self, span: Span) -> None:
        if span.verb == "bind":
            self._left -= 1
            if not self._left:
                self.done.set()


async def measure(nodes: int, pods: int) -> float:
    """Binds a second."""
    world = World.create(seed=1)
    store = await SqliteStore.open(None, clock=world.clock)
    api = ApiServer(world, store)
    await api.start()

    def client(name: str, *groups: str) -> Client:
        return Client(InProcessTransport(api, ClientCertificate(name, groups)), user_agent=name)

    admin = client("kubernetes-admin", "system:masters")
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    await admin.create(SERVICE_ACCOUNTS, account, namespace="default")

    async def add_node(i: int) -> None:
        made = await admin.create(NODES, node(f"node-{i}", cpu="4", memory="32Gi"))
        # A new node is tainted until its kubelet is ready; there is none.
        await admin.update(NODES, {**made, "spec": {}})

    async def add_pod(i: int) -> None:
        await admin.create(PODS, pod(f"pod-{i}", cpu="100m", memory="500Mi"), namespace="default")

    await _many(nodes, add_node)
    scheduler = Scheduler(client("system:kube-scheduler"), world)
    began = time.perf_counter()
    await _many(pods, add_pod)
    created = time.perf_counter() - began
    began = time.perf_counter()
    bindings = Bindings(world, pods)
    await scheduler.start()
    await bindings.done.wait()
    taken = time.perf_counter() - began
    _tell(scheduler, nodes=nodes, pods=pods, created=created, taken=taken)
    await scheduler.stop()
    await api.stop()
    await store.close()
    return pods / taken


def _tell(scheduler: Scheduler, *, nodes: int, pods: int, created: float, taken: float) -> None:
    attempts = sorted(decision.wall_ms for decision in scheduler.decisions.newest())
    p50, p99 = (attempts[int(len(attempts) * share)] for share in (0.5, 0.99))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{nodes} nodes: {pods} Pods made in {created:.1f} s, bound in {taken:.1f} s ({pods / taken:.0f} a second);")
    print(f"making and binding together {pods / (created + taken):.0f} a second;")
    print(f"an attempt takes {p50:.2f} ms (p50), {p99:.2f} ms (p99); {memory} MiB at most")


async def run() -> Result:
    await measure(500, 1_000)
    value = await measure(NODE_COUNT, POD_COUNT)
    return Result("scheduling_basic", round(value, 1), "binds/s", UPSTREAM_FLOOR, round(value / UPSTREAM_FLOOR, 3))
