"""Group commit on the machine's own clock, where aiosqlite's thread writes; and what the store costs at rest."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from engine.clock import Clock, VirtualClock
from engine.store import Compare, Put, Range, SqliteStore
from tests.store.test_txn import put
from tests.store.test_watch import ALL, drain


async def test_writers_share_commits_and_keep_their_order(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "store.db", clock=Clock())
    watcher = await store.watch(*ALL)

    async def count(writer: int) -> None:
        """Compare-and-swap a counter that all writers share, until it has gone up ten times by this one."""
        done = 0
        while done < 10:
            kvs = (await store.range(Range(b"/counter"))).kvs
            value, revision = (int(kvs[0].value), kvs[0].mod_revision) if kvs else (0, 0)
            swap = Compare(b"/counter", "mod", "=", revision)
            response = await store.txn([swap], [Put(b"/counter", b"%d" % (value + 1))], cause=str(writer))
            done += response.succeeded

    await asyncio.gather(*(count(writer) for writer in range(8)))
    values = [int(event.kv.value) for event in await drain(watcher, store.revision)]
    assert values == list(range(1, 81))
    await asyncio.gather(*(put(store, b"/k%d" % number) for number in range(500)))
    status = await store.status()
    assert status.details["batch_max"] > 50
    assert status.details["batches"] < status.details["txns"]
    await store.close()


async def test_a_transaction_that_saw_an_uncommitted_write_waits_for_it(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "store.db", clock=Clock())
    finished: list[str] = []

    async def write() -> None:
        await put(store, b"/a", b"new")
        finished.append("write")

    async def read() -> None:
        response = await store.txn([Compare(b"/a", "value", "=", b"new")], [])
        assert (response.succeeded, store.revision) == (True, 2)
        finished.append("read")

    await asyncio.gather(write(), read())
    assert finished == ["write", "read"]
    await store.close()


async def test_writes_are_decided_on_what_is_still_on_its_way(tmp_path: Path) -> None:
    """New writes of a key come in while older ones of it are being committed."""
    store = await SqliteStore.open(tmp_path / "store.db", clock=Clock())
    writing = []
    for number in range(400):
        writing.append(asyncio.ensure_future(put(store, b"/a", b"%d" % number)))
        await asyncio.sleep(0.0001 * (number % 3))
    assert await asyncio.gather(*writing) == list(range(2, 402))
    kv = (await store.range(Range(b"/a"))).kvs[0]
    assert (kv.value, kv.version, kv.create_revision, kv.mod_revision) == (b"399", 400, 2, 401)
    await store.close()


async def test_a_writer_that_is_cancelled_takes_nobody_with_it(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "store.db", clock=Clock())
    first, second = (asyncio.ensure_future(put(store, key)) for key in (b"/a", b"/b"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 3
    assert [kv.key for kv in (await store.range(Range(*ALL))).kvs] == [b"/a", b"/b"]
    await store.close()


async def test_a_store_at_rest_has_no_task_and_no_timer(store: SqliteStore, virtual_clock: VirtualClock) -> None:
    await store.watch(*ALL)
    await asyncio.gather(*(put(store, b"/k%d" % number) for number in range(300)))
    await virtual_clock.sleep(1)
    assert len(asyncio.all_tasks()) == 1
    assert not virtual_clock.jump()


def test_closing_waits_for_what_was_decided(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def write() -> list[int | BaseException]:
        store = await SqliteStore.open(path, clock=Clock())
        writing = asyncio.gather(*(put(store, b"/k%d" % number) for number in range(600)))
        await asyncio.sleep(0)
        await store.close()
        return list(await writing)

    async def revision() -> int:
        store = await SqliteStore.open(path, clock=Clock())
        await store.close()
        return store.revision

    assert asyncio.run(write()) == list(range(2, 602))
    assert asyncio.run(revision()) == 601


LEFT_OPEN = """
import asyncio, sys
from pathlib import Path
from engine.clock import Clock
from engine.store import Put, SqliteStore

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]), clock=Clock())
    await store.txn([], [Put(b"/a", b"1")])
    raise SystemExit(3)

asyncio.run(main())
"""


async def test_a_process_that_forgets_its_store_still_ends(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", LEFT_OPEN, path, stderr=subprocess.DEVNULL)
    assert await process.wait() == 3
    store = await SqliteStore.open(path, clock=Clock())
    assert store.revision == 2
    await store.close()
