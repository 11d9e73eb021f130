"""Opening a store whose log holds a million revisions of 10,000 keys, as a restart would find it.

Nothing is compacted, so all of the log is there; the file's pages are mostly in the system's cache.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from engine.clock import Clock
from engine.store import Put, Range, Retention, SqliteStore
from tests.benchmarks import Result

REVISIONS, KEYS, VALUE = 1_000_000, 10_000, bytes(500)
WRITERS = 250


async def fill(path: Path) -> None:
    store = await SqliteStore.open(path, clock=Clock(), retention=Retention(automatic=False))

    async def work(writer: int) -> None:
        for number in range(REVISIONS // WRITERS):
            key = b"/registry/pods/default/web-%d" % ((writer + number * WRITERS) % KEYS)
            await store.txn([], [Put(key, VALUE)])

    await asyncio.gather(*(work(writer) for writer in range(WRITERS)))
    await store.close()


async def run() -> Result:
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        path = Path(folder) / "store.db"
        began = time.perf_counter()
        await fill(path)
        print(f"wrote {REVISIONS:,} revisions of {KEYS:,} keys in {time.perf_counter() - began:.1f} s")
        began = time.perf_counter()
        store = await SqliteStore.open(path, clock=Clock())
        seconds = time.perf_counter() - began
        status = await store.status()
        count = (await store.range(Range(b"/", b"0", count_only=True))).count
        print(f"opened revision {status.revision:,} with {count:,} keys, {status.db_size / 1e6:,.0f} MB on disk")
        began = time.perf_counter()
        response = await store.range(Range(b"/", b"0", revision=status.revision // 2, limit=500))
        print(f"a page of 500 of {response.count:,} keys half-way back: {(time.perf_counter() - began) * 1000:.0f} ms")
        await store.close()
    return Result("store_open", round(seconds, 3), "s")
