"""What the engine tells of one Flow row when it is looked at: decisions, payloads, and objects before and after."""

from __future__ import annotations

from typing import Any

from engine.api.errors import ApiError
from engine.client import Client

PREFIX = "/debug/ktui"


async def decision(client: Client, object: str) -> Any:
    """The scheduler's attempts on `pod/namespace/name`; None where it cannot tell."""
    return await _look(client, "views/scheduler/decision", pod=object.partition("/")[2])


async def payload(client: Client, span_id: str) -> Any:
    """Request and response of a request; None where they are no longer kept."""
    return await _look(client, "payloads", span=span_id)


async def value(client: Client, key: str, revision: int) -> Any:
    """A key's value at a revision; None where there was none, or it is compacted."""
    found = await _look(client, "store/value", key=key, revision=str(revision))
    return found["value"] if found is not None else None


async def _look(client: Client, what: str, **query: str) -> Any:
    try:
        return await client.request("GET", f"{PREFIX}/{what}", query={name: [text] for name, text in query.items()})
    except (ApiError, ConnectionError):
        return None
