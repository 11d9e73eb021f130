"""How readers wait until a watch cache has seen a revision (apiserver pkg/storage/cacher watch_cache.go
waitUntilFreshAndBlock, progress/watch_progress.go)."""

from __future__ import annotations

import asyncio
from typing import Protocol

from engine.apiserver.registry.resource_versions import too_large
from engine.clock import Clock
from engine.metrics import Distribution
from engine.store.types import Store

# How long a request waits for a revision that is still to come, and how often the store is asked meanwhile how far it
# is (watch_cache.go blockTimeout, watch_progress.go).
FRESH_SECONDS = 3.0
PROGRESS_PERIOD = 0.1
WAIT_BUCKETS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3)


class Follower(Protocol):
    """A cache that follows the store."""

    @property
    def revision(self) -> int: ...

    def ask_progress(self) -> bool:
        """Have the store say how far it is; False if it is not followed any more."""
        ...


class Freshness:
    """`waited` are the seconds that readers waited, once any did."""

    def __init__(self, follower: Follower, store: Store, clock: Clock) -> None:
        self.waited: Distribution | None = None
        self._follower = follower
        self._store = store
        self._clock = clock
        self._behind: list[asyncio.Future[None]] = []

    def wake(self) -> None:
        """The cache has come further, or will come no further."""
        behind, self._behind = self._behind, []
        for waiting in behind:
            if not waiting.done():
                waiting.set_result(None)

    async def catch_up(self, revision: int) -> None:
        """Wait until the cache has seen all up to a revision that is committed."""
        while self._follower.revision < revision and self._follower.ask_progress():
            caught_up = asyncio.get_running_loop().create_future()
            self._behind.append(caught_up)
            await caught_up

    async def wait_for(self, revision: int) -> None:
        """Wait until the cache has seen a revision, which may be still to come. Raises ApiError 504 if it does not."""
        if not await self._in_time(revision):
            raise too_large(revision, self._follower.revision, retry_after=1)

    async def reached(self, revision: int) -> bool:
        """Whether the cache has seen a revision, or gets to see it in time; while time is stopped nothing comes."""
        if self._clock.mode == "paused":
            return self._follower.revision >= revision
        return await self._in_time(revision)

    async def _in_time(self, revision: int) -> bool:
        clock = self._clock
        began = clock.monotonic()
        try:
            async with clock.timeout(FRESH_SECONDS):
                if revision <= self._store.revision:
                    await self.catch_up(revision)
                while self._follower.revision < revision:
                    await clock.sleep(PROGRESS_PERIOD)
                    await self.catch_up(min(revision, self._store.revision))
            return True
        except TimeoutError:
            return False
        finally:
            if revision:
                self.waited = self.waited or Distribution(WAIT_BUCKETS)
                self.waited.observe(clock.monotonic() - began)
