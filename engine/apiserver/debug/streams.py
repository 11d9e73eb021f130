"""Live streams of newline-delimited JSON."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

import orjson

from engine.trace import Span
from engine.trace.tracer import SUBSCRIBER_BUFFER, Tracer


class SpanStream:
    """Ended spans as they end, those that are kept first; a chunk is as many lines as there are at once.

    Where spans were dropped because they came too fast, a line {"dropped": N} says how many in all.
    """

    def __init__(self, tracer: Tracer, *, after: int) -> None:
        self._tracer = tracer
        self._spans: deque[Span] = deque(span for span in tracer.recent if after and span.sequence > after)
        self._dropped = self._told = 0
        self._ended = False
        self._wake: asyncio.Event = asyncio.Event()
        tracer.add_sink(self._push)

    def _push(self, span: Span) -> None:
        # The kept spans may be more than the buffer; they make way only for what comes.
        while len(self._spans) >= SUBSCRIBER_BUFFER:
            self._spans.popleft()
            self._dropped += 1
        self._spans.append(span)
        self._wake.set()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        while not self._spans:
            if self._ended:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        spans, self._spans = self._spans, deque()
        lines = b"".join([orjson.dumps(span.to_json(), option=orjson.OPT_NON_STR_KEYS) + b"\n" for span in spans])
        if self._dropped != self._told:
            self._told = self._dropped
            lines += orjson.dumps({"dropped": self._dropped}) + b"\n"
        return lines

    async def aclose(self) -> None:
        self._ended = True
        self._tracer.remove_sink(self._push)
        self._wake.set()
