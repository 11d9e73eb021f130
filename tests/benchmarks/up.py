"""Seconds from `ktui up` to an API that answers, with all components and three nodes; median of five."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from tests.benchmarks import Result
from tests.benchmarks._process import up

RUNS = 5


async def run() -> Result:
    seconds = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as home, up(Path(home)) as (_, took):
            seconds.append(took)
    print(f"{RUNS} cold starts in new folders: {', '.join(f'{value:.3f} s' for value in seconds)}")
    return Result("up", round(statistics.median(seconds), 3), "s")
