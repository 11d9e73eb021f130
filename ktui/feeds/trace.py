"""The live trace: spans as they end. What is drawn from them is drawn by the screen's own frame clock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import orjson

from engine.client import Client
from engine.client.client import error_of
from engine.clock import Clock

PATH = "/debug/ktui/trace"
BATCH = 250  # spans; between two batches the screen may take a key


async def follow(client: Client, clock: Clock) -> AsyncIterator[list[dict[str, Any]]]:
    """The spans that the engine still has and then those that end, for as long as the connection lasts.

    A mapping {"dropped": N} among them says how many came too fast for this reader. Raises ApiError if the server
    refuses, ConnectionError if it is away.
    """
    response = await client.send("GET", PATH, query={"follow": ["true"], "after": ["1"]})
    if response.status >= 400:
        raise error_of(response)
    if response.stream is None:
        raise ConnectionError("the server answered the trace without a stream")
    rest = b""
    try:
        async for chunk in response.stream:
            *lines, rest = (rest + chunk).split(b"\n")
            for first in range(0, len(lines), BATCH):
                yield [orjson.loads(line) for line in lines[first : first + BATCH] if line.strip()]
                await clock.sleep(0)
    finally:
        await response.stream.aclose()
