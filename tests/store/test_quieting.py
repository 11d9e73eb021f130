"""Heartbeats never push out the history that people look at: theirs goes first, on disk and in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine.clock import VirtualClock
from engine.rng import Rng
from engine.store import CompactedError, DeleteRange, Event, Put, Range, Retention, SqliteStore
from tests.store.test_watch import drain

POD, LEASES = b"/registry/pods/default/web", b"/registry/leases/kube-node-lease/"
NODES = 20


async def beat(store: SqliteStore, clock: VirtualClock, *, minutes: int) -> None:
    """Heartbeats of all nodes every ten seconds, each a transaction of its own, as kubelets make them."""
    for _ in range(6 * minutes):
        puts = [Put(b"%snode-%d" % (LEASES, node), bytes(400)) for node in range(NODES)]
        await asyncio.gather(*(store.txn([], [put]) for put in puts))
        await clock.sleep(10)


async def some_history(store: SqliteStore) -> list[int]:
    """The revisions of a Pod that changes, goes and comes again."""
    revisions = [(await store.txn([], [Put(POD, b"%d" % number)])).revision for number in range(5)]
    revisions.append((await store.txn([], [DeleteRange(POD)])).revision)
    revisions.append((await store.txn([], [Put(POD, b"again")])).revision)
    return revisions


def seen(events: list[Event]) -> list[tuple[str, bytes, int]]:
    return [(event.type, event.kv.value, event.kv.mod_revision) for event in events]


async def check(store: SqliteStore, revisions: list[int]) -> None:
    """All of the Pod's history is there; of the leases there is what they are."""
    for number, revision in enumerate(revisions[:5]):
        [kv] = (await store.range(Range(POD, revision=revision))).kvs
        assert (kv.value, kv.mod_revision) == (b"%d" % number, revision)
    assert (await store.range(Range(POD, revision=revisions[5]))).kvs == []
    watcher = await store.watch(b"/registry/pods/", b"/registry/pods0", start_revision=revisions[0])
    events = await drain(watcher, store.revision)
    assert seen(events) == [
        *(("PUT", b"%d" % number, revision) for number, revision in enumerate(revisions[:5])),
        ("DELETE", b"", revisions[5]),
        ("PUT", b"again", revisions[6]),
    ]
    assert (await store.range(Range(LEASES, LEASES + b"\xff"))).count == NODES
    with pytest.raises(CompactedError):
        await store.range(Range(LEASES, LEASES + b"\xff", revision=revisions[-1] + NODES))
    with pytest.raises(CompactedError):
        await store.range(Range(b"\0", b"\0", revision=revisions[-1] + NODES))
    leases = await store.watch(LEASES, LEASES + b"\xff", start_revision=revisions[-1] + NODES)
    with pytest.raises(CompactedError):
        await anext(leases)
    await leases.aclose()


@pytest.mark.parametrize("form", ["memory", "file"])
async def test_hours_of_heartbeats_leave_the_history_alone(
    virtual_clock: VirtualClock, tmp_path: Path, form: str
) -> None:
    retention = Retention(disk=5 << 20, memory=2 << 20)
    path = tmp_path / "store.db" if form == "file" else None
    store = await SqliteStore.open(path, clock=virtual_clock, rng=Rng(1), retention=retention)
    revisions = await some_history(store)
    await beat(store, virtual_clock, minutes=3 * 60)
    status = await store.status()
    assert store.compact_revision < revisions[0]
    # Of 11 MB that were written, in 21,600 revisions, there are those of the quiet period.
    assert status.db_size_in_use < 3 << 20
    await check(store, revisions)
    snapshot = tmp_path / "snapshot.db"
    await store.snapshot(snapshot)
    await store.close()
    for file in filter(None, (path, snapshot)):
        store = await SqliteStore.open(file, clock=virtual_clock, retention=retention)
        assert (store.revision, await quiet_revision(store)) == (
            status.revision,
            status.details["quiet_revisions"]["/registry/leases/"],
        )
        await check(store, revisions)
        await beat(store, virtual_clock, minutes=20)
        await check(store, revisions)
        await store.close()


async def quiet_revision(store: SqliteStore) -> int:
    revision = (await store.status()).details["quiet_revisions"].get("/registry/leases/", 0)
    assert isinstance(revision, int)
    return revision


async def test_the_last_minutes_of_heartbeats_are_there(virtual_clock: VirtualClock, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path, clock=virtual_clock, rng=Rng(1))
    key = LEASES + b"node-1"
    made: dict[int, bytes] = {}
    for number in range(400):
        made[(await store.txn([], [Put(key, b"%d" % number)])).revision] = b"%d" % number
        await virtual_clock.sleep(10)
    edge = await quiet_revision(store)
    assert store.revision - 90 < edge <= store.revision - 60
    for revision in range(edge, store.revision + 1):
        [kv] = (await store.range(Range(key, revision=revision))).kvs
        assert kv.value == made[revision]
    watcher = await store.watch(key, start_revision=edge + 1)
    assert len(await drain(watcher, store.revision)) == store.revision - edge
    await store.close()


async def test_leases_that_go_leave_nothing(virtual_clock: VirtualClock, store: SqliteStore) -> None:
    key = LEASES + b"node-1"
    for _ in range(100):
        await store.txn([], [Put(key, b"x"), Put(POD, b"x")])
        await virtual_clock.sleep(30)
        await store.txn([], [DeleteRange(key)])
    assert (await store.range(Range(key))).kvs == []
    [kv] = (await store.range(Range(POD, revision=await quiet_revision(store)))).kvs
    assert kv.version > 50
    for revision in range(await quiet_revision(store), store.revision + 1):  # the even ones put it, the odd deleted it
        assert (await store.range(Range(key, revision=revision))).count == (revision + 1) % 2
