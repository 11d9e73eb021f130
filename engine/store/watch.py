"""Watchers of committed revisions (etcd server/storage/mvcc `watchable_store.go`, `watcher_group.go`).

A *synced* watcher is handed each batch as it is committed. One that starts in the past, or whose buffer is full, is
*unsynced*: it reads the log itself from where it stands, and is synced again once it has caught up. So a slow watcher
costs nobody anything and loses nothing, short of compaction, and a response always carries whole revisions.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence

from engine.store.index import Change, Revision, bounds
from engine.store.types import CompactedError, EmptyRangeError, Event, StoreError, WatchFilter, WatchResponse

BUFFER = 8192  # events that wait for a synced watcher before it is unsynced

# Reads changes again: (first revision, interval) -> (last revision read, its and earlier changes in the interval).
ReadRevisions = Callable[[int, tuple[bytes, bytes | None]], Awaitable[tuple[int, list[Revision]]]]


class StoreWatcher:
    """One watch; for a single task to iterate."""

    def __init__(
        self,
        hub: WatchHub,
        interval: tuple[bytes, bytes | None],
        *,
        next_revision: int,
        prev_kv: bool,
        filters: Collection[WatchFilter],
    ) -> None:
        self.start, self.end = interval
        self.next_revision = next_revision  # the first that an unsynced watcher has not seen
        self.synced = next_revision > hub.revision
        self.buffered = 0
        self._hub = hub
        self._first_revision = next_revision
        self._prev_kv = prev_kv
        self._unwanted = {"PUT": "noput" in filters, "DELETE": "nodelete" in filters}
        self._responses: deque[WatchResponse] = deque()
        self._fresh: list[Event] = []
        self._progress_asked = False
        self._closed = False
        self._wake: asyncio.Future[None] | None = None

    def __aiter__(self) -> StoreWatcher:
        return self

    async def __anext__(self) -> WatchResponse:
        while True:
            if self._responses:
                response = self._responses.popleft()
                self.buffered -= len(response.events)
                return response
            if self._closed:
                raise StopAsyncIteration
            if not self.synced:
                caught_up = await self._catch_up()
                if caught_up is not None:
                    return caught_up
            elif self._progress_asked and self.started:
                self._progress_asked = False
                return WatchResponse(self._hub.revision, [])
            else:
                await self._wait()

    @property
    def started(self) -> bool:
        """Whether the next revision is not before the first one wanted: what says how far a watcher is says where to
        go on (etcd issue 20221)."""
        return self._hub.revision + 1 >= self._first_revision

    async def _wait(self) -> None:
        self._wake = asyncio.get_running_loop().create_future()
        try:
            await self._wake
        finally:
            self._wake = None

    async def _catch_up(self) -> WatchResponse | None:
        """Read on from where the watcher stands; it is synced once nothing committed is ahead of it."""
        self._hub.check_kept(self.next_revision)
        last, revisions = await self._hub.read(self.next_revision, (self.start, self.end))
        events = [
            self._event(change, revision.cause)
            for revision in revisions
            for change in revision.changes
            if self._contains(change.kv.key) and not self._unwanted["PUT" if change.kv.version else "DELETE"]
        ]
        self.next_revision = last + 1
        self.synced = last >= self._hub.revision
        return WatchResponse(last, events) if events else None

    def _contains(self, key: bytes) -> bool:
        return key >= self.start and (self.end is None or key < self.end)

    def _event(self, change: Change, cause: str) -> Event:
        kind, prev = "PUT" if change.kv.version else "DELETE", change.prev if self._prev_kv else None
        return Event("PUT" if kind == "PUT" else "DELETE", change.kv, prev, cause)

    def take(self, bare: Event, full: Event) -> bool:
        """Note an event of the batch that is being published; says whether it is the first of the batch."""
        if self._unwanted[bare.type] or bare.kv.mod_revision < self._first_revision:
            return False
        self._fresh.append(full if self._prev_kv else bare)
        return len(self._fresh) == 1

    def deliver(self, first: int, last: int) -> None:
        """Hand over what was taken of the revisions from `first` to `last`."""
        events, self._fresh = self._fresh, []
        if self.buffered + len(events) > BUFFER and self._responses:
            self.synced = False
            self.next_revision = max(first, self._first_revision)
            return
        self.buffered += len(events)
        self._responses.append(WatchResponse(last, events))
        self.wake()

    def wake(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def request_progress(self) -> None:
        self._progress_asked = True
        if self.started:
            self.wake()
        else:
            self._hub.tell_when_started(self)

    def end_stream(self) -> None:
        self._closed = True
        self.wake()

    async def aclose(self) -> None:
        self._responses.clear()
        self._hub.remove(self)
        self.end_stream()


class WatchHub:
    """All watchers, found by key."""

    def __init__(self, revision: int, compact_revision: int, read: ReadRevisions) -> None:
        self.revision = revision
        self.compact_revision = compact_revision
        self.read = read
        self._watchers: dict[StoreWatcher, None] = {}
        self._segments = _Segments()
        self._unstarted: dict[StoreWatcher, None] = {}  # those of the future that were asked how far they are
        self._closed = False

    def __len__(self) -> int:
        return len(self._watchers)

    def watchers(self) -> list[StoreWatcher]:
        return list(self._watchers)

    def check_kept(self, revision: int) -> None:
        """A watch may start at the compacted revision itself, not below."""
        if revision < self.compact_revision:
            raise CompactedError(self.compact_revision)

    def add(
        self, key: bytes, range_end: bytes, *, start_revision: int, prev_kv: bool, filters: Collection[WatchFilter]
    ) -> StoreWatcher:
        if self._closed:
            raise StoreError("etcdserver: server stopped")
        start = start_revision or self.revision + 1
        interval = bounds(key, range_end)
        if interval[1] is not None and interval[0] >= interval[1]:
            raise EmptyRangeError
        self.check_kept(start)
        watcher = StoreWatcher(self, interval, next_revision=start, prev_kv=prev_kv, filters=frozenset(filters))
        self._watchers[watcher] = None
        self._segments.add(watcher)
        return watcher

    def remove(self, watcher: StoreWatcher) -> None:
        if watcher in self._watchers:
            del self._watchers[watcher]
            self._segments.remove(watcher)
            self._unstarted.pop(watcher, None)

    def tell_when_started(self, watcher: StoreWatcher) -> None:
        """Wake a watcher once the revision is reached that it starts at."""
        self._unstarted[watcher] = None

    def publish(self, revisions: Sequence[Revision]) -> None:
        """Hand committed revisions to the synced watchers, each revision whole."""
        touched: list[StoreWatcher] = []
        if self._watchers:
            for revision in revisions:
                for change in revision.changes:
                    self._offer(change, revision.cause, touched)
        self.revision = revisions[-1].revision
        for watcher in touched:
            watcher.deliver(revisions[0].revision, self.revision)
        if self._unstarted:
            self._wake_started()

    def _wake_started(self) -> None:
        for watcher in [watcher for watcher in self._unstarted if watcher.started]:
            del self._unstarted[watcher]
            watcher.wake()

    def _offer(self, change: Change, cause: str, touched: list[StoreWatcher]) -> None:
        watchers = self._segments.at(change.kv.key)
        if not watchers:
            return
        bare = Event("PUT" if change.kv.version else "DELETE", change.kv, None, cause)
        full = bare if change.prev is None else bare._replace(prev_kv=change.prev)
        touched += [watcher for watcher in watchers if watcher.synced and watcher.take(bare, full)]

    def close(self) -> None:
        """End all streams: what is buffered can still be read."""
        self._closed = True
        for watcher in list(self._watchers):
            self.remove(watcher)
            watcher.end_stream()


class _Segments:
    """The key space cut at every start and end of a watched interval; each piece knows who watches it.

    Kubernetes watches a few dozen prefixes, written to all the time: a key is looked up far more often than a
    watcher comes or goes.
    """

    def __init__(self) -> None:
        self._cuts: list[bytes] = [b""]  # the start of each piece
        self._watchers: list[dict[StoreWatcher, None]] = [{}]

    def at(self, key: bytes) -> dict[StoreWatcher, None]:
        return self._watchers[bisect_right(self._cuts, key) - 1]

    def _cut(self, key: bytes) -> int:
        """Make a piece start at `key`; its position."""
        position = bisect_left(self._cuts, key)
        if position == len(self._cuts) or self._cuts[position] != key:
            self._cuts.insert(position, key)
            self._watchers.insert(position, dict(self._watchers[position - 1]))
        return position

    def _span(self, watcher: StoreWatcher) -> tuple[int, int]:
        first = self._cut(watcher.start)
        return first, len(self._cuts) if watcher.end is None else self._cut(watcher.end)

    def add(self, watcher: StoreWatcher) -> None:
        for piece in self._watchers[slice(*self._span(watcher))]:
            piece[watcher] = None

    def remove(self, watcher: StoreWatcher) -> None:
        first, last = self._span(watcher)
        for piece in self._watchers[first:last]:
            piece.pop(watcher, None)
        # Pieces that now have the same watchers as the one before them need no cut.
        for position in range(min(last, len(self._cuts) - 1), max(first, 1) - 1, -1):
            if self._watchers[position] == self._watchers[position - 1]:
                del self._cuts[position], self._watchers[position]
