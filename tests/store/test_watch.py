"""Watches: order, whole revisions, catching up, slow watchers, progress."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine.clock import VirtualClock
from engine.store import (
    CompactedError,
    DeleteRange,
    Event,
    KeyValue,
    Put,
    Range,
    SqliteStore,
    Watcher,
    WatchResponse,
    prefix_end,
)
from engine.store import watch as watch_module
from engine.store.types import EmptyRangeError
from tests.store.test_txn import put

ALL = (b"/", prefix_end(b"/"))


async def drain(watcher: Watcher, until: int) -> list[Event]:
    """The events up to a revision."""
    events: list[Event] = []
    watcher.request_progress()
    async for response in watcher:
        events += response.events
        if response.revision >= until:
            return events
        watcher.request_progress()
    raise AssertionError(f"the watch ended before revision {until}")


async def test_events_come_in_order_with_their_cause(store: SqliteStore) -> None:
    watcher = await store.watch(*ALL)
    await store.txn([], [Put(b"/a", b"1")], cause="why")
    await store.txn([], [DeleteRange(b"/a")])
    assert await drain(watcher, 3) == [
        Event("PUT", KeyValue(b"/a", b"1", 2, 2, 1), None, "why"),
        Event("DELETE", KeyValue(b"/a", b"", 0, 3, 0)),
    ]


async def test_prev_kv_is_what_was_there_before(store: SqliteStore) -> None:
    watcher = await store.watch(*ALL, prev_kv=True)
    bare = await store.watch(*ALL)
    await put(store, b"/a", b"1")
    await put(store, b"/a", b"2")
    await store.txn([], [DeleteRange(b"/a")])
    first, second = KeyValue(b"/a", b"1", 2, 2, 1), KeyValue(b"/a", b"2", 2, 3, 2)
    assert [event.prev_kv for event in await drain(watcher, 4)] == [None, first, second]
    assert [event.prev_kv for event in await drain(bare, 4)] == [None, None, None]


async def test_a_response_holds_whole_revisions(store: SqliteStore) -> None:
    watcher = await store.watch(*ALL)
    await store.txn([], [Put(b"/a", b""), Put(b"/b", b""), Put(b"/c", b"")])
    response = await watcher.__anext__()
    assert (response.revision, [event.kv.key for event in response.events]) == (2, [b"/a", b"/b", b"/c"])


@pytest.mark.parametrize(
    ("interval", "keys"),
    [
        pytest.param((b"/b", b""), [b"/b"], id="one-key"),
        pytest.param((b"/a", b"/c"), [b"/a", b"/b", b"/b/x"], id="half-open"),
        pytest.param((b"/b", b"\0"), [b"/b", b"/b/x", b"/c"], id="to-the-end"),
        pytest.param((b"/b/", prefix_end(b"/b/")), [b"/b/x"], id="prefix"),
    ],
)
@pytest.mark.parametrize("start_revision", [0, 2], ids=["live", "catching-up"])
async def test_only_keys_of_the_interval_are_seen(
    store: SqliteStore, interval: tuple[bytes, bytes], keys: list[bytes], start_revision: int
) -> None:
    others = [await store.watch(b"/a", b"/b\0"), await store.watch(b"/b/x"), await store.watch(b"/", b"0")]
    watcher = None if start_revision else await store.watch(*interval)
    await others[1].aclose()
    for key in (b"/a", b"/b", b"/b/x", b"/c"):
        await put(store, key)
    watcher = watcher or await store.watch(*interval, start_revision=start_revision)
    assert [event.kv.key for event in await drain(watcher, 5)] == keys


async def test_filters(store: SqliteStore) -> None:
    no_put = await store.watch(*ALL, filters=["noput"])
    no_delete = await store.watch(*ALL, filters=["nodelete"])
    await put(store, b"/a")
    await store.txn([], [DeleteRange(b"/a")])
    late = await store.watch(*ALL, start_revision=2, filters=["noput"])
    assert [event.type for event in await drain(no_put, 3)] == ["DELETE"]
    assert [event.type for event in await drain(no_delete, 3)] == ["PUT"]
    assert [event.type for event in await drain(late, 3)] == ["DELETE"]


@pytest.mark.parametrize("start", [1, 2, 3, 6, 7, 9])
async def test_a_watch_starts_at_any_revision_and_goes_on_live(store: SqliteStore, start: int) -> None:
    for _ in range(5):
        await put(store, b"/a")
    watcher = await store.watch(*ALL, start_revision=start)
    for _ in range(4):
        await put(store, b"/b")
    seen = [event.kv.mod_revision for event in await drain(watcher, 10)]
    assert seen == list(range(max(start, 2), 11))


async def test_a_watch_reads_on_in_the_log_of_an_earlier_run(virtual_clock: VirtualClock, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path, clock=virtual_clock)
    for revision in range(2, 2502):
        await store.txn([], [Put(b"/k%d" % (revision % 3), b"%d" % revision)], cause=f"cause {revision}")
    live = await store.watch(b"/k1", start_revision=2, prev_kv=True)
    expected = await drain(live, 2501)
    await store.close()
    store = await SqliteStore.open(path, clock=virtual_clock)
    watcher = await store.watch(b"/k1", start_revision=2, prev_kv=True)
    await put(store, b"/k1", b"last")
    events = await drain(watcher, 2502)
    assert events[:-1] == expected
    assert (events[-1].kv.value, len(events)) == (b"last", 834)
    await store.close()


async def test_a_slow_watcher_holds_nobody_up_and_misses_nothing(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "BUFFER", 10)
    slow, quick = await store.watch(*ALL), await store.watch(*ALL)
    quick_seen: list[int] = []
    for _ in range(100):
        await put(store, b"/a")
        quick_seen += [event.kv.mod_revision for event in (await quick.__anext__()).events]
    assert quick_seen == list(range(2, 102))
    assert [(info.synced, info.buffered) for info in store.watchers()] == [(False, 10), (True, 0)]
    assert [event.kv.mod_revision for event in await drain(slow, 101)] == quick_seen
    await put(store, b"/a")
    assert [event.kv.mod_revision for event in await drain(slow, 102)] == [102]


async def test_a_slow_watcher_misses_nothing_of_a_batch_that_did_not_fit(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "BUFFER", 10)
    watcher = await store.watch(*ALL)
    for _ in range(3):
        await asyncio.gather(*(put(store, b"/k%d" % number) for number in range(8)))
    assert [event.kv.mod_revision for event in await drain(watcher, 25)] == list(range(2, 26))


async def test_a_slow_watcher_that_compaction_overtook_is_told(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "BUFFER", 1)
    watcher = await store.watch(*ALL)
    for _ in range(10):
        await put(store, b"/a")
    await store.compact(8)
    assert (await watcher.__anext__()).revision == 2
    with pytest.raises(CompactedError) as caught:
        await watcher.__anext__()
    assert caught.value.compact_revision == 8


async def test_progress_says_how_far_the_watcher_is(store: SqliteStore) -> None:
    watcher = await store.watch(b"/quiet")
    await put(store, b"/busy")
    watcher.request_progress()
    assert await watcher.__anext__() == WatchResponse(2, [])
    behind = await store.watch(b"/busy", start_revision=2)
    behind.request_progress()
    assert [len((await behind.__anext__()).events), await behind.__anext__()] == [1, WatchResponse(2, [])]


async def test_progress_of_a_watch_that_starts_in_the_future_comes_with_its_start(store: SqliteStore) -> None:
    """Who went on behind an earlier one would see what was not asked for (etcd issue 20221, and
    TestProgressIfSyncSafety_ReturnsFalseWhenStartRevAhead)."""
    watcher = await store.watch(b"/a", start_revision=5)
    watcher.request_progress()
    waiting = asyncio.ensure_future(anext(watcher))
    for revision in (2, 3):
        await put(store, b"/a", b"%d" % revision)
        assert not waiting.done()
    await put(store, b"/b")
    assert await waiting == WatchResponse(4, [])
    await put(store, b"/a", b"5")
    assert [event.kv.value for event in (await anext(watcher)).events] == [b"5"]
    gone = await store.watch(b"/a", start_revision=9)
    gone.request_progress()
    await gone.aclose()
    for _ in range(4):
        await put(store, b"/a")


@pytest.mark.parametrize(
    ("key", "range_end"),
    [pytest.param(b"/a", b"/a", id="ends where it begins"), pytest.param(b"/b", b"/a", id="ends before")],
)
async def test_a_watch_of_no_range_is_refused(store: SqliteStore, key: bytes, range_end: bytes) -> None:
    """etcd TestV3WatchWrongRange."""
    with pytest.raises(EmptyRangeError, match=r"^mvcc: watcher range is empty$"):
        await store.watch(key, range_end)
    assert store.watchers() == []


async def test_a_closed_watch_ends_for_whoever_waits(store: SqliteStore) -> None:
    watcher = await store.watch(*ALL)
    waiting = asyncio.ensure_future(anext(aiter(watcher), None))
    await asyncio.sleep(0)
    await watcher.aclose()
    assert await waiting is None
    assert store.watchers() == []


async def test_closing_the_store_ends_its_watches(store: SqliteStore) -> None:
    watcher = await store.watch(*ALL)
    await put(store, b"/a")
    await store.close()
    assert [response.revision async for response in watcher] == [2]


async def test_an_event_is_visible_to_readers_when_it_is_delivered(store: SqliteStore) -> None:
    watcher = await store.watch(*ALL)
    writing = asyncio.ensure_future(put(store, b"/a"))
    response = await watcher.__anext__()
    assert (await store.range(Range(b"/a"))).revision == response.revision
    await writing
