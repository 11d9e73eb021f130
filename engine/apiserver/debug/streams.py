"""Live streams of newline-delimited JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator

import orjson

from engine.trace import Span
from engine.trace.tracer import SUBSCRIBER_BUFFER, Subscription, Tracer


class SpanStream:
    """Ended spans as they end, those that are kept first; a chunk is as many lines as there are at once.

    Where spans were dropped because they came too fast, a line {"dropped": N} says how many in all.
    """

    def __init__(self, tracer: Tracer, *, after: int) -> None:
        self._tracer = tracer
        self._subscription = Subscription(SUBSCRIBER_BUFFER)
        self._kept = [span for span in tracer.recent if span.sequence > after] if after else []
        self._dropped = 0
        tracer.add_sink(self._subscription.push)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        kept, self._kept = self._kept, []
        if kept:
            return _lines(kept)
        lines = _lines(await self._subscription.next_batch())
        if self._subscription.dropped != self._dropped:
            self._dropped = self._subscription.dropped
            lines += orjson.dumps({"dropped": self._dropped}) + b"\n"
        return lines

    async def aclose(self) -> None:
        self._tracer.remove_sink(self._subscription.push)


def _lines(spans: list[Span]) -> bytes:
    return b"".join([orjson.dumps(span.to_json(), option=orjson.OPT_NON_STR_KEYS) + b"\n" for span in spans])
