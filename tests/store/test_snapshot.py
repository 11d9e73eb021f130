"""Snapshots and their restoring."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.clock import VirtualClock
from engine.store import CompactedError, DeleteRange, Put, Range, SqliteStore, StoreError, restore
from tests.store.test_durability import sql
from tests.store.test_txn import put
from tests.store.test_watch import drain


async def test_a_snapshot_opens_as_the_store_was(
    store: SqliteStore, virtual_clock: VirtualClock, tmp_path: Path
) -> None:
    lease = await store.lease_grant(60)
    for number in range(20):
        await put(store, b"/k%d" % (number % 3), b"%d" % number, lease if number == 19 else 0)
    await store.txn([], [Put(b"/x", b"1"), DeleteRange(b"/k2"), Put(b"/y", b"")], cause="why")
    await store.compact(10)
    await virtual_clock.sleep(0.001)
    file, place = tmp_path / "snapshot.db", tmp_path / "restored.db"
    await store.snapshot(file)
    await put(store, b"/later")
    assert restore(file, place) == 22
    copy = await SqliteStore.open(place, clock=virtual_clock)
    revisions = range(10, 23)
    for revision in revisions:
        request = Range(b"/", b"0", revision=revision)
        assert (await copy.range(request)).kvs == (await store.range(request)).kvs
    assert (await copy.log(after=10)) == (await store.log(after=10))[:-1]
    assert (copy.revision, copy.compact_revision, await copy.leases()) == (22, 10, [lease])
    assert await put(copy, b"/other") == 23
    await copy.close()


async def test_a_snapshot_never_writes_over_a_file(store: SqliteStore, tmp_path: Path) -> None:
    file = tmp_path / "snapshot.db"
    file.touch()
    with pytest.raises(StoreError, match="is there already; name a new file for the snapshot"):
        await store.snapshot(file)


async def test_restoring_sets_the_old_store_aside(virtual_clock: VirtualClock, tmp_path: Path) -> None:
    path, file = tmp_path / "store.db", tmp_path / "snapshot.db"
    store = await SqliteStore.open(path, clock=virtual_clock)
    await put(store, b"/a", b"old")
    await store.snapshot(file)
    for _ in range(3):
        await put(store, b"/a", b"new")
    with pytest.raises(StoreError, match="is in use by process"):
        restore(file, path)
    await store.close()
    assert restore(file, path) == 2
    store = await SqliteStore.open(path, clock=virtual_clock)
    assert [kv.value for kv in (await store.range(Range(b"/a"))).kvs] == [b"old"]
    await store.close()
    assert sql(tmp_path / "store.db.before-restore", "SELECT max(revision) FROM log") == [(5,)]


@pytest.mark.parametrize("damage", ["missing", "row", "file"])
async def test_a_bad_snapshot_changes_nothing(virtual_clock: VirtualClock, tmp_path: Path, damage: str) -> None:
    path, file = tmp_path / "store.db", tmp_path / "snapshot.db"
    store = await SqliteStore.open(path, clock=virtual_clock)
    await put(store, b"/a")
    if damage == "row":
        await store.snapshot(file)
        sql(file, "UPDATE log SET value = x'00'")
    elif damage == "file":
        file.write_bytes(b"no snapshot " * 50)
    await store.close()
    with pytest.raises(StoreError, match="there is no snapshot" if damage == "missing" else "is damaged"):
        restore(file, path)
    store = await SqliteStore.open(path, clock=virtual_clock)
    assert store.revision == 2
    await store.close()
    assert [name for name in os.listdir(tmp_path) if "partial" in name] == []


async def test_a_restored_store_may_go_on_later(
    store: SqliteStore, virtual_clock: VirtualClock, tmp_path: Path
) -> None:
    """TestRestoreCompactionRevBump of etcd: its clients, who have seen more than the snapshot has, must list anew."""
    file, place = tmp_path / "snapshot.db", tmp_path / "restored.db"
    for number in range(3):
        await put(store, b"/k%d" % number, b"%d" % number)
    await store.snapshot(file)
    await put(store, b"/unknown")
    assert restore(file, place, bump=10_000) == 10_004
    for _ in range(2):  # and so it is after a restart
        copy = await SqliteStore.open(place, clock=virtual_clock)
        kept = (await copy.range(Range(b"\0", b"\0"))).kvs
        assert [(kv.key, kv.create_revision, kv.mod_revision) for kv in kept] == [
            (b"/k0", 2, 2),
            (b"/k1", 3, 3),
            (b"/k2", 4, 4),
        ]
        assert (await copy.range(Range(b"\0", b"\0", revision=10_004))).kvs == kept
        assert (copy.revision, copy.compact_revision) == (10_004, 10_004)
        for revision in (1, 4, 5, 10_003):
            with pytest.raises(CompactedError) as refused:
                await copy.watch(b"\0", b"\0", start_revision=revision)
            assert refused.value.compact_revision == 10_004
            with pytest.raises(CompactedError):
                await copy.range(Range(b"/k0", revision=revision))
        await copy.close()
    copy = await SqliteStore.open(place, clock=virtual_clock)
    watcher = await copy.watch(b"/", b"0", start_revision=10_005)
    assert await put(copy, b"/k1", b"new") == 10_005
    assert [(event.kv.mod_revision, event.kv.version) for event in await drain(watcher, 10_005)] == [(10_005, 2)]
    await copy.compact(10_005, physical=True)
    await copy.close()


async def test_revisions_end(store: SqliteStore, tmp_path: Path) -> None:
    file = tmp_path / "snapshot.db"
    await store.snapshot(file)
    with pytest.raises(StoreError, match=r"revision \d+ is later than 8796093022206, the last that a store can have"):
        restore(file, tmp_path / "restored.db", bump=1 << 43)
    assert not (tmp_path / "restored.db").exists()
