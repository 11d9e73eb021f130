"""Memory of the API server's process for each stored Pod, in KiB: 10,000 Pods in the store and in the watch cache.

With the history, ring and spans that the creates leave behind; the log is on disk.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from engine.api.types import PODS
from ktui.connect import connect
from tests.benchmarks import Result
from tests.benchmarks._process import up
from tests.benchmarks.idle import resident_mib
from tests.benchmarks.pod_create import rate

COUNT = 10_000


async def run() -> Result:
    with tempfile.TemporaryDirectory() as home, up(Path(home), "--components=controllers") as (process, _):
        client = connect(Path(home) / "default" / "kubeconfig")
        try:
            await rate(client, 320)  # what is loaded at the first use is not the Pods'
            before = resident_mib(process.pid)
            for part in range(COUNT // 2_000):
                await rate(client, 2_000, prefix=f"m{part}")
            listed = await client.list(PODS, namespace="default", limit=1)
            after = resident_mib(process.pid)
        finally:
            await client.close()
    print(f"{before:.0f} MiB before, {after:.0f} MiB with {listed.remaining + 1:,} Pods")
    return Result("pod_memory", round((after - before) * 1024 / COUNT, 1), "KiB/Pod")
