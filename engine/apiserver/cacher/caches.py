"""The watch caches of a server: one for each place of storage, started when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.api.resources import ResourceInfo
from engine.api.types import GVR
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.corrupt_objects import UnreadableKeys
from engine.apiserver.stored_values import StoredValues
from engine.store.types import Store
from engine.tasks import Supervisor
from engine.world import World


class WatchCaches:
    """`sizes` names the ring size of single resources, as in `--watch-cache-sizes deployments.apps#5000`; 0 takes the
    default."""

    def __init__(
        self,
        world: World,
        store: Store,
        tasks: Supervisor,
        values: StoredValues,
        *,
        size: int = 1000,
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self.values = values
        self._world = world
        self._store = store
        self._tasks = tasks
        self._size = size
        self._sizes = sizes or {}
        self._caches: dict[str, WatchCache] = {}
        self._resources: dict[str, GVR] = {}
        self._unconverted: dict[GVR, UnreadableKeys] = {}

    def __iter__(self) -> Iterator[WatchCache]:
        return iter(self._caches.values())

    def by_resource(self) -> Iterator[tuple[GVR, WatchCache]]:
        """Each cache with the resource that it was first needed for: several share the place of storage of Events."""
        return ((self._resources[prefix], cache) for prefix, cache in self._caches.items())

    def of(self, info: ResourceInfo) -> WatchCache | None:
        """The cache of a resource if it is filled."""
        cache = self._caches.get(info.storage_prefix)
        return cache if cache is not None and cache.ready else None

    async def started(self, info: ResourceInfo) -> WatchCache:
        """The cache of a resource, filled."""
        cache = self.make(info)
        if not cache.ready:
            await cache.start(self._tasks)
        return cache

    def make(self, info: ResourceInfo) -> WatchCache:
        cache = self._caches.get(info.storage_prefix)
        if cache is None:
            self._resources[info.storage_prefix] = info.gvr
            cache = self._caches[info.storage_prefix] = WatchCache(
                self._world,
                self._store,
                info,
                self.values,
                size=self._sizes.get(info.gvr.group_resource) or self._size,
            )
        return cache

    def unconverted(self, info: ResourceInfo) -> UnreadableKeys:
        """What no webhook converts to a version: upstream has a cache for each, which cannot be filled then."""
        return self._unconverted.setdefault(info.gvr, UnreadableKeys(self._world.clock))

    def close(self) -> None:
        for cache in self._caches.values():
            cache.close()
