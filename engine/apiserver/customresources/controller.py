"""Follows CustomResourceDefinitions: gives them names, serves their resources, cleans up after them.

What upstream spreads over several controllers in the API server (naming, establishing, finalizing: apiextensions-
apiserver pkg/controller/{status,establish,finalizer}) and the handler that reads them all (pkg/apiserver/
customresource_handler.go). Level-triggered: each change of a definition makes it look at all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

import orjson

from engine.api.apply import track_update
from engine.api.crd import naming
from engine.api.crd.approval import approval_condition
from engine.api.crd.definitions import ExtendedDefinitions
from engine.api.crd.deletion import OVERLAPPING, without_objects
from engine.api.crd.nonstructural import structure_condition, structure_violations
from engine.api.crd.registration import custom_versions, resources, served, stored_resource
from engine.api.crd.version import CustomVersion
from engine.api.resources import ResourceInfo
from engine.api.types import GVR, Object, copy_object
from engine.apiserver.backend import Backend
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.customresources.cleaning import Cleaner
from engine.apiserver.customresources.live import LiveRegistry
from engine.store.types import CompactedError, StoreError, prefix_end
from engine.tasks import Supervisor
from engine.trace import Hop

DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
_COMPONENT = "kube-apiserver"
AGAIN = 1.0  # seconds after which a store that failed is asked again


class Served(NamedTuple):
    """What is served for a definition; `signature` is all of it that matters to that, `storage` what its objects are
    stored by."""

    signature: bytes
    storage: bytes
    resources: list[ResourceInfo]
    versions: list[CustomVersion]


class Looked(NamedTuple):
    """What is known of a definition at one resourceVersion, so that it is worked out once."""

    version: str
    signature: bytes
    violations: str


class CustomResourceDefinitions:
    def __init__(
        self,
        backend: Backend,
        cleaner: Cleaner,
        tasks: Supervisor,
        *,
        definitions: ExtendedDefinitions,
        registry: LiveRegistry,
    ) -> None:
        self._backend = backend
        self._cleaner = cleaner
        self._tasks = tasks
        self._definitions = definitions
        self._registry = registry
        self._info = registry.get(*DEFINITIONS)
        self._served: dict[str, Served] = {}
        self._looked: dict[str, Looked] = {}
        self._waiting: list[asyncio.Future[bool]] = []
        self.on_change: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Serve what there is already, and follow what comes."""
        if self._info is None:
            return
        cache = await self._backend.caches.started(self._info)
        await self._sync(cache)
        self._tasks.spawn(self._follow(self._info, cache), "custom-resource-definitions")

    async def settled(self, name: str) -> None:
        """Wait until a definition is served, or has been refused its names, or is gone (or the store fails)."""
        cache = self._backend.caches.of(self._info) if self._info is not None else None
        if self._info is None or cache is None:
            return
        await cache.freshness.catch_up(self._backend.storage.store.revision)
        while not self._is_settled(cache.get(self._info.key("", name))):
            waiting: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            if not await waiting:
                return

    def _is_settled(self, definition: Object | None) -> bool:
        if definition is None or naming.unnamed(definition):
            return definition is None
        known = self._served.get(definition["metadata"]["name"])
        signature = self._look(definition).signature if served(definition) else None
        served_ = known.signature if known is not None else None
        return served_ == signature and not _establishing(definition) and not naming.renamed(definition)

    def _look(self, definition: Object) -> Looked:
        name, version = definition["metadata"]["name"], definition["metadata"]["resourceVersion"]
        known = self._looked.get(name)
        if known is not None and known.version == version:
            return known
        signature = _signature(definition)
        same = known is not None and known.signature == signature
        found = known.violations if known is not None and same else structure_violations(definition)
        self._looked[name] = Looked(version, signature, found)
        return self._looked[name]

    # -- following

    async def _follow(self, info: ResourceInfo, cache: WatchCache) -> None:
        first = f"{info.storage_prefix}/".encode()
        while True:
            try:
                source = await self._backend.storage.store.watch(first, prefix_end(first))
                try:
                    await self._sync(cache)
                    async for response in source:
                        await cache.freshness.catch_up(response.revision)
                        await self._sync(cache)
                    return
                finally:
                    await source.aclose()
            except CompactedError:
                continue
            except StoreError:
                self._wake(settling=False)
                await self._backend.world.clock.sleep(AGAIN)

    async def _sync(self, cache: WatchCache) -> None:
        for known in self._refresh(cache):
            await self._end_watches(known)
        for definition in list(cache.objects()):
            await self._settle(definition, cache)
            if "deletionTimestamp" in definition["metadata"]:
                self._cleaner.clean(definition, without_objects(definition) or self._stored(definition))
        self._wake(settling=True)

    def _wake(self, *, settling: bool) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(settling)

    def _stored(self, definition: Object) -> ResourceInfo:
        """The resource by which the objects of a definition are deleted: of the version that they are stored in, so
        that nobody is asked to convert them, and that need not be served."""
        known = self._served.get(definition["metadata"]["name"])
        for info in known.resources if known is not None else ():
            if info.gvk == info.storage_gvk:
                return info
        return stored_resource(self._definitions.root, definition)

    async def _settle(self, definition: Object, cache: WatchCache) -> None:
        """Give the definition the names and conditions that it is due, one step at a time."""
        now = self._backend.world.clock.timestamp()
        group = definition["spec"]["group"]
        same_group = [each for each in cache.objects() if each["spec"]["group"] == group]
        status = naming.named(definition, naming.Taken(same_group), now=now)
        status = structure_condition(definition, status, self._look(definition).violations, now=now)
        status = approval_condition(definition, status, now=now)
        if status is None:
            status = naming.established(definition, now=now)
        if status is not None:
            await self._write_status(definition, status)

    async def _write_status(self, definition: Object, status: Object) -> None:
        assert self._info is not None
        backend, name = self._backend, definition["metadata"]["name"]
        new = {**copy_object(definition), "status": copy_object(status)}
        new = track_update(
            definition,
            new,
            manager=_COMPONENT,
            now=backend.world.clock.now(),
            schema=backend.definitions.kind(self._info.gvk),
            subresource="status",
            api_version=self._info.gvr.api_version,
        )
        described = f"customresourcedefinition/{name}"
        with backend.world.tracer.span(Hop.STORE, component=_COMPONENT, verb="update", object=described) as span:
            revision = int(definition["metadata"]["resourceVersion"])
            written = await backend.storage.replace(
                self._info, "", name, new, expected=revision, cause=span.traceparent
            )
            span.revision = int(written["metadata"]["resourceVersion"]) if written is not None else 0

    # -- serving

    def _refresh(self, cache: WatchCache) -> list[Served]:
        """Serve just what the definitions say; those whose watches are to end."""
        found: dict[str, Served] = {}
        for definition in cache.objects():
            if served(definition):
                found[definition["metadata"]["name"]] = self._compiled(definition)
        before, self._served = self._served, found
        if len(found) == len(before) and all(found.get(name) is known for name, known in before.items()):
            return []
        self._definitions.replace(version for each in found.values() for version in each.versions)
        self._registry.replace(info for each in found.values() for info in each.resources)
        self.on_change()
        return [known for name, known in before.items() if name not in found or found[name].storage != known.storage]

    def _compiled(self, definition: Object) -> Served:
        known = self._served.get(definition["metadata"]["name"])
        signature = self._look(definition).signature
        if known is not None and known.signature == signature:
            return known
        versions = custom_versions(self._definitions.root, definition)
        versions = [each for each in versions if each.gvk[:2] not in self._registry.built_in]
        return Served(signature, _storage(definition), resources(definition, versions), versions)

    async def _end_watches(self, known: Served) -> None:
        """Watches of what has changed end, so that their clients come again and get what is served now; those of what
        is gone have seen the last of it. What is stored among the server's own objects shares their cache."""
        for info in known.resources[:1]:
            cache = self._backend.caches.of(info)
            if cache is not None and (info.gvr.group, info.gvr.resource) not in OVERLAPPING:
                await cache.freshness.catch_up(self._backend.storage.store.revision)
                cache.close()


def _signature(definition: Object) -> bytes:
    return _storage(definition) + orjson.dumps("deletionTimestamp" in definition["metadata"])


def _storage(definition: Object) -> bytes:
    """What upstream's handler makes storage anew for (customresource_handler.go updateCustomResourceDefinition)."""
    accepted = (definition.get("status") or {}).get("acceptedNames")
    return orjson.dumps([definition["metadata"]["uid"], definition["spec"], accepted])


def _establishing(definition: Object) -> bool:
    return naming.established(definition, now="") is not None
