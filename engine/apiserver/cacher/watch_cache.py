"""Hop 08: the watch cache of one resource, filled by exactly one store watch, and the fan-out to every open stream.

Source of the behaviour: apiserver pkg/storage/cacher (watch_cache.go, cache_watcher.go, cacher.go). The newest state of
each object is kept decoded and shared, and the last events in a ring, so that a watch that starts at a revision of the
ring neither misses nor repeats one. A watcher whose buffer is full is cut off, never waited for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

from engine.api.errors import expired
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.api.wire import WatchEvent
from engine.apiserver.cacher.cached_objects import CachedObjects
from engine.apiserver.cacher.change_ring import ChangeRing
from engine.apiserver.cacher.fan_out import FanOut
from engine.apiserver.cacher.freshness import Freshness
from engine.apiserver.cacher.history import changes_between
from engine.apiserver.cacher.waking import Waking
from engine.apiserver.cacher.watcher import SIZES, Interest, Watcher
from engine.apiserver.changes import Change, change_of
from engine.apiserver.corrupt_objects import CorruptObject, UnreadableKeys
from engine.apiserver.storage_keys import key_text
from engine.apiserver.stored_values import Found, StoredValues
from engine.clock import wall
from engine.metrics import Distribution
from engine.store.types import (
    CompactedError,
    Event,
    KeyValue,
    Range,
    RangeResponse,
    Store,
    StoreError,
    StoreUnavailableError,
    prefix_end,
)
from engine.store.types import Watcher as StoreWatcher
from engine.tasks import Supervisor
from engine.trace import Hop, SpanContext
from engine.world import World

log = logging.getLogger(__name__)

LIST_AGAIN = 1.0  # seconds between attempts while the store is away
FILLS, _FILLS_SINCE = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600), (1, 37)
DISPATCH_BATCH = 64  # events that are handed out in a row before the loop may run whoever reads them


class WatchCache:
    """`generation` counts the changes since the start, and how often it was out of date; `revision` is the newest store
    revision that was seen, `state` what there is at it."""

    def __init__(
        self, world: World, store: Store, info: ResourceInfo, values: StoredValues, *, size: int = 1000
    ) -> None:
        self.prefix = info.storage_prefix
        self.kind = info.singular
        self.revision = 0
        self.generation = 0
        self.resource = self.prefix.removeprefix("/registry/")
        self.received = 0
        self.progressed = 0  # how often the store said how far it is, without an event
        self.initial_events = 0  # what had to be looked at when watches were opened
        self.cut_off = 0  # watchers that were too slow
        self.event_sizes = Distribution(SIZES)  # as they went over the wire
        self.watch_lists: dict[str, Distribution] = {}  # by scope: the seconds until the initial events were told
        self.expired = 0  # watches that were to begin before the ring: 410, and their clients list
        self._world = world
        self._store = store
        self._info = info
        self._values = values
        self._read = partial(values.read, info)
        self._first = self.prefix.encode() + b"/"
        self.state = CachedObjects(by_node=self.prefix == "/registry/pods")
        self.unreadable = UnreadableKeys(world.clock)
        self.ring = ChangeRing(size)
        self.fillings = 0  # how often the whole state was listed
        self.filled = Distribution(FILLS)  # the seconds that it took, since releases tell
        self._watchers = FanOut()
        self._waking = Waking()
        self._next_watcher = 0
        self._started: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._source: StoreWatcher | None = None
        self._bookmarks_due: dict[int, Watcher] = {}
        self.freshness = Freshness(self, store, world.clock)
        self._reaching = asyncio.Lock()

    # -- life

    async def start(self, tasks: Supervisor) -> None:
        """List and begin to watch, once; whoever comes while it is listed, now or anew, waits. Raises StoreError."""
        if self._started is None:
            self._task = tasks.spawn(self._run(), f"watch-cache {self.prefix}")
            self._started = asyncio.get_running_loop().create_future()
        if not self.ready:
            await asyncio.shield(self._started)  # who gives up does so alone

    @property
    def ready(self) -> bool:
        started = self._started
        return started is not None and started.done() and not started.cancelled() and started.exception() is None

    def close(self) -> None:
        """End all open watches, and the store's; a later start lists anew, and follows alone."""
        self._end_watches()
        self._lose()
        if self._task is not None:
            self._task.cancel()

    def _lose(self, started: asyncio.Future[None] | None = None) -> None:
        """It is not up to date any more, until somebody starts it or `started` is done."""
        self._started = started
        self.generation += 1

    def _end_watches(self) -> None:
        for watcher in self._watchers:
            watcher.end()
        self._source = None
        self.freshness.wake()

    async def _fill(self) -> None:
        """Raises StoreError; whoever waits is told."""
        started = self._started
        assert started is not None, "somebody waits for it"
        began = wall()
        try:
            self._source = await self._list()
        except Exception as error:
            started.set_exception(error)
            started.exception()  # nobody else need be waiting
            raise
        except BaseException:
            started.cancel()
            raise
        if self._info.release >= _FILLS_SINCE:
            self.filled.observe(wall() - began)
        started.set_result(None)

    async def _fill_again(self) -> None:
        """As soon as the store is there again: until then whoever comes is told that it is not."""
        while True:
            self._lose(asyncio.get_running_loop().create_future())
            try:
                return await self._fill()
            except StoreUnavailableError:
                await self._world.clock.sleep(LIST_AGAIN)

    async def _list(self) -> StoreWatcher:
        end = prefix_end(self._first)
        while True:
            response = await self._store.range(Range(self._first, end))
            self._take_over(await self._values.read_all(self._info, response.kvs, self._world.clock))
            self.ring.begin_at(response.revision)
            self.revision = response.revision
            try:
                return await self._store.watch(self._first, end, start_revision=response.revision + 1)
            except CompactedError:
                continue

    def _take_over(self, found: list[Found]) -> None:
        """Have these objects in place of those that there were, at once: others look at them, full or not."""
        self.state.clear()
        self.unreadable.clear()
        self.fillings += 1
        self.generation += 1
        for key, revision, obj, size in found:
            if isinstance(obj, CorruptObject):
                self.unreadable.put(key)
            else:
                self.state.put(key, revision, obj, size)

    async def _run(self) -> None:
        try:
            await self._fill()
            while self._source is not None and not await self._follow(self._source):
                await self._fill_again()
        except Exception as error:
            self._lose()  # whoever waited is told; the next one tries again
            if not isinstance(error, StoreError):
                raise

    async def _follow(self, source: StoreWatcher) -> bool:
        """Take what the store's watch tells; False if what lies between is lost: the cache, and all who watch it, must
        list again."""
        try:
            async for response in source:
                if response.events:
                    await self._apply(response.events)
                else:
                    self.progressed += 1
                self.revision = max(self.revision, response.revision)
                self._send_bookmarks()
                self.freshness.wake()
            return True
        except CompactedError:
            pass
        except Exception:
            log.exception("the watch cache of %s could not go on, and lists anew", self.prefix)
        finally:
            await source.aclose()
        self._end_watches()
        return False

    def bookmark(self, watcher: Watcher) -> None:
        """Tell a watcher how far the cache has come, once the store has said how far it is: where nothing of the
        watcher's has changed, too."""
        if self.ask_progress():
            self._bookmarks_due[watcher.number] = watcher

    def _send_bookmarks(self) -> None:
        if self._bookmarks_due:
            due, self._bookmarks_due = self._bookmarks_due, {}
            for watcher in due.values():
                watcher.bookmark(self.revision)

    def ask_progress(self) -> bool:
        """Have the store say how far it is; False if it is not followed any more."""
        if self._source is None:
            return False
        self._source.request_progress()
        return True

    # -- changes coming in

    async def _apply(self, events: list[Event]) -> None:
        for number, event in enumerate(events):
            try:
                change = self._change(event)
            except CorruptObject:
                self._spoil(event)
                continue
            if change is None:
                continue
            with self._world.tracer.span(
                Hop.WATCH,
                component="kube-apiserver",
                verb="watch",
                object=change.named(self.kind),
                cause=SpanContext.parse(change.cause),
                revision=change.revision,
            ) as span:
                if not number:
                    await self._world.latency.pause("watch")
                self._keep(change)
                sent = self._watchers.send(change)
                span.detail = {"event": change.type, "watchers": sent, "resource": self.resource}
            if number % DISPATCH_BATCH == DISPATCH_BATCH - 1:
                await self._world.clock.sleep(0)

    def _change(self, event: Event) -> Change | None:
        key = key_text(event.kv.key)
        known = self.state.get(key)
        old = known[1] if known is not None else None
        change = change_of(event, old, self._read) if old is not None or event.type == "PUT" else None
        self._mend(key, event.kv.mod_revision)
        return change

    def _spoil(self, event: Event) -> None:
        """An object became unreadable: who watches cannot be told how it changed, and must list again."""
        key = key_text(event.kv.key)
        self.state.drop(key)
        self.unreadable.put(key)
        self._begin_anew(event.kv.mod_revision)

    def _mend(self, key: str, revision: int) -> None:
        """An unreadable object is gone, or readable again."""
        if self.unreadable.drop(key):
            self._begin_anew(revision)

    def _begin_anew(self, revision: int) -> None:
        for watcher in self._watchers:
            watcher.end()
        self.ring.begin_at(revision)
        self.fillings += 1
        self.revision = revision
        self.generation += 1

    def _keep(self, change: Change) -> None:
        if change.type == "DELETED":
            self.state.drop(change.key)
        else:
            self.state.put(change.key, change.revision, change.object, change.size)
        self.revision = change.revision
        self.generation += 1
        self.received += 1
        self.ring.append(change)

    # -- reading

    def lookup(self, key: str, revision: int) -> Object | None:
        """The decoded object of a key, if it is the one of that revision."""
        known = self.state.get(key)
        return known[1] if known is not None and known[0] == revision else None

    def get(self, key: str) -> Object | None:
        known = self.state.get(key)
        return known[1] if known is not None else None

    def objects(self, namespace: str = "", node: str | None = None) -> Iterator[Object]:
        """The objects of a namespace ("" for all), or the Pods of a node, in the order of their keys."""
        return self.state.select(namespace, node)

    def versions(self) -> Iterator[tuple[str, int, Object]]:
        """Every key with its revision and its object, in no particular order."""
        return ((key, revision, obj) for key, (revision, obj) in self.state.items())

    def range(self, request: Range) -> RangeResponse:
        """What the store would answer for the newest state, without the values: the objects are here (`lookup`)."""
        keys = self.state.between(request.key.decode(), request.range_end.decode())
        shown = keys[: request.limit] if request.limit else keys
        found = ((key, self.state.get(key)) for key in shown)
        kvs = [KeyValue(key.encode(), b"", 0, entry[0], 1) for key, entry in found if entry is not None]
        return RangeResponse(self.revision, kvs, len(shown) < len(keys), len(keys))

    def __len__(self) -> int:
        return len(self.state)

    # -- watching

    async def reach_back(self, after: int) -> None:
        """Let the ring begin earlier, where the store still has what came after a revision and the ring has room."""
        async with self._reaching:
            if not self.ring.may_reach(after):
                return
            edge, filling = self.ring.listed_at, self.fillings
            found = await changes_between(
                self._store, self._first, self._read, after=after, until=edge, limit=self.ring.room
            )
            if found is not None and filling == self.fillings:
                self.ring.prepend(found, after=after)

    def watch(self, interest: Interest, *, after: int, initial: list[WatchEvent]) -> Watcher:
        """Open a watch: first `initial`, then every event of interest with a revision above `after`.

        Raises ApiError 410 for a cursor that the ring has passed.
        """
        if after < self.ring.oldest:
            self.expired += 1
            raise expired(f"too old resource version: {after} ({self.ring.oldest})")
        self._next_watcher += 1
        watcher = Watcher(
            self._world.clock,
            interest,
            number=self._next_watcher,
            after=after,
            initial=initial,
            waking=self._waking,
            sizes=self.event_sizes,
            on_end=self._ended,
        )
        self._watchers.add(watcher)
        for change in self.ring:
            if change.revision > after:
                watcher.replay(change)
                self.initial_events += 1
        return watcher

    @property
    def watchers(self) -> Iterator[Watcher]:
        """The open watches."""
        return iter(self._watchers)

    @property
    def watcher_count(self) -> int:
        return len(self._watchers)

    def _ended(self, watcher: Watcher) -> None:
        if self._watchers.remove(watcher) and watcher.too_slow:
            self.cut_off += 1

    def describe(self) -> dict[str, Any]:
        """For `/debug/ktui/watches`."""
        return {
            "prefix": self.prefix,
            "kind": self.kind,
            "revision": self.revision,
            "objects": len(self.state),
            "ring": self.ring.describe(),
            "cutOff": self.cut_off,
            "expired": self.expired,
            "watchers": [watcher.describe() for watcher in self._watchers],
        }
