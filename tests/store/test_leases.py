"""Leases on the model clock."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine.clock import VirtualClock
from engine.store import Compare, LeaseNotFoundError, Put, Range, SqliteStore, StoreError
from tests.store.test_txn import get, put
from tests.store.test_watch import ALL, drain


async def keys(store: SqliteStore) -> list[bytes]:
    return [kv.key for kv in (await store.range(Range(b"\0", b"\0"))).kvs]


async def test_the_keys_of_a_lease_go_with_it_in_one_revision(store: SqliteStore, virtual_clock: VirtualClock) -> None:
    lease = await store.lease_grant(60)
    watcher = await store.watch(*ALL)
    for key in (b"/b", b"/a"):
        await put(store, key, lease=lease)
    await put(store, b"/free")
    await virtual_clock.sleep(59.9)
    assert await keys(store) == [b"/a", b"/b", b"/free"]
    await virtual_clock.sleep(0.2)
    assert await keys(store) == [b"/free"]
    ended = [(event.type, event.kv.key, event.kv.mod_revision) for event in await drain(watcher, 5)][3:]
    assert ended == [("DELETE", b"/a", 5), ("DELETE", b"/b", 5)]
    assert await store.lease_time_to_live(lease) == (-1, 0, [])


async def test_keep_alive_starts_the_time_over(store: SqliteStore, virtual_clock: VirtualClock) -> None:
    lease = await store.lease_grant(60)
    await put(store, b"/a", lease=lease)
    for _ in range(3):
        await virtual_clock.sleep(50)
        assert await store.lease_keep_alive(lease) == 60
    assert await store.lease_time_to_live(lease) == (60, 60, [b"/a"])
    await virtual_clock.sleep(61)
    assert await keys(store) == []


async def test_leases_are_told_in_the_order_in_which_they_end(store: SqliteStore, virtual_clock: VirtualClock) -> None:
    """etcd lessor.go, leasesByExpiry."""
    for id, ttl in ((1, 300), (2, 100), (3, 200)):
        await store.lease_grant(ttl, id)
    assert await store.leases() == [2, 3, 1]
    await virtual_clock.sleep(90)
    await store.lease_keep_alive(3)
    await store.lease_grant(110, 4)
    assert await store.leases() == [2, 4, 3, 1]


async def test_a_key_leaves_its_lease_when_it_is_written_without(
    store: SqliteStore, virtual_clock: VirtualClock
) -> None:
    first, second = await store.lease_grant(10), await store.lease_grant(20)
    await put(store, b"/freed", lease=first)
    await put(store, b"/moved", lease=first)
    await put(store, b"/freed")
    await put(store, b"/moved", lease=second)
    assert await store.lease_time_to_live(first) == (10, 10, [])
    assert await store.lease_time_to_live(second) == (20, 20, [b"/moved"])
    await virtual_clock.sleep(15)
    assert await keys(store) == [b"/freed", b"/moved"]
    await virtual_clock.sleep(10)
    assert await keys(store) == [b"/freed"]


async def test_revoke(store: SqliteStore) -> None:
    lease = await store.lease_grant(60, lease_id=7)
    assert lease == 7
    await put(store, b"/a", lease=7)
    assert (await store.txn([Compare(b"/a", "lease", "=", 7)], [])).succeeded
    await store.lease_revoke(7)
    assert await get(store, b"/a") is None
    with pytest.raises(LeaseNotFoundError):
        await store.lease_revoke(7)
    with pytest.raises(LeaseNotFoundError):
        await store.lease_keep_alive(7)


async def test_an_id_is_granted_once(store: SqliteStore) -> None:
    await store.lease_grant(60, lease_id=7)
    with pytest.raises(StoreError, match=r"^etcdserver: lease already exists$"):
        await store.lease_grant(60, lease_id=7)
    assert await store.leases() == [7]


async def test_too_long_a_time_is_refused(store: SqliteStore) -> None:
    with pytest.raises(StoreError, match=r"^etcdserver: too large lease TTL$"):
        await store.lease_grant(9_000_000_001)


async def test_leases_outlive_a_restart_and_start_over(virtual_clock: VirtualClock, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path, clock=virtual_clock)
    lease, revoked = await store.lease_grant(60), await store.lease_grant(60)
    await put(store, b"/a", lease=lease)
    await store.lease_revoke(revoked)
    await virtual_clock.sleep(50)
    await store.close()
    store = await SqliteStore.open(path, clock=virtual_clock)
    assert await store.leases() == [lease]
    assert await store.lease_time_to_live(lease) == (60, 60, [b"/a"])
    await virtual_clock.sleep(61)
    assert await keys(store) == []
    await store.close()


async def test_a_key_written_while_the_lease_is_revoked_goes_too(store: SqliteStore) -> None:
    """The put is decided, but not yet committed, when the revocation is."""
    lease = await store.lease_grant(60)
    await asyncio.gather(store.txn([], [Put(b"/a", b"", lease)]), store.lease_revoke(lease))
    assert await keys(store) == []
    assert store.revision == 3
