"""Seconds until 10,000 Pods run on 1,000 nodes in one `ktui up`, `instant` profile; its memory is printed.

Ten Deployments of 1,000 replicas: every Pod is made by its ReplicaSet, scheduled, and run by a kubelet. The time begins
with the first Deployment's request and ends when all Deployments say that all replicas are available.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

from engine.api.types import DEPLOYMENTS, NODES
from engine.client import Client
from ktui.connect import connect
from tests.benchmarks import Result
from tests.benchmarks._process import up
from tests.benchmarks.idle import resident_mib

NODE_COUNT, WORKLOADS, REPLICAS = 1_000, 10, 1_000


def deployment(name: str) -> dict[str, Any]:
    labels = {"app": name}
    resources = {"requests": {"cpu": "100m", "memory": "128Mi"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "app", "image": "nginx:1.27", "resources": resources}]},
            },
        },
    }


async def until_ready(client: Client) -> None:
    """Until every node is Ready."""
    ready: dict[str, bool] = {}
    async with await client.watch(NODES) as events:
        async for event in events:
            conditions = event.object.get("status", {}).get("conditions") or ()
            name = event.object["metadata"]["name"]
            ready[name] = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
            if len(ready) == NODE_COUNT and all(ready.values()):
                return


async def until_available(client: Client) -> None:
    available: dict[str, int] = {}
    async with await client.watch(DEPLOYMENTS, namespace="default") as events:
        async for event in events:
            name = event.object["metadata"]["name"]
            available[name] = event.object.get("status", {}).get("availableReplicas", 0)
            if sum(available.values()) == WORKLOADS * REPLICAS:
                return


def peak_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


async def run() -> Result:
    with tempfile.TemporaryDirectory() as home:
        began = time.perf_counter()
        with up(Path(home), f"--nodes={NODE_COUNT}") as (process, started):
            client = connect(Path(home) / "default" / "kubeconfig")
            try:
                await until_ready(client)
                ready, memory = time.perf_counter() - began, resident_mib(process.pid)
                print(f"API after {started:.1f} s, {NODE_COUNT} nodes Ready after {ready:.1f} s with {memory:.0f} MiB")
                began = time.perf_counter()
                waiting = asyncio.create_task(until_available(client))
                for number in range(WORKLOADS):
                    await client.create(DEPLOYMENTS, deployment(f"web-{number}"), namespace="default")
                await waiting
                seconds = time.perf_counter() - began
                peak = peak_mib(process.pid)
                print(f"{WORKLOADS * REPLICAS:,} Pods available after {seconds:.1f} s, {peak:.0f} MiB at most")
            finally:
                await client.close()
    return Result("nodes_10000_pods", round(seconds, 1), "s")
