"""What the store still knows of before a watch cache was filled.

A cache that starts has an empty ring: without this, each client of a server that was started again would be told that
its revision is gone, and would miss single events though the store has them. What is found here fills the ring from
behind, never beyond its size.
"""

from __future__ import annotations

from engine.apiserver.changes import Change, Read, change_of
from engine.apiserver.corrupt_objects import CorruptObject
from engine.store.types import CompactedError, Store, prefix_end

# The store reads its log in strides of a thousand: a watch that starts further back lists again.
MAX_REVISIONS = 20_000


async def changes_between(
    store: Store, prefix: bytes, read: Read, *, after: int, until: int, limit: int
) -> list[Change] | None:
    """The changes under a prefix after one revision and up to another; None if they are more than `limit`, gone, or not
    to be read."""
    if until - after > MAX_REVISIONS:
        return None
    found: list[Change] = []
    try:
        # From `after` itself: what stood before the oldest revision that is kept is not known.
        watcher = await store.watch(prefix, prefix_end(prefix), start_revision=max(after, 1), prev_kv=True)
    except CompactedError:
        return None
    try:
        watcher.request_progress()  # the answer comes after the last event that there is
        async for response in watcher:
            for event in response.events:
                if after < event.kv.mod_revision <= until:
                    if event.prev_kv is None and event.kv.version != 1:  # compacted while it was read
                        return None
                    prev = event.prev_kv
                    old = read(prev.value, prev.mod_revision, fits=True) if prev is not None else None
                    found.append(change_of(event, old, read))
            if len(found) > limit:
                return None
            if response.revision >= until:
                return found
    except (CompactedError, CorruptObject):
        return None
    finally:
        await watcher.aclose()
    return None
