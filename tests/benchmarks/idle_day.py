"""MiB on disk after a day of model time of 100 idle nodes: a lease each ten seconds, a status each five minutes.

On the virtual clock, with values as kubelets write them, after an hour of work that must still be there at the end.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from engine.clock import VirtualClock
from engine.rng import Rng
from engine.store import Put, Range, SqliteStore
from tests.benchmarks import Result

NODES = 100
LEASE, STATUS = bytes(450), bytes(3500)
CAUSE = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"


async def day(path: Path, clock: VirtualClock) -> float:
    """MiB on disk."""
    store = await SqliteStore.open(path, clock=clock, rng=Rng(1))
    first = store.revision
    for number in range(2_000):
        await store.txn([], [Put(b"/registry/pods/default/web-%d" % (number % 50), bytes(2000))], cause=CAUSE)
    pods = Range(b"/registry/pods/", b"/registry/pods0", revision=store.revision - 1_000)
    before = (await store.range(pods)).kvs
    for tick in range(24 * 360):
        puts = [Put(b"/registry/leases/kube-node-lease/node-%d" % node, LEASE) for node in range(NODES)]
        if tick % 30 == 0:
            puts += [Put(b"/registry/minions/node-%d" % node, STATUS) for node in range(NODES)]
        await asyncio.gather(*(store.txn([], [put], cause=CAUSE) for put in puts))
        await clock.sleep(10)
    wal = path.with_name(path.name + "-wal").stat().st_size
    status = await store.status()
    kept = (await store.range(pods)).kvs == before and store.compact_revision <= first
    print(f"{store.revision:,} revisions; the work of the day before is {'all there' if kept else 'NOT all there'}")
    in_use, file = status.db_size_in_use / 2**20, status.db_size / 2**20
    print(f"{in_use:.1f} MiB in use, {file:.1f} MiB of file, {wal / 2**20:.1f} MiB of WAL")
    await store.close()
    return file + wal / 2**20


def live(path: Path) -> float:
    clock = VirtualClock()
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        return runner.run(day(path, clock))


async def run() -> Result:
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        # A virtual clock owns its loop: the day is lived in a thread of its own.
        size = await asyncio.to_thread(live, Path(folder) / "store.db")
    print(f"it took {time.perf_counter() - began:.0f} s of this machine")
    return Result("idle_day", round(size), "MiB")
