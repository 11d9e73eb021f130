"""What is kept for long takes no more memory than it must."""

from __future__ import annotations

import tracemalloc

from engine.api.types import CONFIGMAPS
from engine.cluster import Cluster
from engine.config import ClusterConfig, Component

COUNT = 50
DATA = {f"key-{number:03}": "value" * 4 for number in range(60)}


async def test_stored_values_hold_no_spare_memory() -> None:
    """The encoder's own buffer is several times as long as what is in it."""
    async with Cluster(ClusterConfig(components=frozenset({Component.APISERVER}))) as cluster:
        client = cluster.client()
        tracemalloc.start()
        try:
            for number in range(COUNT):
                made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}, "data": DATA}
                await client.create(CONFIGMAPS, made, namespace="default")
            snapshot = tracemalloc.take_snapshot()
        finally:
            tracemalloc.stop()
        held = snapshot.filter_traces([tracemalloc.Filter(True, "*/engine/api/kept_json.py")])
        size = sum(trace.size for trace in held.traces)
        length = sum(map(len, DATA)) + sum(map(len, DATA.values()))
        assert COUNT * length < size < COUNT * length * 3
