"""get and list (apiserver pkg/registry/generic/registry/store.go Get and ListPredicate, pkg/endpoints/handlers get.go).

A get with the resourceVersion `0` is answered from the watch cache, all else from the store, once it is new enough.
"""

from __future__ import annotations

from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.conversion import from_storage
from engine.apiserver.registry.lists import Lister
from engine.apiserver.registry.options import ListOptions
from engine.apiserver.registry.resource_versions import parse_resource_version
from engine.apiserver.registry.selection import select


class Reader:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._lister = Lister(backend)

    async def get(self, call: Call) -> Object:
        """Raises ApiError 400, 404, 504."""
        info, request = call.gvr_resource, call.info
        version = call.request.parameter("resourceVersion")
        if version:
            asked = parse_resource_version(version)
            await self._not_older_than(info, asked)
            cache = self._backend.caches.of(info) if not asked else None
            known = cache.get(info.key(request.namespace, request.name)) if cache is not None else None
            if known is not None and await self._backend.storage.readable(info, known):
                return from_storage(info, known)
        return (await self._backend.storage.named(info, request.namespace, request.name)).object

    async def _not_older_than(self, info: ResourceInfo, revision: int) -> None:
        """Wait until the store has reached a revision. Raises ApiError 504 if it does not soon."""
        if revision > self._backend.storage.store.revision:
            cache = await self._backend.caches.started(info)
            await cache.freshness.wait_for(revision)

    async def list(self, call: Call) -> Object:
        """Raises ApiError 400, 410, 422, 504."""
        options = ListOptions.of(call.request, watching=False)
        selection = select(call.gvr_resource, call.info.namespace, call.request, name=call.info.name)
        options = options.where(single=selection.key is not None)
        return await self._lister.selected(selection, options)
