"""Watching on behalf of a verb: one object or a collection, from a resourceVersion on, over broken streams.

Source of the behaviour: client-go tools/watch (RetryWatcher, UntilWithoutRetry).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.kubectl.discovery import Resource
from engine.kubectl.session import Session

RETRY_SECONDS = 1.0


async def watch_objects(
    session: Session,
    resource: Resource,
    namespace: str,
    *,
    name: str = "",
    version: str = "",
    accept: str = "",
    **query: Any,
) -> AsyncIterator[tuple[str, Object]]:
    """(type, object) of each change, for ever; the caller stops. Raises ApiError for an ERROR event."""
    if name:
        fields = [query.get("fieldSelector", ""), f"metadata.name={name}"]
        query["fieldSelector"] = ",".join(field for field in fields if field)
    while True:
        watch = await session.watch(
            resource, namespace, accept=accept, resourceVersion=version, allowWatchBookmarks=True, **query
        )
        async with watch as events:
            async for event in events:
                if event.type == "ERROR":
                    raise ApiError.from_status(event.object)
                version = _version(event.object) or version
                if event.type != "BOOKMARK":
                    yield event.type, event.object
        await session.clock.sleep(RETRY_SECONDS)


def _version(obj: Object) -> str:
    """The resourceVersion that an event brings: the object's, or that of a table's last row."""
    if obj.get("kind") == "Table":
        rows = obj.get("rows") or ()
        if not rows:
            return ""
        obj = rows[-1].get("object") or {}
    return str((obj.get("metadata") or {}).get("resourceVersion", ""))
