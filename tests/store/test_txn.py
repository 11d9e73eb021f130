"""Transactions: compares, branches, revisions and etcd's rules for what one may hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from engine.store import (
    Compare,
    DeleteRange,
    KeyNotFoundError,
    KeyValue,
    LeaseNotFoundError,
    Operation,
    Put,
    Range,
    RequestTooLargeError,
    SqliteStore,
    StoreError,
    prefix_end,
)
from engine.store.types import DeleteRangeResponse, PutResponse, RangeResponse


async def put(store: SqliteStore, key: bytes, value: bytes = b"v", lease: int = 0) -> int:
    return (await store.txn([], [Put(key, value, lease)])).revision


async def get(store: SqliteStore, key: bytes, revision: int = 0) -> KeyValue | None:
    kvs = (await store.range(Range(key, revision=revision))).kvs
    return kvs[0] if kvs else None


async def test_a_new_store_is_at_revision_1_and_each_write_makes_one(store: SqliteStore) -> None:
    assert store.revision == 1
    assert await put(store, b"/a") == 2
    assert await put(store, b"/a") == 3
    assert store.revision == 3


async def test_a_key_carries_its_revisions_and_its_version(store: SqliteStore) -> None:
    await put(store, b"/other")
    await put(store, b"/a", b"1")
    await put(store, b"/a", b"2")
    assert await get(store, b"/a") == KeyValue(b"/a", b"2", create_revision=3, mod_revision=4, version=2)


async def test_a_key_that_is_made_again_starts_over(store: SqliteStore) -> None:
    await put(store, b"/a")
    await store.txn([], [DeleteRange(b"/a")])
    await put(store, b"/a")
    assert await get(store, b"/a") == KeyValue(b"/a", b"v", create_revision=4, mod_revision=4, version=1)


async def test_operations_of_one_transaction_share_a_revision_and_see_one_another(store: SqliteStore) -> None:
    await put(store, b"/gone")
    response = await store.txn(
        [], [Put(b"/a", b"1"), Put(b"/b", b"2"), DeleteRange(b"/gone"), Range(b"/", b"0"), DeleteRange(b"/none")]
    )
    a, b = (KeyValue(key, value, 3, 3, 1) for key, value in ((b"/a", b"1"), (b"/b", b"2")))
    assert response.revision == 3
    assert response.responses == [
        PutResponse(3),
        PutResponse(3),
        DeleteRangeResponse(3, 1, []),
        RangeResponse(3, [a, b], False, 2),
        DeleteRangeResponse(3, 0, []),
    ]
    entries = [(entry.revision, entry.sub, entry.type, entry.key) for entry in await store.log(after=2)]
    assert entries == [(3, 0, "PUT", "/a"), (3, 1, "PUT", "/b"), (3, 2, "DELETE", "/gone")]


async def test_a_transaction_that_changes_nothing_makes_no_revision(store: SqliteStore) -> None:
    await put(store, b"/a")
    response = await store.txn([], [DeleteRange(b"/b"), Range(b"/a")])
    assert (response.revision, store.revision) == (2, 2)


async def test_prev_kv_is_given_where_asked_for(store: SqliteStore) -> None:
    await put(store, b"/a", b"1")
    replaced = await store.txn([], [Put(b"/a", b"2", prev_kv=True)])
    deleted = await store.txn([], [DeleteRange(b"/", prefix_end(b"/"), prev_kv=True)])
    assert replaced.responses == [PutResponse(3, KeyValue(b"/a", b"1", 2, 2, 1))]
    assert deleted.responses == [DeleteRangeResponse(4, 1, [KeyValue(b"/a", b"2", 2, 3, 2)])]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        pytest.param(Compare(b"/a", "mod", "=", 3), True, id="mod-equal"),
        pytest.param(Compare(b"/a", "mod", "=", 2), False, id="mod-stale"),
        pytest.param(Compare(b"/a", "mod", ">", 2), True, id="mod-greater"),
        pytest.param(Compare(b"/a", "mod", "<", 3), False, id="mod-less"),
        pytest.param(Compare(b"/a", "create", "=", 2), True, id="create"),
        pytest.param(Compare(b"/a", "version", "!=", 1), True, id="version"),
        pytest.param(Compare(b"/a", "value", "=", b"2"), True, id="value-equal"),
        pytest.param(Compare(b"/a", "value", "<", b"10"), False, id="value-in-byte-order"),
        pytest.param(Compare(b"/a", "lease", "=", 0), True, id="no-lease"),
        pytest.param(Compare(b"/none", "mod", "=", 0), True, id="missing-mod-is-0"),
        pytest.param(Compare(b"/none", "create", "=", 0), True, id="missing-create-is-0"),
        pytest.param(Compare(b"/none", "version", "=", 0), True, id="missing-version-is-0"),
        pytest.param(Compare(b"/none", "value", "=", b""), False, id="missing-value-never-holds"),
        pytest.param(Compare(b"/none", "value", "!=", b"x"), False, id="missing-value-is-not-unequal"),
    ],
)
async def test_compare(store: SqliteStore, condition: Compare, holds: bool) -> None:
    await put(store, b"/a", b"1")
    await put(store, b"/a", b"2")
    response = await store.txn([condition], [Put(b"/yes", b"")], [Put(b"/no", b"")])
    assert response.succeeded is holds
    assert (await get(store, b"/yes") is not None, await get(store, b"/no") is not None) == (holds, not holds)


async def test_all_compares_must_hold(store: SqliteStore) -> None:
    conditions = [Compare(b"/a", "mod", "=", 0), Compare(b"/b", "mod", "=", 1)]
    assert not (await store.txn(conditions, [Put(b"/a", b"")])).succeeded
    assert store.revision == 1


DUPLICATE = "duplicate key given in txn request"


@pytest.mark.parametrize(
    ("operations", "text"),
    [
        pytest.param([Put(b"/a", b""), Put(b"/a", b"")], DUPLICATE, id="put-twice"),
        pytest.param([Put(b"/a", b""), DeleteRange(b"/", b"0")], DUPLICATE, id="put-and-delete"),
        pytest.param([DeleteRange(b"/a"), Put(b"/a", b"")], DUPLICATE, id="deleted-put"),
        pytest.param([Put(b"/a", b"1", ignore_value=True)], "value is provided", id="value-and-none"),
        pytest.param([Put(b"/a", b"", 7, ignore_lease=True)], "lease is provided", id="lease-and-none"),
        pytest.param([Put(b"", b"")], "key is not provided", id="no-key"),
        pytest.param([Put(b"/%d" % n, b"") for n in range(129)], "too many operations in txn request", id="too-many"),
    ],
)
@pytest.mark.parametrize("branch", ["success", "failure"])
async def test_what_a_transaction_may_not_hold(
    store: SqliteStore, operations: list[Operation], text: str, branch: Literal["success", "failure"]
) -> None:
    with pytest.raises(StoreError, match=rf"^etcdserver: {text}$"):
        await store.txn([], operations if branch == "success" else [], operations if branch == "failure" else [])
    assert store.revision == 1


async def test_overlapping_deletes_are_allowed(store: SqliteStore) -> None:
    await put(store, b"/a")
    response = await store.txn([], [DeleteRange(b"/", b"0"), DeleteRange(b"/a")])
    assert response.responses == [DeleteRangeResponse(3, 1, []), DeleteRangeResponse(3, 0, [])]


async def test_a_request_has_a_size_limit(store: SqliteStore) -> None:
    with pytest.raises(RequestTooLargeError, match=r"^etcdserver: request is too large$"):
        await put(store, b"/a", bytes(1536 * 1024))
    assert await put(store, b"/a", bytes(1536 * 1024 - 2)) == 2


async def test_a_put_with_an_unknown_lease_changes_nothing(store: SqliteStore) -> None:
    with pytest.raises(LeaseNotFoundError, match=r"^etcdserver: requested lease not found$"):
        await store.txn([], [Put(b"/a", b""), Put(b"/b", b"", lease=7)])
    assert (store.revision, await get(store, b"/a")) == (1, None)


async def test_a_put_may_keep_what_the_key_has(store: SqliteStore) -> None:
    lease = await store.lease_grant(60)
    await put(store, b"/a", b"1", lease)
    await store.txn([], [Put(b"/a", b"", ignore_value=True, ignore_lease=True)])
    assert await get(store, b"/a") == KeyValue(b"/a", b"1", create_revision=2, mod_revision=3, version=2, lease=lease)
    await store.txn([], [Put(b"/a", b"2", ignore_lease=True)])
    assert await get(store, b"/a") == KeyValue(b"/a", b"2", create_revision=2, mod_revision=4, version=3, lease=lease)
    await store.txn([], [Put(b"/a", b"", ignore_value=True)])
    assert await get(store, b"/a") == KeyValue(b"/a", b"2", create_revision=2, mod_revision=5, version=4)
    await store.lease_revoke(lease)
    assert (await get(store, b"/a")) is not None


@pytest.mark.parametrize("kept", [{"ignore_value": True}, {"ignore_lease": True}], ids=["value", "lease"])
async def test_a_put_that_is_to_keep_what_is_not_there_changes_nothing(
    store: SqliteStore, kept: dict[str, bool]
) -> None:
    with pytest.raises(KeyNotFoundError, match=r"^etcdserver: key not found$"):
        await store.txn([], [Put(b"/b", b""), Put(b"/a", b"", **kept)])
    assert (store.revision, await get(store, b"/b")) == (1, None)


async def test_puts_are_checked_before_ranges(store: SqliteStore) -> None:
    with pytest.raises(LeaseNotFoundError):
        await store.txn([], [Range(b"/a", revision=9), Put(b"/a", b"", lease=7)])


async def test_a_range_in_a_transaction_may_look_back(store: SqliteStore) -> None:
    await put(store, b"/a", b"1")
    look = Range(b"/a", revision=2)
    response = await store.txn([], [look, Put(b"/a", b"2"), look])
    then = RangeResponse(2, [KeyValue(b"/a", b"1", 2, 2, 1)], False, 1)
    assert response.responses[::2] == [then, replace(then, revision=3)], "each says what was the newest when it ran"


async def test_the_cause_is_kept_with_the_revision(store: SqliteStore) -> None:
    await store.txn([], [Put(b"/a", b"")], cause="00-trace-span-01")
    await put(store, b"/a")
    assert [await store.cause(revision) for revision in (2, 3, 4)] == ["00-trace-span-01", "", ""]


async def test_recent_transactions_can_be_looked_at(store: SqliteStore) -> None:
    condition = Compare(b"/a", "mod", "=", 0)
    await store.txn([condition], [Put(b"/a", b"")], cause="first")
    await store.txn([condition], [Put(b"/a", b"")], cause="second")
    seen = [(t.revision, t.wrote, t.succeeded, t.keys, t.cause, list(t.compare)) for t in store.recent_txns()]
    assert seen == [(2, True, True, (b"/a",), "first", [condition]), (2, False, False, (), "second", [condition])]
