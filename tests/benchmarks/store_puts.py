"""Durable puts of 1 KiB a second, with 1 and with 64 writers, beside a local etcd on the same disk where there is one.

Every put is acknowledged after its fsync. The figure is that of 64 writers. Printed with it is what bounds any store on
this machine: as many values as there are writers appended to a file and synced; put into a table of SQLite without
anything of ours around it; and appended and synced for writers that wait for it on an event loop, by a store that does
nothing else, neither index nor transaction.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from io import FileIO
from pathlib import Path

from engine.clock import Clock
from engine.store import Put, SqliteStore
from tests.benchmarks import Result, _etcd

VALUE = bytes(range(256)) * 4
WriteOne = Callable[[int, bytes], Awaitable[object]]  # writer, key


async def rate(write: WriteOne, *, writers: int, puts: int) -> float:
    """Puts a second of that many writers, each waiting for its own."""

    async def work(writer: int) -> None:
        for number in range(puts // writers):
            await write(writer, b"/registry/pods/default/web-%d-%d" % (writer, number))

    began = time.perf_counter()
    await asyncio.gather(*(work(writer) for writer in range(writers)))
    return puts / (time.perf_counter() - began)


async def ours(folder: Path, writers: int, puts: int) -> float:
    store = await SqliteStore.open(folder / "store.db", clock=Clock())
    try:
        return await rate(lambda _, key: store.txn([], [Put(key, VALUE)]), writers=writers, puts=puts)
    finally:
        await store.close()


async def theirs(folder: Path, writers: int, puts: int) -> float:
    async with _etcd.running(folder, writers) as connections:
        return await rate(
            lambda writer, key: connections[writer % len(connections)].put(key, VALUE), writers=writers, puts=puts
        )


def disk_alone(folder: Path, writers: int, batches: int) -> float:
    """Puts a second if a put cost nothing but its share of an append and a sync."""
    values = os.urandom(len(VALUE) * writers)
    with (folder / "log").open("ab", buffering=0) as log:
        began = time.perf_counter()
        for _ in range(batches):
            log.write(values)
            os.fdatasync(log.fileno())
    return writers * batches / (time.perf_counter() - began)


def sqlite_alone(folder: Path, writers: int, batches: int) -> float:
    """Rows a second of a bare table, as durable as the store's: a commit for as many rows as there are writers."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.executescript(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE log (revision INTEGER PRIMARY KEY, key, value)"
    )
    began = time.perf_counter()
    for batch in range(batches):
        first = batch * writers
        rows = [(first + row, b"/registry/pods/default/web-%d-%d" % (batch, row), VALUE) for row in range(writers)]
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO log VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
    elapsed = time.perf_counter() - began
    connection.close()
    return writers * batches / elapsed


async def loop_alone(folder: Path, writers: int, puts: int) -> float:
    """Puts a second of writers that wait for their append and its sync, many of which go together."""
    waiting: list[tuple[bytes, asyncio.Future[None]]] = []
    came = asyncio.Event()

    async def put(_: int, key: bytes) -> None:
        future = asyncio.get_running_loop().create_future()
        waiting.append((key + VALUE, future))
        came.set()
        await future

    async def commit(log: FileIO) -> None:
        while True:
            await came.wait()
            came.clear()
            taken, waiting[:] = list(waiting), []
            await asyncio.to_thread(_append, log, b"".join(value for value, _ in taken))
            for _, future in taken:
                future.set_result(None)

    with (folder / "log").open("ab", buffering=0) as log:
        committer = asyncio.create_task(commit(log))
        try:
            return await rate(put, writers=writers, puts=puts)
        finally:
            committer.cancel()


def _append(log: FileIO, data: bytes) -> None:
    log.write(data)
    os.fdatasync(log.fileno())


async def run() -> Result:
    figures: dict[tuple[str, int], float] = {}
    contestants = {"ktui": ours, **({"etcd": theirs} if _etcd.executable() else {})}
    for writers, puts in ((1, 2000), (64, 64_000)):
        for name, contestant in contestants.items():
            with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
                figures[name, writers] = await contestant(Path(folder), writers, puts)
            print(
                f"{name}: {writers} writer(s), {puts} puts of {len(VALUE)} bytes: {figures[name, writers]:,.0f} puts/s"
            )
    for name, bound in (("the disk alone", disk_alone), ("SQLite alone", sqlite_alone)):
        with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
            print(f"{name}: 64 values of {len(VALUE)} bytes a sync: {bound(Path(folder), 64, 1000):,.0f} puts/s")
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        alone = await loop_alone(Path(folder), 64, 64_000)
        print(f"an event loop and the disk alone, no store: 64 writer(s): {alone:,.0f} puts/s")
    if "etcd" not in contestants:
        print("etcd: not on this machine (Debian: etcd-server), so no comparison")
        return Result("store_puts", round(figures["ktui", 64]), "puts/s")
    peer = figures["etcd", 64]
    ratio = round(figures["ktui", 64] / peer, 2)
    return Result("store_puts", round(figures["ktui", 64]), "puts/s", peer=round(peer), ratio=ratio)
