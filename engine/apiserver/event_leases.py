"""Events live for an hour, on shared leases (apiserver pkg/storage/etcd3/lease_manager.go).

One lease is used for a minute or a thousand objects, so that a burst of events does not make as many leases; it is
granted that minute more than the hour.
"""

from __future__ import annotations

import asyncio

from engine.clock import Clock
from engine.metrics import Family, Histogram
from engine.store.types import Store

EVENT_TTL = 3600
REUSE_SECONDS = 60
MAX_OBJECTS = 1000


class EventLeases:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lease = 0
        self._until = 0.0
        self._objects = 0
        self._granting = asyncio.Lock()
        self._object_counts = Histogram(
            "etcd_lease_object_counts",
            "[ALPHA] Number of objects attached to a single etcd lease.",
            buckets=(10, 50, 100, 500, 1000, 2500, 5000),
        )

    async def current(self) -> int:
        """The lease to put the next event on."""
        async with self._granting:
            now = self._clock.monotonic()
            if not self._lease or now >= self._until or self._objects >= MAX_OBJECTS:
                self._lease = await self._store.lease_grant(EVENT_TTL + REUSE_SECONDS)
                self._until = now + REUSE_SECONDS
                # With the one that did not go on it any more, as upstream counts.
                self._object_counts.observe(self._objects + 1)
                self._objects = 0
            self._objects += 1
            return self._lease

    def families(self) -> tuple[Family, ...]:
        """For /metrics, once there is something to tell."""
        return (self._object_counts,) if self._lease else ()
