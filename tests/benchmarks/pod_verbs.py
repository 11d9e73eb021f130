"""Gets, patches and server-side applies of Pods a second through the whole chain, in-process and over HTTPS.

The figure is that of in-process applies that change a label; `pod_create` measures creates.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from engine.api.types import PODS, SERVICE_ACCOUNTS
from engine.api.wire import APPLY_PATCH
from engine.client import Client
from engine.cluster import Cluster
from engine.config import ClusterConfig
from ktui.connect import connect
from ktui.engine_collector import tame_the_collector
from tests.benchmarks import Result
from tests.benchmarks._process import up
from tests.benchmarks.pod_create import ACCOUNT, WRITERS, pod, rate

REQUESTS = 2_000  # of each verb
Verb = Callable[[Client, str, int], Awaitable[object]]


async def get(client: Client, name: str, number: int) -> object:
    return await client.get(PODS, name, namespace="default")


async def patch(client: Client, name: str, number: int) -> object:
    return await client.patch(PODS, name, {"metadata": {"labels": {"n": str(number)}}}, namespace="default")


async def apply(client: Client, name: str, number: int) -> object:
    body: dict[str, Any] = {**pod(name), "metadata": {"name": name, "labels": {"app": "bench", "a": str(number)}}}
    return await client.patch(
        PODS, name, body, namespace="default", content_type=APPLY_PATCH, field_manager="bench", force=True
    )


VERBS: dict[str, Verb] = {"get": get, "patch": patch, "apply": apply}


async def rates(client: Client) -> dict[str, float]:
    """Requests a second of each verb, by `WRITERS` at once, each on a Pod of its own."""
    await rate(client, WRITERS)
    found = {}
    for verb, ask in VERBS.items():

        async def work(writer: int, ask: Verb = ask) -> None:
            for number in range(REQUESTS // WRITERS):
                await ask(client, f"p-{writer}-0", number)

        began = time.perf_counter()
        await asyncio.gather(*(work(writer) for writer in range(WRITERS)))
        found[verb] = REQUESTS // WRITERS * WRITERS / (time.perf_counter() - began)
    return found


def _told(found: dict[str, float]) -> str:
    return ", ".join(f"{figure:.0f} {verb} requests" for verb, figure in found.items())


async def run() -> Result:
    tame_the_collector()
    with tempfile.TemporaryDirectory() as folder:
        async with Cluster(ClusterConfig(components=frozenset(), data_folder=Path(folder))) as cluster:
            await cluster.client().create(SERVICE_ACCOUNTS, ACCOUNT, namespace="default")
            inside = await rates(cluster.client())
    print(f"in-process, durable: {_told(inside)} a second")
    with tempfile.TemporaryDirectory() as home, up(Path(home), "--components=controllers"):
        client = connect(Path(home) / "default" / "kubeconfig")
        try:
            outside = await rates(client)
        finally:
            await client.close()
    print(f"over HTTPS from another process: {_told(outside)} a second")
    return Result("pod_verbs", round(inside["apply"]), "applies/s")
