"""Seconds from `ktui` to its first frame, and to a cluster on it, started by the screen itself; median of five."""

from __future__ import annotations

import os
import signal
import statistics
import tempfile
import time
from pathlib import Path

import orjson

from tests.benchmarks import Result
from tests.benchmarks._terminal import screen

RUNS = 5


async def run() -> Result:
    frames, clusters = [], []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
            with screen(Path(home)) as terminal:
                frames.append(terminal.until("starting the engine") - terminal.began)
                clusters.append(terminal.until("3/3") - terminal.began)
            _end(Path(home))
    print(f"first frame: {_list(frames)}; all nodes ready on the screen: {_list(clusters)}")
    return Result("first_frame", round(statistics.median(frames), 3), "s")


def _list(seconds: list[float]) -> str:
    return ", ".join(f"{value:.3f} s" for value in seconds)


def _end(home: Path) -> None:
    """End the engine that the screen started."""
    running = home / "default" / "running.json"
    os.kill(orjson.loads(running.read_bytes())["pid"], signal.SIGTERM)
    deadline = time.perf_counter() + 10
    while running.exists() and time.perf_counter() < deadline:
        time.sleep(0.02)
