"""`ktui up` as a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@contextmanager
def up(home: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], float]]:
    """The running process and the seconds until it said that its API answers."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "ktui", "up", "--port=0", *options],
        cwd=ROOT,
        env={**os.environ, "KTUI_HOME": str(home), "PYTHONDONTWRITEBYTECODE": ""},  # as one that is installed
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        if not process.stdout.readline():
            raise RuntimeError("ktui up did not start")
        yield process, time.perf_counter() - began
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:  # one that is rolling ten thousand Pods out; its folder goes anyway
            process.kill()
            process.wait()
        process.stdout.close()
