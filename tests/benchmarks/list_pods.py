"""Milliseconds to list 10,000 Pods as JSON over HTTPS from another process, to the last byte; median of nine.

Nothing is kept between two lists but the decoded objects. The Pods are of one container with what the server adds.
"""

from __future__ import annotations

import ssl
import statistics
import tempfile
import time
from pathlib import Path

import aiohttp

from engine.client.kubeconfig import KubeConfig
from engine.client.tls import tls_context
from ktui.connect import connect
from tests.benchmarks import Result
from tests.benchmarks._process import up
from tests.benchmarks.pod_create import rate

PODS, RUNS = 10_000, 9
QUERIES = {"newest": {}, "from the cache (resourceVersion=0)": {"resourceVersion": "0"}, "first 500": {"limit": "500"}}


async def run() -> Result:
    with tempfile.TemporaryDirectory() as home, up(Path(home), "--components=controllers"):
        kubeconfig = Path(home) / "default" / "kubeconfig"
        client = connect(kubeconfig)
        await rate(client, PODS)
        await client.close()
        connection = KubeConfig.load(kubeconfig).connection()
        context = tls_context(connection)
        assert isinstance(context, ssl.SSLContext)
        figures = {}
        async with aiohttp.ClientSession(connection.server, connector=aiohttp.TCPConnector(ssl=context)) as session:
            for label, query in QUERIES.items():
                milliseconds, size = [], 0
                for _ in range(RUNS):
                    began = time.perf_counter()
                    headers = {"accept-encoding": "identity"}
                    async with session.get("/api/v1/pods", params=query, headers=headers) as response:
                        size = len(await response.read())
                    milliseconds.append((time.perf_counter() - began) * 1000)
                figures[label] = statistics.median(milliseconds)
                print(f"{label}: {size / 1e6:.1f} MB in {figures[label]:.0f} ms ({min(milliseconds):.0f} at best)")
    return Result("list_pods", round(figures["newest"]), "ms")
