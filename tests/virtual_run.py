"""One headless run in virtual time: `python -m tests.virtual_run FOLDER SEED`.

Applies the sample with the `realistic` profile, scales it, deletes a Pod, and lets ten minutes pass. A process of its
own, so that a test can give it a hash seed of its own.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import yaml

from engine.api.types import DEPLOYMENTS, PODS, SERVICES
from engine.client import Client
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig

SAMPLE = Path(__file__).parent.parent / "samples" / "web.yaml"


async def until_ready(client: Client, replicas: int) -> None:
    """Wait until the Deployment `web` has that many ready replicas and no others."""
    async with await client.watch(DEPLOYMENTS, namespace="default") as events:
        async for event in events:
            status = event.object.get("status", {})
            if status.get("readyReplicas") == status.get("replicas") == replicas:
                return


async def story(folder: Path, seed: str, clock: VirtualClock) -> float:
    """The model seconds until the Deployment was ready for the first time."""
    async with Cluster(ClusterConfig(data_folder=folder, seed=seed, profile="realistic"), clock=clock) as cluster:
        client = cluster.client(user_agent="kubectl/story")
        began = clock.monotonic()
        deployment, service = yaml.safe_load_all(SAMPLE.read_text())
        await client.create(DEPLOYMENTS, deployment, namespace="default")
        await client.create(SERVICES, service, namespace="default")
        await until_ready(client, 3)
        took = clock.monotonic() - began
        await client.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 5}}, namespace="default", subresource="scale")
        await until_ready(client, 5)
        pods = await client.list(PODS, namespace="default")
        await client.delete(PODS, pods.items[0]["metadata"]["name"], namespace="default")
        await clock.sleep(600)
        await until_ready(client, 5)
        return took


def main() -> None:
    clock = VirtualClock()
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        print(runner.run(story(Path(sys.argv[1]), sys.argv[2], clock)))


if __name__ == "__main__":
    main()
