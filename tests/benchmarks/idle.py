"""Memory and processor of an idle cluster of three nodes after ten seconds; the figure is memory in MiB."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from tests.benchmarks import Result
from tests.benchmarks._process import up

SECONDS = 10


def processor_seconds(pid: int) -> float:
    """User and system time that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


async def run() -> Result:
    with tempfile.TemporaryDirectory() as home, up(Path(home)) as (process, _):
        await asyncio.sleep(2)
        before = processor_seconds(process.pid)
        await asyncio.sleep(SECONDS)
        share = (processor_seconds(process.pid) - before) / SECONDS
        memory = resident_mib(process.pid)
    print(f"{memory:.0f} MiB resident, {share:.1%} of a core over {SECONDS} s")
    return Result("idle", round(memory), "MiB")
