"""How long one writer waits for its put while 95,000 superseded rows are compacted away beside it (p99).

Also what the disk alone takes for as much, before and after: what a put waits longer than that is ours.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path

from engine.clock import Clock
from engine.store import Put, Retention, SqliteStore
from tests.benchmarks import Result

VALUE = bytes(1000)


async def fill(store: SqliteStore) -> None:
    async def work(writer: int) -> None:
        for number in range(400):
            await store.txn([], [Put(b"/k%d" % ((writer * 400 + number) % 5000), VALUE)])

    await asyncio.gather(*(work(writer) for writer in range(250)))


async def waits(store: SqliteStore, puts: int) -> list[float]:
    """Milliseconds of each put, in order of length."""
    found = []
    for number in range(puts):
        began = time.perf_counter()
        await store.txn([], [Put(b"/x%d" % (number % 100), VALUE)])
        found.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0.0005)
    return sorted(found)


def disk_alone(folder: Path, writes: int) -> list[float]:
    """Milliseconds of each page that is appended to a file and synced, in order of length."""
    found = []
    with (folder / "alone").open("wb", buffering=0) as file:
        for _ in range(writes):
            began = time.perf_counter()
            file.write(bytes(8192))
            os.fdatasync(file.fileno())
            found.append((time.perf_counter() - began) * 1000)
            time.sleep(0.0005)
    return sorted(found)


def show(label: str, found: list[float]) -> float:
    p99 = found[int(len(found) * 0.99)]
    print(f"{label}: p50 {found[len(found) // 2]:.2f} ms, p99 {p99:.2f} ms, longest {found[-1]:.2f} ms")
    return p99


async def run() -> Result:
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        retention = Retention(automatic=False)
        store = await SqliteStore.open(Path(folder) / "store.db", clock=Clock(), retention=retention)
        await fill(store)
        figures: list[float] = []
        for label in ("before", "during the compaction", "after"):
            if len(figures) == 1:
                await store.compact(store.revision)
            show("the disk alone", disk_alone(Path(folder), 500))
            figures.append(show(label, await waits(store, 1500)))
        await store.close()
    return Result("store_compaction", round(figures[1], 3), "ms")
