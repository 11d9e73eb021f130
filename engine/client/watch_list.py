"""The state of a resource taken from a watch: its initial events up to the bookmark that ends them, after which the
same stream brings what changes (KEP-3157; client-go tools/cache reflector.go, watchList)."""

from __future__ import annotations

from typing import NamedTuple

from engine.api.types import Object
from engine.client.indexer import object_key
from engine.client.watch_stream import WatchStream
from engine.clock import Clock

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
BATCH = 500  # initial events that are taken in a row before others may run


class State(NamedTuple):
    """All objects at one resource version; `causes` are traceparents by resourceVersion, where the stream told them."""

    items: list[Object]
    resource_version: str
    causes: dict[str, str]


async def initial_state(stream: WatchStream, clock: Clock) -> State | None:
    """What the stream begins with; None if it ended before it had told all. Raises as the stream does."""
    objects: dict[str, Object] = {}
    causes: dict[str, str] = {}
    received = 0
    async for event in stream:
        metadata = event.object["metadata"]
        if event.type == "BOOKMARK":
            if (metadata.get("annotations") or {}).get(INITIAL_EVENTS_END) == "true":
                return State(list(objects.values()), metadata["resourceVersion"], causes)
            continue
        if event.type == "DELETED":
            objects.pop(object_key(event.object), None)
        else:
            objects[object_key(event.object)] = event.object
            if event.cause:
                causes[metadata["resourceVersion"]] = event.cause
        received += 1
        if not received % BATCH:
            await clock.sleep(0)
    return None
