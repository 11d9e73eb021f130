"""Makes the namespaces of the system again, should one be gone (pkg/controlplane/controller/systemnamespaces)."""

from __future__ import annotations

from engine.apiserver.bootstrap import NAMESPACES
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.loopback import Loopback
from engine.world import World

INTERVAL = 60.0


class SystemNamespaces:
    def __init__(self, cache: WatchCache, loopback: Loopback, world: World) -> None:
        self._cache = cache
        self._loopback = loopback
        self._clock = world.clock

    async def run(self) -> None:
        while True:
            await self._clock.sleep(INTERVAL)
            for name in NAMESPACES:
                if self._cache.get(f"{self._cache.prefix}/{name}") is None:
                    await self._loopback.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
