"""One sample of the figures that the Dashboard plots: from /metrics and the debug endpoints."""

from __future__ import annotations

import asyncio
from typing import Any

from engine.api.errors import ApiError
from engine.client import Client
from engine.clock import Clock
from ktui.feeds.poll import look, view
from ktui.models.dashboard import digest


async def sample(client: Client, clock: Clock) -> dict[str, Any]:
    """`roundTripMs` is what the status endpoint took to answer; what no component offers is None.

    The page of metrics is long: it is read in a thread, for a key may come meanwhile.
    """
    began = clock.monotonic()
    status = await look(client, "status")
    took = clock.monotonic() - began
    metrics, controllers, queue, attempts = await asyncio.gather(
        _metrics(client),
        look(client, "views", under="controllers/", last="0"),
        _offered(client, "scheduler/queue", limit="0"),
        _offered(client, "scheduler/decisions", limit="1"),
    )
    return {
        "at": clock.monotonic(), "roundTripMs": took * 1000, "status": status,
        "metrics": await asyncio.to_thread(digest, metrics),
        "controllers": controllers["shown"], "queue": queue, "attempts": attempts,
    }  # fmt: skip


async def _metrics(client: Client) -> str:
    response = await client.send("GET", "/metrics")
    body = response.body
    if response.stream is not None:
        body = b"".join([chunk async for chunk in response.stream])
    return body.decode() if isinstance(body, bytes) else str(body or "")


async def _offered(client: Client, name: str, **query: str) -> Any:
    try:
        return await view(client, name, **query)
    except ApiError as error:
        if error.code != 404:
            raise
        return None
