"""Lists and their pages (apiserver pkg/storage/cacher delegator.go and cacher.go GetList, pkg/storage/etcd3 GetList).

What a resourceVersion means is as the API concepts page defines it. The newest state, or one not older than a revision,
comes from the watch cache once that has seen it (KEP-2340); a revision of the past, and the pages of one, come from the
store. For "0" the cache is as good as it is, and a limit does not count (computeListLimit), nor for a page after it as
far as upstream's cache keeps snapshots (KEP-4988).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.api.errors import ApiError
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.backend import Backend
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.registry.conversion import from_storage
from engine.apiserver.registry.options import ListOptions
from engine.apiserver.registry.resource_versions import Continue, continue_expired, too_large, too_old
from engine.apiserver.registry.selection import Selection
from engine.apiserver.storage import Page
from engine.store.types import CompactedError, FutureRevisionError, StoreUnavailableError

# A list is made in chunks, so that a long one does not hold the loop.
CHUNK = 500


class Lister:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._storage = backend.storage

    async def selected(self, selection: Selection, options: ListOptions) -> Object:
        """A list, or a page of it. Without a cache, only what costs the store little (KEP-4568).

        Raises ApiError 400, 410, 429, 500, 504.
        """
        cache = await self._backend.caches.started(selection.info)
        if options.continue_ or (options.exact and options.resource_version):
            await self._wait_for_future(cache, options)
            if options.resource_version == 0 and cache.ring.remembers(_start(options)[0]):
                options = replace(options, limit=0)
            return await self._from_store(selection, options)
        if cache.unreadable and options.limit and not selection.selective:
            return await self._from_store(selection, options)
        cache.unreadable.check()
        try:
            if selection.info.converts:
                await self._storage.prepare_cached(selection.info, selection.candidates(cache))
        except ApiError:
            if options.limit and not selection.selective:
                return await self._from_store(selection, options)
            raise
        if options.resource_version == 0:
            return await self._from_cache(cache, selection, limit=0)
        if options.resource_version is None:
            return await self._consistent(cache, selection, options)
        fresh = await cache.freshness.reached(options.resource_version)
        if not fresh and options.resource_version > self._storage.store.revision:
            raise too_large(options.resource_version, cache.revision, retry_after=1)
        return await self._from_either(cache, selection, options, fresh=fresh)

    async def _consistent(self, cache: WatchCache, selection: Selection, options: ListOptions) -> Object:
        """A list of the newest state that there is."""
        fresh, success = True, False
        try:
            newest = await self._storage.current_revision(selection.info)
        except StoreUnavailableError:
            newest = 0  # for now nothing can be newer than what the cache has
        try:
            fresh = await cache.freshness.reached(newest)
            answer = await self._from_either(cache, selection, options, fresh=fresh)
            success = True
            return answer
        finally:
            self._storage.metrics.read_consistently(selection.info.gvr, success=success, fallback=not fresh)

    async def _from_either(
        self, cache: WatchCache, selection: Selection, options: ListOptions, *, fresh: bool
    ) -> Object:
        if fresh:
            return await self._from_cache(cache, selection, limit=options.limit)
        return await self._from_store(selection, options)

    async def _wait_for_future(self, cache: WatchCache, options: ListOptions) -> None:
        """Wait for an exact revision that is still to come; but for one key, which is asked of the store at once."""
        revision, _ = _start(options)
        if not options.single and revision > self._storage.store.revision:
            await cache.freshness.wait_for(revision)

    async def _from_cache(self, cache: WatchCache, selection: Selection, *, limit: int) -> Object:
        """A list of the newest state; where an index is looked into, what is not in it counts for nothing."""
        info, revision = selection.info, cache.revision
        keys = _keys(cache, selection)
        looked_at = keys[:limit] if limit and not selection.selective else keys
        states = cache.state.at(looked_at)  # as they are now: others go on in between
        found, fetched = await self._selected(selection, states, limit=limit)
        self._storage.metrics.listed_from_cache(info.gvr, index=selection.index, fetched=fetched, returned=len(found))
        if fetched == len(keys):
            return list_object(info, found, revision=revision)
        token = Continue(revision, f"{keys[fetched - 1].removeprefix(selection.prefix)}\0").encode()
        remaining = None if selection.selective else len(keys) - fetched
        return list_object(info, found, revision=revision, token=token, remaining=remaining)

    async def _selected(self, selection: Selection, states: list[Object], *, limit: int) -> tuple[list[Object], int]:
        """Those that are selected, up to a limit, and how many had to be looked at for it."""
        info = selection.info
        found: list[Object] = []
        for first in range(0, len(states), CHUNK):
            if first:
                await self._backend.world.clock.sleep(0)
            chunk = states[first : first + CHUNK]
            if info.converts:
                await self._storage.prepare_all(info, chunk)
                chunk = [from_storage(info, obj) for obj in chunk]
            if not selection.selective:
                found += chunk
                continue
            for number, obj in enumerate(chunk, start=first + 1):
                if selection.contains(obj):
                    found.append(obj)
                    if len(found) == limit:
                        return found, number
        return found, len(states)

    async def _from_store(self, selection: Selection, options: ListOptions) -> Object:
        revision, start = _start(options)
        found: list[Object] = []
        left = fetched = evaluated = 0
        while True:
            page = await self._page(selection, revision=revision, start=start, options=options)
            revision = page.revision
            fetched += len(page.items)
            for number, (key, obj) in enumerate(page.items):
                start = f"{key}\0"  # the next key that there can be
                evaluated += 1
                if selection.wants(obj):
                    found.append(obj)
                    if len(found) == options.limit:
                        left = page.remaining + len(page.items) - number - 1
                        break
            if len(found) == options.limit and options.limit:
                break
            if not page.remaining:
                left = 0
                break
            await self._backend.world.clock.sleep(0)
        self._storage.metrics.listed(selection.info.gvr, fetched=fetched, evaluated=evaluated, returned=len(found))
        if not left:
            return list_object(selection.info, found, revision=revision)
        token = Continue(revision, start).encode()
        remaining = None if selection.selective else left
        return list_object(selection.info, found, revision=revision, token=token, remaining=remaining)

    async def _page(self, selection: Selection, *, revision: int, start: str, options: ListOptions) -> Page:
        limit = CHUNK if not options.limit or selection.selective else options.limit
        try:
            if options.single and (key := selection.key) is not None:
                return await self._storage.page_of(selection.info, key, revision=revision)
            return await self._storage.page(
                selection.info, selection.namespace, revision=revision, start=start, limit=limit
            )
        except CompactedError:
            raise continue_expired(start) if options.continue_ else too_old() from None
        except FutureRevisionError:
            raise too_large(revision, self._storage.store.revision) from None


def _keys(cache: WatchCache, selection: Selection) -> Sequence[str]:
    """The keys of what of a cache has to be looked at."""
    if (key := selection.key) is None:
        return cache.state.keys(selection.namespace, selection.node)
    return [] if cache.get(key) is None else [key]


def _start(options: ListOptions) -> tuple[int, str]:
    """The revision to list at (0 for the newest) and the key to start at."""
    if options.continue_:
        token = Continue.decode(options.continue_)
        return max(token.revision, 0), token.start
    return (options.resource_version or 0) if options.exact else 0, ""


def list_object(
    info: ResourceInfo, items: list[Object], *, revision: int, token: str = "", remaining: int | None = None
) -> Object:
    if info.custom:
        return _untyped_list(info, items, revision=revision, token=token, remaining=remaining)
    metadata: Object = {"resourceVersion": str(revision)}
    if token:
        metadata["continue"] = token
        if remaining is not None:
            metadata["remainingItemCount"] = remaining
    return {"kind": info.list_kind, "apiVersion": info.gvr.api_version, "metadata": metadata, "items": items}


def _untyped_list(
    info: ResourceInfo, items: list[Object], *, revision: int, token: str, remaining: int | None
) -> Object:
    """As `unstructured.UnstructuredList` is written: in the order of the keys, and with a token even if it is empty."""
    metadata: Object = {"continue": token}
    if token and remaining is not None:
        metadata["remainingItemCount"] = remaining
    metadata["resourceVersion"] = str(revision)
    return {"apiVersion": info.gvr.api_version, "items": items, "kind": info.list_kind, "metadata": metadata}
