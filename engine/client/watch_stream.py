"""One open watch as the reflector reads it: event by event, by one reader after another (client-go tools/cache
reflector.go, handleAnyWatch)."""

from __future__ import annotations

from collections.abc import AsyncIterator

from engine.api.errors import ApiError
from engine.api.wire import WatchEvent
from engine.client.client import Watch
from engine.clock import Clock

VERY_SHORT = 1.0  # seconds: a watch that ends sooner and brought nothing is a fault


class VeryShortWatchError(Exception):
    """The watch ended at once and brought nothing."""

    def __init__(self) -> None:
        super().__init__(
            "very short watch: unexpected watch close - watch lasted less than a second and no items received"
        )


class WatchStream:
    """Iterating ends when the server ends the watch, or the connection is lost.

    Raises the ApiError that an ERROR event stands for, and VeryShortWatchError.
    """

    def __init__(self, watch: Watch, clock: Clock, *, began: float) -> None:
        self._watch = watch
        self._events = watch.__aiter__()
        self._clock = clock
        self._began = began
        self._received = 0

    def __aiter__(self) -> AsyncIterator[WatchEvent]:
        return self

    async def __anext__(self) -> WatchEvent:
        try:
            event = await self._events.__anext__()
        except (StopAsyncIteration, ConnectionError):
            if self._clock.monotonic() - self._began < VERY_SHORT and not self._received:
                raise VeryShortWatchError from None
            raise StopAsyncIteration from None
        if event.type == "ERROR":
            raise ApiError.from_status(event.object)
        self._received += 1
        return event

    async def aclose(self) -> None:
        await self._watch.aclose()
