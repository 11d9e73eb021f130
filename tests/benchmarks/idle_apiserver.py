"""Memory and processor of an API server alone with nobody connected, over ten seconds; the figure is memory in MiB."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from tests.benchmarks import Result
from tests.benchmarks._process import up
from tests.benchmarks.idle import SECONDS, processor_seconds, resident_mib


async def run() -> Result:
    with tempfile.TemporaryDirectory() as home, up(Path(home), "--components=apiserver") as (process, _):
        await asyncio.sleep(2)
        before = processor_seconds(process.pid)
        await asyncio.sleep(SECONDS)
        share = (processor_seconds(process.pid) - before) / SECONDS
        memory = resident_mib(process.pid)
    print(f"{memory:.0f} MiB resident, {share:.2%} of a core over {SECONDS} s")
    return Result("idle_apiserver", round(memory), "MiB")
