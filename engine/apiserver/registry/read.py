"""get and list (apiserver pkg/registry/generic/registry/store.go Get, ListPredicate; pkg/storage/etcd3 GetList).

What a resourceVersion means is as the API concepts page defines it. `0` is answered from the watch cache, and then a
limit does not count (cacher.go computeListLimit); all else is answered from the store, once it is new enough.
"""

from __future__ import annotations

from engine.api.errors import not_found
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.corrupt_objects import unreadable
from engine.apiserver.registry.conversion import from_storage
from engine.apiserver.registry.options import ListOptions
from engine.apiserver.registry.resource_versions import (
    Continue,
    continue_expired,
    parse_resource_version,
    too_large,
    too_old,
)
from engine.apiserver.registry.selection import Selection, select
from engine.apiserver.storage import Page
from engine.store.types import CompactedError, FutureRevisionError

# A list is made in chunks, so that a long one does not hold the loop.
CHUNK = 500


class Reader:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def get(self, call: Call) -> Object:
        """Raises ApiError 404, 504."""
        info, request = call.gvr_resource, call.info
        version = call.request.parameter("resourceVersion")
        if version:
            asked = parse_resource_version(version)
            await self._not_older_than(info, asked)
            cache = self._backend.caches.of(info) if not asked else None
            known = cache.get(info.key(request.namespace, request.name)) if cache is not None else None
            if known is not None:
                await self._backend.storage.prepare(info, [known])
                return from_storage(info, known)
        stored = await self._backend.storage.get(info, request.namespace, request.name)
        if stored is None:
            raise not_found(info.gvr, request.name)
        return stored.object

    async def _not_older_than(self, info: ResourceInfo, revision: int) -> None:
        """Wait until the store has reached a revision. Raises ApiError 504 if it does not soon."""
        if revision > self._backend.storage.store.revision:
            cache = await self._backend.caches.started(info)
            await cache.freshness.wait_for(revision)

    async def list(self, call: Call) -> Object:
        """Raises ApiError 400, 410, 422, 504."""
        options = ListOptions.of(call.request, watching=False)
        selection = select(call.gvr_resource, call.info.namespace, call.request, name=call.info.name)
        # From here on the cache follows, so that a watch from the list's revision finds each event.
        await self._backend.caches.started(selection.info)
        return await self.selected(selection, options)

    async def selected(self, selection: Selection, options: ListOptions) -> Object:
        """A list, or a page of it. Raises ApiError 400, 410, 504."""
        if options.resource_version == 0 and not options.continue_:
            return await self._from_cache(selection)
        if options.resource_version and not options.exact:
            await self._not_older_than(selection.info, options.resource_version)
        return await self._from_store(selection, options)

    async def _from_cache(self, selection: Selection) -> Object:
        cache = await self._backend.caches.started(selection.info)
        if corrupt := [(key, each) for key, each in cache.corrupt.items() if key.startswith(selection.prefix)]:
            raise unreadable(selection.info, corrupt)
        revision = cache.revision
        state = list(selection.candidates(cache))
        if selection.info.custom:
            await self._backend.storage.prepare(selection.info, state)
            state = [from_storage(selection.info, obj) for obj in state]
        found = [from_storage(selection.info, obj) for obj in state if selection.contains(obj)]
        self._backend.storage.metrics.listed_from_cache(
            selection.info.gvr, index=selection.index, fetched=len(state), returned=len(found)
        )
        return list_object(selection.info, found, revision=revision)

    async def _from_store(self, selection: Selection, options: ListOptions) -> Object:
        revision, start = self._start(options)
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
        self._backend.storage.metrics.listed(
            selection.info.gvr, fetched=fetched, evaluated=evaluated, returned=len(found)
        )
        if not left:
            return list_object(selection.info, found, revision=revision)
        token = Continue(revision, start).encode()
        remaining = None if selection.selective else left
        return list_object(selection.info, found, revision=revision, token=token, remaining=remaining)

    def _start(self, options: ListOptions) -> tuple[int, str]:
        """The revision to list at (0 for the newest) and the key to start at."""
        if options.continue_:
            token = Continue.decode(options.continue_)
            return max(token.revision, 0), token.start
        return (options.resource_version or 0) if options.exact else 0, ""

    async def _page(self, selection: Selection, *, revision: int, start: str, options: ListOptions) -> Page:
        limit = CHUNK if not options.limit or selection.selective else options.limit
        try:
            if (key := selection.key) is not None and not start:
                return await self._backend.storage.page_of(selection.info, key, revision=revision)
            return await self._backend.storage.page(
                selection.info, selection.namespace, revision=revision, start=start, limit=limit
            )
        except CompactedError:
            raise continue_expired(start) if options.continue_ else too_old() from None
        except FutureRevisionError:
            raise too_large(revision, self._backend.storage.store.revision) from None


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
