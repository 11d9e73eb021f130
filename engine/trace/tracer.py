"""The tracer of one process: opens and closes spans and hands the ended ones to whoever looks.

Bounded everywhere: the ring keeps the newest spans, a slow subscriber loses the oldest of its own, and both count
what they dropped.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from engine.clock import Clock
from engine.rng import Rng
from engine.trace.span import CURRENT, Hop, Lane, Span, SpanContext

RING = 20_000
SUBSCRIBER_BUFFER = 5_000
# Ids go through all that there are, in no order that anybody would see, before one comes again: to draw each takes as
# long as the rest of a span.
_STRIDE, _ALL = 0x9E3779B97F4A7C15, 0xFFFFFFFFFFFFFFFF


def current_span() -> Span | None:
    """The span that this task is in."""
    return CURRENT.get()


def current_context() -> SpanContext | None:
    """The identity of the span that this task is in."""
    span = CURRENT.get()
    return span.context if span is not None else None


class Subscription:
    """A live stream of ended spans, oldest first. `dropped` counts those that came too fast."""

    def __init__(self, size: int) -> None:
        self.dropped = 0
        self._spans: deque[Span] = deque()
        self._size = size
        self._wake = asyncio.Event()

    def push(self, span: Span) -> None:
        if len(self._spans) >= self._size:
            self._spans.popleft()
            self.dropped += 1
        self._spans.append(span)
        self._wake.set()

    async def next_batch(self) -> list[Span]:
        """All spans since the last call; waits for one if there is none."""
        while not self._spans:
            self._wake.clear()
            await self._wake.wait()
        batch = list(self._spans)
        self._spans.clear()
        return batch

    async def __aiter__(self) -> AsyncIterator[Span]:
        while True:
            for span in await self.next_batch():
                yield span


class Tracer:
    def __init__(self, clock: Clock, rng: Rng, *, ring: int = RING) -> None:
        self.recent: deque[Span] = deque(maxlen=ring)
        self.ended = 0
        self._seconds = clock.posix
        self._apart = f"{rng.bits(64):016x}"  # the traces of this tracer from those of others
        self._newest = rng.bits(64)
        self._sinks: tuple[Callable[[Span], object], ...] = ()

    def new_trace_id(self) -> str:
        self._newest = newest = (self._newest + _STRIDE) & _ALL
        return self._apart + "%016x" % (newest or 1)

    def span(
        self,
        hop: Hop,
        *,
        component: str,
        verb: str,
        object: str = "",
        lane: Lane | None = None,
        cause: SpanContext | None = None,
        revision: int = 0,
        woken_by: tuple[int, ...] = (),
        detail: dict[str, Any] | None = None,
    ) -> AbstractContextManager[Span]:
        """Open a span around a block.

        Its parent is `cause` where given, else the span that the task is in, else it starts a trace. An exception
        that passes through becomes the outcome (its `reason` where it has one) unless the block has set another.
        """
        outer = CURRENT.get()
        if cause is not None:
            trace_id, parent = cause
        elif outer is not None:
            trace_id, parent = outer.trace_id, outer.id
        else:
            trace_id, parent = self.new_trace_id(), ""
        self._newest = newest = (self._newest + _STRIDE) & _ALL
        span = Span(
            "%016x" % (newest or 1),  # half the time of an f-string, and each request has a dozen
            trace_id,
            parent,
            hop,
            lane or hop.lane,
            component,
            verb,
            object,
            self._seconds(),
            {} if detail is None else detail,
            self.emit,
        )
        if outer is not None:
            span.outer = outer
        if revision:
            span.revision = revision
        if woken_by:
            span.woken_by = woken_by
        return span

    def emit(self, span: Span) -> None:
        """Hand on a span that has ended (also the way in for spans that another process made)."""
        self.ended += 1
        span.sequence = self.ended
        self.recent.append(span)
        for sink in self._sinks:
            sink(span)

    def add_sink(self, sink: Callable[[Span], object]) -> None:
        """Call `sink` with every span that ends; it must return at once."""
        self._sinks = (*self._sinks, sink)

    def remove_sink(self, sink: Callable[[Span], object]) -> None:
        self._sinks = tuple(each for each in self._sinks if each != sink)

    @contextmanager
    def subscribe(self, size: int = SUBSCRIBER_BUFFER) -> Iterator[Subscription]:
        subscription = Subscription(size)
        sink = subscription.push
        self.add_sink(sink)
        try:
            yield subscription
        finally:
            self.remove_sink(sink)
