"""One open watch: what it is interested in, its buffer, its end (apiserver pkg/storage/cacher cache_watcher.go)."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from engine.api.types import Object
from engine.api.wire import WatchEvent
from engine.apiserver.cacher.waking import Bell, Waking
from engine.apiserver.changes import Change
from engine.clock import Clock, Timer
from engine.metrics import Distribution, exponential_buckets

BUFFER = 1000
SIZES = exponential_buckets(1024, 2, 8)
# A watch gets a bookmark so often, and a last one so long before its time is up (cache_watcher.go nextBookmarkTime).
BOOKMARK_PERIOD = 60.0
BOOKMARK_BEFORE_END = 2.0


def _all(_: Object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Interest:
    """What a watch wants to see. `matches` stands for label and field selectors, `namespace`, `node` and `name` for the
    parts of them that are looked at first; `who` and `selector` are for display."""

    namespace: str = ""
    node: str | None = None
    name: str | None = None
    matches: Callable[[Object], bool] = _all
    selective: bool = False
    bookmarks: bool = False
    bookmark: Callable[[int], Object] | None = None
    who: str = ""
    user_agent: str = ""
    selector: dict[str, str] = field(default_factory=dict)

    @property
    def scope(self) -> str:
        """As requests are counted (CleanScope)."""
        return "resource" if self.name else "namespace" if self.namespace else "cluster"

    def wants(self, obj: Object) -> bool:
        if self.namespace and obj["metadata"].get("namespace") != self.namespace:
            return False
        if self.node is not None and ((obj.get("spec") or {}).get("nodeName") or "") != self.node:
            return False
        return self.matches(obj) if self.selective else True


class Watcher:
    """An `EventStream`. The server pushes and never waits; a full buffer ends the watch."""

    def __init__(
        self,
        clock: Clock,
        interest: Interest,
        *,
        number: int,
        after: int,
        initial: list[WatchEvent],
        waking: Waking,
        sizes: Distribution,
        on_end: Callable[[Watcher], None],
    ) -> None:
        self.interest = interest
        self.number = number
        self.too_slow = False
        self.sent = 0
        self.bytes = 0  # of the events as they went over the wire; none of what stays in the process
        self._after = after
        self._clock = clock
        self._opened = clock.monotonic()
        self._initial = deque(initial)
        self._on_state_told: Callable[[], None] | None = None
        self._buffer: deque[WatchEvent] = deque()
        self._sizes = sizes
        self._on_end = on_end
        self._waking = waking
        self._bell = Bell()
        self._waits = False  # whether the bell is awaited and not yet to be rung
        self._ended = False
        self._timers: dict[str, Timer] = {}
        self._cursor = after

    # -- the server's side

    def offer(self, change: Change) -> bool:
        """Take a change if it is of interest. Says whether it was."""
        if change.revision <= self._after:
            return False
        event = self._seen(change)
        return event is not None and self.take(event)

    def take(self, event: WatchEvent) -> bool:
        """Take an event that is of interest. Says whether it came after the watch's start and found room."""
        if event.revision <= self._after or self._ended:
            return False
        buffer = self._buffer
        if len(buffer) >= BUFFER:
            self.too_slow = True
            self.end()
            return False
        buffer.append(event)
        if self._waits:
            self._waits = False
            self._waking.wake(self._bell)
        return True

    def replay(self, change: Change) -> None:
        """Take a change of the ring, from before the watch was opened; these never make it too slow."""
        event = self._seen(change)
        if event is not None:
            self._initial.append(event)

    def _seen(self, change: Change) -> WatchEvent | None:
        """What the change is to this watcher, whose selector the object may have begun or ceased to match."""
        interest = self.interest
        now = change.type != "DELETED" and interest.wants(change.object)
        before = change.old is not None and interest.wants(change.old)
        if now:
            return change.event("MODIFIED" if before else "ADDED")
        return change.event("DELETED") if before else None

    def bookmark(self, revision: int) -> None:
        """Tell the client how far it has seen, if it wants to know, did not begin there, and keeps up."""
        interest = self.interest
        if not interest.bookmarks or interest.bookmark is None or revision <= self._after:
            return
        if len(self._buffer) < BUFFER:
            self._push(WatchEvent("BOOKMARK", interest.bookmark(revision), revision))

    def end_after(self, seconds: float, bookmark: Callable[[Watcher], None]) -> None:
        """End the watch when its time is up; each minute until then, and shortly before, ask for a `bookmark`."""
        end = self._clock.monotonic() + seconds
        self._timers["end"] = self._clock.call_later(seconds, self.end)
        if self.interest.bookmarks:
            self._remind(end, bookmark)

    def _remind(self, end: float, bookmark: Callable[[Watcher], None]) -> None:
        now = self._clock.monotonic()
        early, due = end - BOOKMARK_BEFORE_END, now + BOOKMARK_PERIOD
        if now < early < due:
            due = early
        if due >= end:
            return

        def remind() -> None:
            bookmark(self)
            self._remind(end, bookmark)

        self._timers["bookmark"] = self._clock.call_later(due - now, remind)

    def end(self) -> None:
        """No more events come; those that are buffered are still delivered."""
        if self._ended:
            return
        self._ended = True
        for timer in self._timers.values():
            timer.cancel()
        self._on_end(self)
        self._wake()

    def _push(self, event: WatchEvent) -> None:
        if not self._ended:
            self._buffer.append(event)
            self._wake()

    def _wake(self) -> None:
        if self._waits:
            self._waits = False
            self._waking.wake(self._bell)

    # -- the client's side

    def when_state_is_told(self, call: Callable[[], None]) -> None:
        """Call when the bookmark that ends the initial events goes out."""
        self._on_state_told = call

    def __aiter__(self) -> AsyncIterator[WatchEvent]:
        return self

    async def __anext__(self) -> WatchEvent:
        while True:
            if self._initial:
                event = self._initial.popleft()
                if self._on_state_told is not None and event.type == "BOOKMARK":
                    self._on_state_told()
                return self._deliver(event)
            if self._buffer:
                return self._deliver(self._buffer.popleft())
            if self._ended:
                raise StopAsyncIteration
            self._waits = True
            await self._bell

    def _deliver(self, event: WatchEvent) -> WatchEvent:
        self.sent += 1
        if event.revision > self._cursor:
            self._cursor = event.revision
        return event

    def count_bytes(self, size: int) -> None:
        self.bytes += size
        self._sizes.observe(size)

    async def aclose(self) -> None:
        self._initial.clear()
        self._buffer.clear()
        self.end()

    def describe(self) -> dict[str, Any]:
        interest = self.interest
        return {
            "id": self.number,
            "user": interest.who,
            "userAgent": interest.user_agent,
            "namespace": interest.namespace,
            "selector": interest.selector,
            "cursor": self._cursor,
            "sent": self.sent,
            "bytes": self.bytes,
            "buffered": len(self._initial) + len(self._buffer),
            "ageSeconds": round(self._clock.monotonic() - self._opened, 3),
        }
