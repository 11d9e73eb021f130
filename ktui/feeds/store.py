"""What is in etcd, as the debug endpoints tell it. All raise ApiError and ConnectionError."""

from __future__ import annotations

from typing import Any

from engine.client import Client

PREFIX = "/debug/ktui/store"
MOST_KEYS = 2_000
MOST_ENTRIES = 5_000


async def keys(client: Client, prefix: str) -> Any:
    return await _get(client, "keys", prefix=prefix, limit=str(MOST_KEYS))


async def value(client: Client, key: str, revision: int = 0) -> Any:
    """A key-value, as it was at a revision (0 for now)."""
    return await _get(client, "value", key=key, **({"revision": str(revision)} if revision else {}))


async def revisions(client: Client, key: str, created: int) -> list[int]:
    """The revisions that wrote a key since it was created, as far as they are kept."""
    found = await _get(client, "log", prefix=key, after=str(max(0, created - 1)), limit=str(MOST_ENTRIES))
    return [entry["revision"] for entry in found["entries"] if entry["key"] == key]


async def _get(client: Client, what: str, **query: str) -> Any:
    return await client.request("GET", f"{PREFIX}/{what}", query={name: [text] for name, text in query.items()})
