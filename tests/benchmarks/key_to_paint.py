"""Milliseconds from a key to what it paints, while a Deployment of 10,000 Pods rolls out; p95 of 100 keys."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks import Result
from tests.benchmarks._process import ROOT, up
from tests.benchmarks._terminal import Terminal, screen
from tests.benchmarks.idle import processor_seconds, resident_mib

KEYS = 100
REPLICAS = 10_000
NODES = 100


async def run() -> Result:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with up(home, f"--nodes={NODES}"), screen(home) as terminal:
            terminal.until(f"{NODES}/{NODES}")
            _kubectl(home, "apply", "-f", "samples/web.yaml")
            _kubectl(home, "scale", "deployment/web", f"--replicas={REPLICAS}")
            before = processor_seconds(terminal.pid)
            took = sorted(_switch(terminal, number) for number in range(KEYS))
            processor = (processor_seconds(terminal.pid) - before) / KEYS * 1000
            memory = resident_mib(terminal.pid)
    median, p95 = took[len(took) // 2], took[int(len(took) * 0.95)]
    print(f"{KEYS} switches between two screens: median {median:.1f} ms, p95 {p95:.1f} ms, most {took[-1]:.1f} ms")
    print(f"the screen took {processor:.1f} ms of a processor for each, 50 ms of rest between them included")
    print(f"it holds {memory:.0f} MiB")
    return Result("key_to_paint", round(p95, 1), "ms")


def _switch(terminal: Terminal, number: int) -> float:
    """Press a key that brings up another screen, and wait for words that only that screen has."""
    key, words = ("2", "NAMESPACE") if number % 2 == 0 else ("1", "wall")
    terminal.drain(0.05)
    began = time.perf_counter()
    terminal.press(key)
    return (terminal.until(words) - began) * 1000


def _kubectl(home: Path, *words: str) -> None:
    command = [sys.executable, "-m", "ktui", *words]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "KTUI_HOME": str(home)}, check=True, stdout=subprocess.DEVNULL)
