"""What is in etcd, as the debug endpoints tell it. All raise ApiError and ConnectionError."""

from __future__ import annotations

import asyncio
from typing import Any

from engine.api.errors import ApiError
from engine.client import Client
from ktui.models.keys import KeyFilter

PREFIX = "/debug/ktui/store"
MOST_KEYS = 2_000
PAGE = 1_000  # revisions
STREAM_MOST = 200  # revisions that are asked for at once; more went by too fast to be read
PAGES_MOST = 50


async def keys(client: Client, sought: KeyFilter) -> Any:
    query = {"prefix": [sought.prefix], "limit": [str(MOST_KEYS)]}
    if sought.words:
        query["contains"] = list(sought.words)
    if sought.labels:
        query["labelSelector"] = [sought.labels]
    return await client.request("GET", f"{PREFIX}/keys", query=query)


async def value(client: Client, key: str, revision: int = 0) -> Any:
    """A key-value, as it was at a revision (0 for now)."""
    return await _get(client, "value", key=key, **({"revision": str(revision)} if revision else {}))


async def before(client: Client, key: str, revision: int) -> Any:
    """What a key was before a revision; None where it was not, or where that is compacted."""
    if revision <= 1:
        return None
    try:
        return await value(client, key, revision - 1)
    except ApiError as error:
        if error.code in (404, 410):
            return None
        raise


async def history(client: Client, key: str, found: Any, revision: int, *, most: int) -> tuple[Any, ...]:
    """What a key was before `found`, its value at a revision, back to its creation; the newest first."""
    older: list[Any] = []
    while len(older) < most and (found is None or found["modRevision"] > found["createRevision"]):
        found = await before(client, key, revision)
        if found is None:
            break
        older.append(found)
        revision = found["modRevision"]
    return tuple(older)


async def next_revision(client: Client, key: str, after: int) -> int:
    """The first revision after one that wrote a key; 0 for none."""
    for _ in range(PAGES_MOST):
        found = await _get(client, "log", after=str(after), limit=str(PAGE))
        for entry in found["entries"]:
            if entry["key"] == key and entry["revision"] > after:
                return int(entry["revision"])
        if not found["entries"]:
            return 0
        after = found["entries"][-1]["revision"]
    return 0


async def status(client: Client) -> tuple[Any, Any]:
    """The store's figures, and who keeps it."""
    figures, members = await asyncio.gather(_get(client, "status"), _get(client, "members"))
    return figures, members


async def written(client: Client, after: int) -> tuple[Any, Any]:
    """What was written after a revision, and the newest transactions."""
    log, decided = await asyncio.gather(
        _get(client, "log", after=str(after), limit=str(STREAM_MOST)),
        _get(client, "transactions", limit=str(STREAM_MOST)),
    )
    return log, decided["transactions"]


async def _get(client: Client, what: str, **query: str) -> Any:
    return await client.request("GET", f"{PREFIX}/{what}", query={name: [text] for name, text in query.items()})
