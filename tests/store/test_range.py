"""Ranges: intervals, revisions, limits, sorting, counting."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.clock import VirtualClock
from engine.store import DeleteRange, FutureRevisionError, Put, Range, SqliteStore, StoreError, prefix_end
from tests.store.test_txn import put


@pytest.fixture
async def filled(store: SqliteStore) -> SqliteStore:
    """/a is deleted at 6 and made again at 7; /b is changed at 5."""
    for key in (b"/a", b"/b", b"/c"):
        await put(store, key, key)
    await put(store, b"/b", b"z")
    await store.txn([], [DeleteRange(b"/a")])
    await put(store, b"/a", b"new")
    return store


@pytest.mark.parametrize(
    ("request_", "keys", "more", "count"),
    [
        pytest.param(Range(b"/a"), b"a", False, 1, id="one-key"),
        pytest.param(Range(b"/x"), b"", False, 0, id="missing-key"),
        pytest.param(Range(b"/a", b"/c"), b"ab", False, 2, id="half-open"),
        pytest.param(Range(b"/b", b"\0"), b"bc", False, 2, id="to-the-end"),
        pytest.param(Range(b"\0", b"\0"), b"abc", False, 3, id="everything"),
        pytest.param(Range(b"/c", b"/a"), b"", False, 0, id="reversed"),
        pytest.param(Range(b"/", b"0", limit=2), b"ab", True, 3, id="limit"),
        pytest.param(Range(b"/", b"0", limit=3), b"abc", False, 3, id="limit-not-reached"),
        pytest.param(Range(b"/", b"0", limit=-1), b"abc", False, 3, id="negative-limit"),
        pytest.param(Range(b"/", b"0", limit=-1, sort_order="descend"), b"cba", False, 3, id="negative-limit-sorted"),
        pytest.param(Range(b"/", b"0", revision=-1), b"abc", False, 3, id="negative-revision"),
        pytest.param(Range(b"/", b"0", count_only=True), b"", False, 3, id="count-only"),
        pytest.param(Range(b"/", b"0", count_only=True, limit=1), b"", False, 3, id="count-only-has-no-more"),
        pytest.param(Range(b"/", b"0", revision=4), b"abc", False, 3, id="before-the-delete"),
        pytest.param(Range(b"/", b"0", revision=6), b"bc", False, 2, id="after-the-delete"),
        pytest.param(Range(b"/", b"0", revision=2), b"a", False, 1, id="before-most"),
        pytest.param(Range(b"/", b"0", revision=1), b"", False, 0, id="before-all"),
        pytest.param(Range(b"/", b"0", revision=4, limit=2), b"ab", True, 3, id="limit-in-the-past"),
        pytest.param(Range(b"/", b"0", sort_order="descend"), b"cba", False, 3, id="descending"),
        pytest.param(Range(b"/", b"0", sort_order="descend", limit=1), b"c", True, 3, id="limit-after-sorting"),
        pytest.param(Range(b"/", b"0", sort_target="mod"), b"cba", False, 3, id="by-mod-revision"),
        pytest.param(Range(b"/", b"0", sort_target="create"), b"bca", False, 3, id="by-create-revision"),
        pytest.param(Range(b"/", b"0", sort_target="value"), b"cab", False, 3, id="by-value"),
        pytest.param(Range(b"/", b"0", sort_target="mod", limit=1), b"b", True, 3, id="limit-without-order"),
        pytest.param(
            Range(b"/", b"0", sort_target="mod", sort_order="ascend", limit=1), b"c", True, 3, id="with-one-it-is-not"
        ),
        pytest.param(
            Range(b"/", b"0", sort_target="version", sort_order="descend", limit=1), b"b", True, 3, id="by-version"
        ),
    ],
)
async def test_range(filled: SqliteStore, request_: Range, keys: bytes, more: bool, count: int) -> None:
    response = await filled.range(request_)
    assert b"".join(kv.key[1:] for kv in response.kvs) == keys
    assert (response.more, response.count, response.revision) == (more, count, 7)


async def test_the_same_questions_to_a_reopened_log(virtual_clock: VirtualClock, tmp_path: Path) -> None:
    """Memory holds no history after a restart, so these answers come from the log."""
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path, clock=virtual_clock)
    for revision in range(2, 40):
        await store.txn([], [Put(b"/k%d" % (revision % 7), b"%d" % revision)])
        if revision % 5 == 0:
            await store.txn([], [DeleteRange(b"/k%d" % (revision % 3))])
    questions = [
        Range(b"/k1", b"/k5", revision=revision, limit=limit)
        for revision in range(1, store.revision)
        for limit in (0, 2)
    ] + [Range(b"/k1", revision=revision) for revision in range(1, store.revision)]
    expected = [await store.range(question) for question in questions]
    await store.close()
    store = await SqliteStore.open(path, clock=virtual_clock)
    assert [await store.range(question) for question in questions] == expected
    await store.close()


async def test_old_values_are_given_as_they_were(filled: SqliteStore) -> None:
    kvs = (await filled.range(Range(b"/", b"0", revision=4))).kvs
    assert [kv.value for kv in kvs] == [b"/a", b"/b", b"/c"]


async def test_keys_only_leaves_out_the_values(filled: SqliteStore) -> None:
    kvs = (await filled.range(Range(b"/", b"0", keys_only=True))).kvs
    assert [(kv.key, kv.value, kv.version) for kv in kvs] == [(b"/a", b"", 1), (b"/b", b"", 2), (b"/c", b"", 1)]


async def test_a_future_revision_is_refused(filled: SqliteStore) -> None:
    with pytest.raises(FutureRevisionError, match=r"^etcdserver: mvcc: required revision is a future revision$"):
        await filled.range(Range(b"/a", revision=8))


async def test_a_key_must_be_given(store: SqliteStore) -> None:
    with pytest.raises(StoreError, match=r"^etcdserver: key is not provided$"):
        await store.range(Range(b""))


@pytest.mark.parametrize(
    ("prefix", "end"), [(b"/a", b"/b"), (b"a\xff", b"b"), (b"\xff\xff", b"\0")], ids=["plain", "carry", "all"]
)
def test_prefix_end(prefix: bytes, end: bytes) -> None:
    assert prefix_end(prefix) == end
