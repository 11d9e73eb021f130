"""One open watch as the reflector reads it: event by event, by one reader after another (client-go tools/cache
reflector.go, handleAnyWatch)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

from engine.api.errors import ApiError
from engine.api.wire import WatchEvent
from engine.client.client import Watch
from engine.clock import Clock

log = logging.getLogger(__name__)

_KNOWN = frozenset(("ADDED", "MODIFIED", "DELETED", "BOOKMARK"))
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
        while True:
            event = await self._next()
            if event.type == "ERROR":
                raise ApiError.from_status(event.object)
            if event.type in _KNOWN and "resourceVersion" in (event.object.get("metadata") or {}):
                self._received += 1
                return event
            # Of a server that is none of ours: what it means by that is not worth an end of the watch.
            log.error("unable to understand watch event %s", event.type)

    async def _next(self) -> WatchEvent:
        try:
            return await self._events.__anext__()
        except (StopAsyncIteration, ConnectionError):
            if self._clock.monotonic() - self._began < VERY_SHORT and not self._received:
                raise VeryShortWatchError from None
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._watch.aclose()
