"""Discovery and OpenAPI over HTTPS from another process: milliseconds to the last byte, first and median of thirty.

What was made once is served from memory; who sends the tag of what he has gets 304 and no byte. The figure is the
median of aggregated discovery of all groups, which every new kubectl asks for.
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
from tests.benchmarks import Result
from tests.benchmarks._process import up

RUNS = 30
AGGREGATED = {"accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
ASKED: dict[str, dict[str, str]] = {
    "/apis": AGGREGATED,
    "/apis/apps/v1": {},
    "/openapi/v3": {},
    "/openapi/v3/apis/apps/v1": {},
    "/openapi/v2": {},
}


async def run() -> Result:
    with tempfile.TemporaryDirectory() as home, up(Path(home), "--components="):
        connection = KubeConfig.load(Path(home) / "default" / "kubeconfig").connection()
        context = tls_context(connection)
        assert isinstance(context, ssl.SSLContext)
        figures = {}
        async with aiohttp.ClientSession(connection.server, connector=aiohttp.TCPConnector(ssl=context)) as session:
            for path, accept in ASKED.items():
                headers = {"accept-encoding": "identity", **accept}
                first, size, tag = await _ask(session, path, headers)
                figures[path] = statistics.median([(await _ask(session, path, headers))[0] for _ in range(RUNS)])
                line = f"{path}: {size / 1e3:,.0f} kB, first {first:.1f} ms, then {figures[path]:.1f} ms"
                if tag:
                    known = {**headers, "if-none-match": tag}
                    again = statistics.median([(await _ask(session, path, known))[0] for _ in range(RUNS)])
                    line += f", {again:.1f} ms for who has it"
                print(line)
    return Result("discovery", round(figures["/apis"], 1), "ms")


async def _ask(session: aiohttp.ClientSession, path: str, headers: dict[str, str]) -> tuple[float, int, str]:
    """Milliseconds, bytes and the tag."""
    began = time.perf_counter()
    async with session.get(path, headers=headers) as response:
        size = len(await response.read())
        return (time.perf_counter() - began) * 1000, size, response.headers.get("ETag", "")
