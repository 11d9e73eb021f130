"""One seed, one history: the revision logs of two runs in virtual time are equal byte for byte."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

from engine.clock import wall

Log = list[tuple[object, ...]]


def run(folder: Path, *, seed: str, hash_seed: str) -> tuple[Log, float]:
    """The rows of the log, and the model seconds until Ready."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.virtual_run", str(folder), seed],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(folder / "store.db") as database:
        rows = database.execute(
            "SELECT id, version, create_revision, lease, checksum, key, cause, value FROM log ORDER BY id"
        ).fetchall()
    database.close()
    return rows, float(done.stdout)


def test_the_same_seed_gives_the_same_log_and_another_seed_another(tmp_path: Path) -> None:
    began = wall()
    first, ready_after = run(tmp_path / "first", seed="7", hash_seed="1")
    took = wall() - began
    second, _ = run(tmp_path / "second", seed="7", hash_seed="2")
    other, _ = run(tmp_path / "other", seed="8", hash_seed="1")
    assert len(first) > 200
    assert first == second
    assert first != other
    # Realistic latencies take a person's time in the model and far less of this machine's: ten minutes and more.
    assert 1.5 <= ready_after <= 30
    assert took < 600
