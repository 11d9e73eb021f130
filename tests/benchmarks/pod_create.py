"""Pod creates a second through the whole chain, in-process and over HTTPS (no scheduler, no kubelets).

The figure is that of in-process: the API server alone, with the garbage collector set as `ktui up` sets it. The HTTPS
one, with controllers, is printed. Both are of a server that has started: the first Pods, during which `ktui up` still
loads its controllers, are not counted.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

from engine.api.types import PODS, SERVICE_ACCOUNTS
from engine.client import Client
from engine.cluster import Cluster
from engine.config import ClusterConfig
from ktui.connect import connect
from ktui.engine_collector import tame_the_collector
from tests.benchmarks import Result
from tests.benchmarks._process import up

PODS_MADE = 3_000
NOT_COUNTED = 640
WRITERS = 32
ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}


def pod(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "bench"}},
        "spec": {
            "containers": [
                {
                    "name": "pause",
                    "image": "pause:3.10",
                    "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}},
                }
            ]
        },
    }


async def rate_of_a_started(client: Client) -> float:
    """Creates a second once the first are made."""
    await rate(client, NOT_COUNTED, prefix="first")
    return await rate(client, PODS_MADE)


async def rate(client: Client, count: int, *, prefix: str = "p") -> float:
    """Creates a second, by `WRITERS` at once."""
    async with await client.watch(SERVICE_ACCOUNTS, namespace="default") as accounts:
        async for _ in accounts:
            break  # admission refuses Pods until the namespace has its default account

    async def write(writer: int) -> None:
        for number in range(count // WRITERS):
            await client.create(PODS, pod(f"{prefix}-{writer}-{number}"), namespace="default")

    began = time.perf_counter()
    await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
    return count // WRITERS * WRITERS / (time.perf_counter() - began)


async def run() -> Result:
    tame_the_collector()
    with tempfile.TemporaryDirectory() as folder:
        async with Cluster(ClusterConfig(components=frozenset(), data_folder=Path(folder))) as cluster:
            await cluster.client().create(SERVICE_ACCOUNTS, ACCOUNT, namespace="default")
            inside = await rate_of_a_started(cluster.client())
    print(f"in-process, durable: {inside:.0f} creates a second")
    with tempfile.TemporaryDirectory() as home, up(Path(home), "--components=controllers"):
        client = connect(Path(home) / "default" / "kubeconfig")
        try:
            outside = await rate_of_a_started(client)
        finally:
            await client.close()
    print(f"over HTTPS from another process: {outside:.0f} creates a second")
    return Result("pod_create", round(inside), "creates/s")
