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
    once: bool = False,
    **query: Any,
) -> AsyncIterator[tuple[str, Object]]:
    """(type, object) of each change, for ever; the caller stops. Raises ApiError for an ERROR event.

    `once` for a single watch: what `get -w` shows ends where the server, or a timeout, ends it.
    """
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
        if once:
            return
        await session.clock.sleep(RETRY_SECONDS)


async def follow(session: Session, resource: Resource, namespace: str, name: str) -> AsyncIterator[tuple[str, Object]]:
    """One object as it is now (DELETED and {} where it is not there), then each change, for ever.

    Starts from a list, whose resourceVersion is always fresh, and lists again when the server has forgotten it.
    """
    while True:
        field = f"metadata.name={name}"
        body = await session.request("GET", session.path_of(resource, namespace), query={"fieldSelector": field})
        items = body.get("items") or ()
        typed = {"apiVersion": resource.gvr.api_version, "kind": resource.kind}
        yield ("ADDED", {**typed, **items[0]}) if items else ("DELETED", {})
        version = body.get("metadata", {}).get("resourceVersion", "")
        try:
            async for change in watch_objects(session, resource, namespace, name=name, version=version):
                yield change
        except ApiError as error:
            if error.code != 410:
                raise


def _version(obj: Object) -> str:
    """The resourceVersion that an event brings: the object's, or that of a table's last row."""
    if obj.get("kind") == "Table":
        rows = obj.get("rows") or ()
        if not rows:
            return ""
        obj = rows[-1].get("object") or {}
    return str((obj.get("metadata") or {}).get("resourceVersion", ""))
