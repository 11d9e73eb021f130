"""The live trace: spans as they end. What is drawn from them is drawn by the screen's own frame clock.

A busy engine ends more spans than a screen can take in. Lines are read as they come, for that costs nothing; they are
decoded in slices, each within a share of a frame. Of what waits, the newest `WAITING_MOST` are kept; what made way for
them is counted, never waited for. Of what the engine kept from before, heartbeats come first to make way: they are two
thirds of it where nobody did anything for an hour, and what somebody did before that would not be seen. What clients
wrote makes way last: one of them may have begun all that waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable
from typing import Any

import orjson

from engine.client import Client
from engine.client.client import error_of
from engine.clock import Clock

PATH = "/debug/ktui/trace"
WAITING_MOST = 3_000  # lines; a screenful is forty
HEARTBEAT = b'"object":"lease/'  # in the line of a span
CLIENT = b'"hop":1,'
READS = (b'"verb":"get"', b'"verb":"list"', b'"verb":"watch"')
WRITES_MOST = 100  # of clients, that are kept from what makes way
SLICE = 10  # spans; how many are decoded and taken in before the clock is asked again
SLICE_SECONDS = 0.003
FRAME_SECONDS = 0.02


class Spans:
    """Lines on their way to the screen; `skipped` were never decoded."""

    def __init__(self) -> None:
        self.skipped = 0
        self.is_told = False  # whether the engine said anything, be it that nothing has happened
        self._is_live = False  # what the engine kept from before was not skipped where it is not shown
        self._lines: deque[bytes] = deque()
        self._writes: deque[bytes] = deque(maxlen=WRITES_MOST)  # older than the lines
        self._rest = b""

    def read(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        self.is_told = self.is_told or bool(lines)
        self._lines.extend(lines if self._is_live else (line for line in lines if HEARTBEAT not in line))
        while len(self._lines) > WAITING_MOST:
            line = self._lines.popleft()
            if CLIENT in line and not any(verb in line for verb in READS):
                self._writes.append(line)
            else:
                self.skipped += self._is_live

    def take(self, most: int) -> list[dict[str, Any]]:
        """The oldest of those that wait, decoded."""
        lines = [
            (self._writes or self._lines).popleft() for _ in range(min(most, len(self._writes) + len(self._lines)))
        ]
        self._is_live = self._is_live or not self
        return [orjson.loads(line) for line in lines if line]

    def __bool__(self) -> bool:
        return bool(self._writes or self._lines)


async def read(client: Client, spans: Spans) -> None:
    """Read the spans that the engine still has and then those that end, for as long as the connection lasts.

    A mapping {"dropped": N} among them says how many came too fast for the connection. Raises ApiError if the server
    refuses, ConnectionError if it is away.
    """
    response = await client.send("GET", PATH, query={"follow": ["true"], "after": ["1"]})
    if response.status >= 400:
        raise error_of(response)
    if response.stream is None:
        raise ConnectionError("the server answered the trace without a stream")
    try:
        async for chunk in response.stream:
            spans.read(chunk)
    finally:
        await response.stream.aclose()


async def slices(
    spans: Spans, clock: Clock, *, after: Callable[[], bool] = lambda: False
) -> AsyncGenerator[list[dict[str, Any]], None]:
    """What has come, a slice at a time; between two frames no longer than a key may wait, and none while `after` says
    that one does. An empty slice says, once, that what the engine kept from before has come: none did for a frame.
    """
    is_all_told = False
    while True:
        began = clock.monotonic()
        if spans.is_told and not spans and not is_all_told:
            is_all_told = True
            yield []
        while spans and not after() and clock.monotonic() < began + SLICE_SECONDS:
            yield spans.take(SLICE)
        await clock.sleep(FRAME_SECONDS)
