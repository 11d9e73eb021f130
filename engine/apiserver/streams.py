"""Event streams made of other things than a watch cache."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable

from engine.api.wire import EventStream, Metered, WatchEvent


class FixedEvents:
    """A watch that delivers what it was given and ends."""

    def __init__(self, events: Iterable[WatchEvent]) -> None:
        self._events = deque(events)

    def __aiter__(self) -> AsyncIterator[WatchEvent]:
        return self

    async def __anext__(self) -> WatchEvent:
        if not self._events:
            raise StopAsyncIteration
        return self._events.popleft()

    async def aclose(self) -> None:
        self._events.clear()


class MappedEvents:
    """A watch whose events are shown in another form (a Table, metadata alone, another version)."""

    def __init__(self, source: EventStream, change: Callable[[WatchEvent], WatchEvent]) -> None:
        self._source = source
        self._iterator = source.__aiter__()
        self._change = change

    def __aiter__(self) -> AsyncIterator[WatchEvent]:
        return self

    async def __anext__(self) -> WatchEvent:
        return self._change(await self._iterator.__anext__())

    def count_bytes(self, size: int) -> None:
        if isinstance(self._source, Metered):
            self._source.count_bytes(size)

    async def aclose(self) -> None:
        await self._source.aclose()
