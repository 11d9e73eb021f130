"""Compaction: what it takes away, the edges, retention, small steps, the file that does not grow."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from engine.clock import VirtualClock
from engine.store import (
    CompactedError,
    DeleteRange,
    FutureRevisionError,
    Put,
    Range,
    Retention,
    SqliteStore,
    StoreUnavailableError,
)
from tests.store.test_txn import get, put
from tests.store.test_watch import ALL, drain


async def work_off(clock: VirtualClock) -> None:
    """Let all that can run now run: the clock jumps only when the compaction has nothing left to do."""
    await clock.sleep(0.001)


async def test_what_is_compacted_is_refused(store: SqliteStore) -> None:
    for number in range(8):
        await put(store, b"/a", b"%d" % number)
    await store.compact(5)
    with pytest.raises(CompactedError, match=r"^etcdserver: mvcc: required revision has been compacted$") as caught:
        await store.range(Range(b"/a", revision=4))
    assert caught.value.compact_revision == 5
    kv = await get(store, b"/a", 5)
    assert kv is not None
    assert kv.value == b"3"
    with pytest.raises(CompactedError):
        await store.watch(b"/a", start_revision=4)


async def test_a_physical_compaction_is_done_when_it_returns(store: SqliteStore) -> None:
    for number in range(2000):
        await put(store, b"/a", b"%d" % number)
    await store.compact(store.revision, physical=True)
    assert await store.log() == (await store.log())[-1:]
    await store.compact(await put(store, b"/a"), physical=True)
    assert len(await store.log()) == 1


async def test_a_revision_is_compacted_once_and_never_ahead(store: SqliteStore) -> None:
    await put(store, b"/a")
    await put(store, b"/a")
    await store.compact(2)
    with pytest.raises(CompactedError):
        await store.compact(2)
    with pytest.raises(FutureRevisionError):
        await store.compact(4)


@pytest.mark.parametrize("reopened", [False, True], ids=["running", "reopened"])
@pytest.mark.parametrize("compact_revision", range(2, 9))
async def test_the_edge(
    virtual_clock: VirtualClock, store_path: Path | None, compact_revision: int, reopened: bool
) -> None:
    """From the compacted revision itself on, ranges and watches see what they saw before: all of it, or an error."""
    store = await SqliteStore.open(store_path, clock=virtual_clock)
    await put(store, b"/a", b"1")  # 2
    await put(store, b"/b", b"1")  # 3
    await store.txn([], [DeleteRange(b"/a"), Put(b"/c", b"1")])  # 4
    await put(store, b"/b", b"2")  # 5
    await put(store, b"/a", b"2")  # 6
    await store.txn([], [DeleteRange(b"/b")])  # 7
    await put(store, b"/c", b"2")  # 8
    revisions = range(compact_revision, 9)
    states = [(await store.range(Range(b"/", b"0", revision=revision))).kvs for revision in revisions]
    events = [await drain(await store.watch(*ALL, start_revision=revision), 8) for revision in revisions]
    await store.compact(compact_revision)
    await work_off(virtual_clock)
    if reopened and store_path is not None:
        await store.close()
        store = await SqliteStore.open(store_path, clock=virtual_clock)
    assert [(await store.range(Range(b"/", b"0", revision=revision))).kvs for revision in revisions] == states
    assert [await drain(await store.watch(*ALL, start_revision=revision), 8) for revision in revisions] == events
    with pytest.raises(CompactedError):
        await store.watch(*ALL, start_revision=compact_revision - 1)
    await store.close()


async def test_superseded_rows_and_deletions_leave_the_file(virtual_clock: VirtualClock, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path, clock=virtual_clock)
    for number in range(3000):
        await put(store, b"/k%d" % (number % 10), bytes(100))
    await store.txn([], [DeleteRange(b"/k1"), DeleteRange(b"/k2")])
    await put(store, b"/last")
    await store.compact(store.revision)
    await work_off(virtual_clock)
    before = (await store.status()).db_size
    await store.defrag()
    assert (await store.status()).db_size < before / 4
    await store.close()
    connection = sqlite3.connect(path)
    keys = [row[0] for row in connection.execute("SELECT key FROM log ORDER BY key")]
    connection.close()
    assert keys == [b"/k0", *(b"/k%d" % number for number in range(3, 10)), b"/last"]


async def test_a_compaction_that_was_cut_short_goes_on(virtual_clock: VirtualClock, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path, clock=virtual_clock)
    for _ in range(2000):
        await put(store, b"/a")
    await store.compact(2000)
    await store.close()  # most of its rows are still there
    store = await SqliteStore.open(path, clock=virtual_clock)
    assert (await get(store, b"/a", 2000)) is not None
    await put(store, b"/b")
    await work_off(virtual_clock)
    await store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM log").fetchone() == (3,)
    connection.close()


async def test_history_is_kept_for_the_period_and_the_number(virtual_clock: VirtualClock) -> None:
    store = await SqliteStore.open(None, clock=virtual_clock, retention=Retention(period=3600, revisions=200))
    for _ in range(2 * 360):
        await put(store, b"/a")
        await virtual_clock.sleep(10)
    kept = store.revision - store.compact_revision
    assert 360 <= kept <= 360 + 150
    await virtual_clock.sleep(24 * 3600)  # nothing is written: nothing more goes
    await put(store, b"/a")
    assert store.revision - store.compact_revision >= 200
    await store.close()


async def test_heartbeats_do_not_push_history_out(virtual_clock: VirtualClock) -> None:
    store = await SqliteStore.open(None, clock=virtual_clock, retention=Retention(period=60, revisions=300))
    for _ in range(250):
        await put(store, b"/registry/pods/default/web")
    first = store.revision
    for _ in range(3000):
        await put(store, b"/registry/leases/kube-node-lease/node-1")
        await virtual_clock.sleep(1)
    assert store.compact_revision < first - 200
    for _ in range(1000):
        await put(store, b"/registry/pods/default/web")
        await virtual_clock.sleep(1)
    assert store.compact_revision > first
    await store.close()


async def test_an_idle_day_of_heartbeats_ends_within_bounds(virtual_clock: VirtualClock, tmp_path: Path) -> None:
    """They do not count as history, so it is their bytes that end them."""
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path, clock=virtual_clock, retention=Retention(disk=2 << 20))
    heartbeats = [Put(b"/registry/leases/kube-node-lease/node-%d" % node, bytes(500)) for node in range(10)]
    for _ in range(24 * 60):
        await store.txn([], heartbeats)
        await virtual_clock.sleep(60)
    status = await store.status()
    assert status.db_size < 4 << 20  # of more than 7 MB that were written
    assert store.revision - store.compact_revision > 60
    await store.close()


async def test_a_store_opens_where_nothing_that_lives_is_newer_than_the_compaction(
    virtual_clock: VirtualClock, tmp_path: Path
) -> None:
    """k3s-io/kine issue 311: such a store came up at an older revision, and its watches failed."""
    store = await SqliteStore.open(tmp_path / "store.db", clock=virtual_clock, retention=Retention(automatic=False))
    await put(store, b"/a")
    for _ in range(20):
        await put(store, b"/b")
    newest = (await store.txn([], [DeleteRange(b"/b")])).revision
    await store.compact(newest)
    await virtual_clock.sleep(1)
    await store.close()
    store = await SqliteStore.open(tmp_path / "store.db", clock=virtual_clock, retention=Retention(automatic=False))
    assert (store.revision, store.compact_revision) == (newest, newest)
    watcher = await store.watch(b"/", b"0", start_revision=newest)
    (deletion,) = (await anext(watcher)).events
    assert (deletion.type, deletion.kv.key, deletion.kv.mod_revision) == ("DELETE", b"/b", newest)
    assert await put(store, b"/a") == newest + 1
    assert [event.kv.key for event in (await anext(watcher)).events] == [b"/a"]
    await store.close()


async def test_whoever_waits_for_the_space_is_told_when_it_cannot_be_freed(
    virtual_clock: VirtualClock, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path, clock=virtual_clock)
    for number in range(3000):
        await put(store, b"/k%d" % (number % 10), bytes(100))
    waiting = asyncio.ensure_future(store.compact(store.revision, physical=True))
    for _ in range(1000):
        if store.compact_revision == store.revision:
            break
        await asyncio.sleep(0)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    async with virtual_clock.timeout(60):
        with pytest.raises(StoreUnavailableError, match="another process has locked it"):
            await waiting
    other.execute("ROLLBACK")
    other.close()
    await put(store, b"/after")
    await work_off(virtual_clock)
    with pytest.raises(CompactedError):
        await store.range(Range(b"/k1", revision=2))
    await store.close()


async def test_the_size_counts_the_wal(virtual_clock: VirtualClock, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path, clock=virtual_clock)
    for number in range(200):
        await put(store, b"/k%d" % number, bytes(4096))
        status = await store.status()
        assert status.db_size >= status.db_size_in_use
    on_disk = sum(file.stat().st_size for file in (path, path.with_name("store.db-wal")))
    assert (await store.status()).db_size == on_disk
    await store.close()
