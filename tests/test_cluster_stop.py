"""A cluster that is stopped in the middle of its work."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine.api.types import DEPLOYMENTS, PODS
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig, default_nodes

REPLICAS = 600


async def _stopped_in_a_rollout(clock: VirtualClock, folder: Path) -> tuple[int, int]:
    """How many Pods there were when the stop began, and how many when it had ended."""
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]}}
    spec = {"replicas": REPLICAS, "selector": {"matchLabels": labels}, "template": template}
    config = ClusterConfig(seed=1, data_folder=folder, nodes=default_nodes(12))
    async with Cluster(config, clock=clock) as cluster:
        client = cluster.client()
        await client.create(DEPLOYMENTS, {"metadata": {"name": "web"}, "spec": spec}, namespace="default")
        while (begun := len((await client.list(PODS, namespace="default")).items)) < 10:
            await clock.sleep(0)
    async with Cluster(ClusterConfig(seed=1, data_folder=folder, components=frozenset()), clock=clock) as cluster:
        return begun, len((await cluster.client().list(PODS, namespace="default")).items)


def test_what_is_stopped_makes_no_more_work_for_itself(tmp_path: Path) -> None:
    clock = VirtualClock()
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        begun, ended = runner.run(_stopped_in_a_rollout(clock, tmp_path))
    assert 10 <= begun <= ended < REPLICAS // 2, (begun, ended)
