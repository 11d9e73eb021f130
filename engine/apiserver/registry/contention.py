"""Writers of one object who have come in each other's way take turns.

Each has done all the work of a change for nothing when another's was written first. Upstream tries again at once
(etcd3 store.go, GuaranteedUpdate), with an effort that grows with the square of how many there are; it is the order
that counts, and nobody waits who was not too late once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

# More than one: a webhook may write the object of the request that waits for it.
_TURNS = 4


class _Writers:
    def __init__(self) -> None:
        self.turns = asyncio.Semaphore(_TURNS)
        self.count = 0


class Contention:
    """Those who have been too late, by what they write."""

    def __init__(self) -> None:
        self._writers: dict[str, _Writers] = {}

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[None]:
        """First come, first served."""
        writers = self._writers.setdefault(key, _Writers())
        writers.count += 1
        try:
            async with writers.turns:
                yield
        finally:
            writers.count -= 1
            if not writers.count:
                del self._writers[key]
