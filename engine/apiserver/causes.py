"""The causes of what a component's list holds: an informer that starts after a write must still know what it answers.

A watch event carries its cause; a list has no place for one. So the in-process answer to a component's list names the
causes of its newest objects beside the list itself (design, law 6: over restarts too), and the events that a watch
begins with carry them. What is older has been reacted to long ago, and is not worth the reading.
"""

from __future__ import annotations

from heapq import nlargest

from engine.api.types import Object
from engine.api.wire import WatchEvent
from engine.store import Store

NEWEST = 50


async def causes_of(store: Store, listing: Object) -> dict[str, str]:
    """The traceparents of the newest objects of a list, by resourceVersion."""
    versions = (item["metadata"].get("resourceVersion", "") for item in listing.get("items") or ())
    newest = nlargest(NEWEST, (int(version) for version in versions if version.isdigit()))
    causes = {str(revision): await store.cause(revision) for revision in newest}
    return {version: cause for version, cause in causes.items() if cause}


async def name_causes(store: Store, initial: list[WatchEvent]) -> None:
    """Put the causes of the newest objects into the events that a watch begins with, before anybody has seen them."""
    added = (event for event in initial if event.type == "ADDED")
    for event in nlargest(NEWEST, added, key=lambda event: event.revision):
        event.cause = await store.cause(event.revision)
