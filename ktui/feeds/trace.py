"""The live trace: spans as they end. What is drawn from them is drawn by the screen's own frame clock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import orjson

from engine.client import Client
from engine.client.client import error_of

PATH = "/debug/ktui/trace"


async def follow(client: Client, *, after: int = 0) -> AsyncIterator[list[dict[str, Any]]]:
    """Spans that ended after the given sequence, as they come, for as long as the connection lasts.

    Raises ApiError if the server refuses, ConnectionError if it is away.
    """
    response = await client.send("GET", PATH, query={"follow": ["true"], "after": [str(after)]})
    if response.status >= 400:
        raise error_of(response)
    if response.stream is None:
        raise ConnectionError("the server answered the trace without a stream")
    rest = b""
    try:
        async for chunk in response.stream:
            *lines, rest = (rest + chunk).split(b"\n")
            if spans := [orjson.loads(line) for line in lines if line.strip()]:
                yield spans
    finally:
        await response.stream.aclose()
