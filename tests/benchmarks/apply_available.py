"""Wall milliseconds from creating a Deployment of three replicas to Available, `instant` profile; median of ten."""

from __future__ import annotations

import statistics
import time
from typing import Any

import yaml

from engine.api.types import DEPLOYMENTS, SERVICES
from engine.client import Client
from engine.cluster import Cluster
from engine.config import ClusterConfig
from ktui.assets import asset_folder
from tests.benchmarks import Result

RUNS = 10


def sample(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The Deployment and the Service of samples/web.yaml under another name and label."""
    text = (asset_folder("samples") / "web.yaml").read_text()
    deployment, service = yaml.safe_load_all(
        text.replace("name: web", f"name: {name}").replace("app: web", f"app: {name}")
    )
    return deployment, service


async def until_available(client: Client, name: str) -> None:
    async with await client.watch(DEPLOYMENTS, namespace="default", field_selector=f"metadata.name={name}") as events:
        async for event in events:
            conditions = event.object.get("status", {}).get("conditions") or ()
            if any(c["type"] == "Available" and c["status"] == "True" for c in conditions):
                return


async def run() -> Result:
    milliseconds = []
    async with Cluster(ClusterConfig()) as cluster:
        client = cluster.client()
        for number in range(RUNS + 1):
            name = f"web-{number}"
            deployment, service = sample(name)
            began = time.perf_counter()
            await client.create(DEPLOYMENTS, deployment, namespace="default")
            await client.create(SERVICES, service, namespace="default")
            await until_available(client, name)
            milliseconds.append((time.perf_counter() - began) * 1000)
    print(f"the first {milliseconds[0]:.0f} ms, then {', '.join(f'{value:.0f} ms' for value in milliseconds[1:])}")
    return Result("apply_available", round(statistics.median(milliseconds[1:]), 1), "ms")
