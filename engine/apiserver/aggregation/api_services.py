"""Keeps the APIService objects as they should be: one for each group version that is served here, and the condition of
those that name another server. One such is simulated here: metrics-server.

Stands where kube-aggregator's autoregister and availability controllers stand. Level-triggered: each change of an
APIService, a Service, an EndpointSlice or of what is served makes it look at all of them.
"""

from __future__ import annotations

import asyncio

from engine.api import resource_metrics
from engine.api.api_services import (
    AUTOMANAGED,
    availability,
    available_locally,
    local_priority,
    local_service,
    name_of,
    priority_of,
)
from engine.api.crd.naming import is_true
from engine.api.resources import Priority, ResourceInfo
from engine.api.types import ENDPOINT_SLICES, GVR, SERVICES, Object, copy_object
from engine.apiserver.backend import Backend
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.customresources.live import LiveRegistry
from engine.apiserver.metrics.availability_metrics import AvailabilityMetrics
from engine.apiserver.own_objects import NO_TIME, own_object
from engine.apiserver.service_endpoints import leads_from
from engine.metrics import Family
from engine.store.types import StoreError, prefix_end
from engine.tasks import Supervisor
from engine.trace import Hop

API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")
_MANAGER = "kube-apiserver"
AGAIN = 1.0  # seconds after which a store that failed is asked again


class ApiServices:
    def __init__(self, backend: Backend, tasks: Supervisor, *, registry: LiveRegistry) -> None:
        self._backend = backend
        self._registry = registry
        self._tasks = tasks
        self._info = backend.resources.get(*API_SERVICES)
        self._changed = asyncio.Event()
        self._remote: dict[tuple[str, str], str] = {}
        self._cache: WatchCache | None = None
        self._metrics = AvailabilityMetrics()

    async def start(self) -> None:
        """Make what is missing and follow what comes."""
        if self._info is None:
            return
        self._cache = cache = await self._backend.caches.started(self._info)
        await self._register(self._info)
        await cache.freshness.catch_up(self._backend.storage.store.revision)
        self._note_remote(cache)
        for gvr in (API_SERVICES, SERVICES, ENDPOINT_SLICES):
            info = self._backend.resources.get(*gvr)
            if info is not None:
                await self._backend.caches.started(info)
                self._tasks.spawn(self._follow(info), f"api-services {gvr.resource}")
        self._tasks.spawn(self._run(self._info, cache), "api-services")

    def changed(self) -> None:
        """What is served here has changed."""
        self._changed.set()

    def families(self) -> tuple[Family, ...]:
        """For /metrics."""
        return self._metrics.families(self._cache.objects() if self._cache is not None else ())

    # -- following

    async def _follow(self, info: ResourceInfo) -> None:
        """Look again whenever a resource changes."""
        first = f"{info.storage_prefix}/".encode()
        while True:
            try:
                source = await self._backend.storage.store.watch(first, prefix_end(first))
                try:
                    async for _ in source:
                        if info.gvr == API_SERVICES or self._remote:
                            self._changed.set()
                    return
                finally:
                    await source.aclose()
            except StoreError:
                await self._backend.world.clock.sleep(AGAIN)
                self._changed.set()

    async def _run(self, info: ResourceInfo, cache: WatchCache) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._sync(info, cache)
            except StoreError:
                await self._backend.world.clock.sleep(AGAIN)
                self._changed.set()

    async def _sync(self, info: ResourceInfo, cache: WatchCache) -> None:
        await cache.freshness.catch_up(self._backend.storage.store.revision)
        self._note_remote(cache)
        await self._register(info)
        await self._unregister(info, cache)
        for api_service in list(cache.objects()):
            await self._judge(info, api_service)

    def _note_remote(self, cache: WatchCache) -> None:
        self._remote = {
            (each["spec"].get("group", ""), each["spec"]["version"]): each["metadata"]["name"]
            for each in cache.objects()
            if each["spec"].get("service")
        }
        measured = any(
            is_true(each, "Available") for each in cache.objects() if resource_metrics.stands_for_it(each["spec"])
        )
        self._registry.stand_in(resource_metrics.resources(self._backend.definitions.release) if measured else ())
        elsewhere: dict[str, tuple[str, ...]] = {}
        for group, version in self._remote:
            if not (measured and group == resource_metrics.GROUP and version == resource_metrics.VERSION):
                elsewhere[group] = (*elsewhere.get(group, ()), version)
        self._registry.give_away(elsewhere, self._unusual(cache))

    def _unusual(self, cache: WatchCache) -> dict[tuple[str, str], Priority]:
        """The priorities of other servers, and of what is served here where its object was changed."""
        found = {}
        served = {(group, version): custom for group, version, custom in self._served()}
        for each in cache.objects():
            spec = each["spec"]
            key = spec.get("group", ""), spec["version"]
            if priority_of(spec) != local_priority(*key, custom=served.get(key, True)):
                found[key] = priority_of(spec)
        return found

    # -- what is served here

    async def _register(self, info: ResourceInfo) -> None:
        missing = {}
        present = await self._backend.storage.keys(info)
        for group, version, custom in self._served():
            obj = local_service(group, version, custom=custom)
            if obj is None or (group, version) in self._remote:
                continue
            key = info.key("", obj["metadata"]["name"])
            if key not in present:
                missing[key] = self._value(obj)
        await self._backend.storage.create_all(missing)

    def _served(self) -> list[tuple[str, str, bool]]:
        found: dict[tuple[str, str], bool] = {}
        for each in self._backend.resources:
            found.setdefault((each.gvr.group, each.gvr.version), each.custom)
        return [(group, version, custom) for (group, version), custom in found.items()]

    def _value(self, obj: Object) -> bytes:
        made = {**obj, "status": available_locally({}, now=NO_TIME)}
        backend = self._backend
        return own_object(backend.definitions.version, made, uid=backend.uids.uid(), now=backend.world.clock.now())

    async def _unregister(self, info: ResourceInfo, cache: WatchCache) -> None:
        """Take away the objects of group versions that are no longer served."""
        served = {name_of(group, version) for group, version, _ in self._served()}
        for each in list(cache.objects()):
            metadata = each["metadata"]
            if (metadata.get("labels") or {}).get(AUTOMANAGED) == "true" and metadata["name"] not in served:
                revision = int(metadata["resourceVersion"])
                await self._backend.storage.remove(info, "", metadata["name"], expected=revision, cause="")

    # -- conditions

    async def _judge(self, info: ResourceInfo, api_service: Object) -> None:
        now, reference = self._backend.world.clock.timestamp(), api_service["spec"].get("service")
        before = api_service.get("status") or {}
        if reference is None:
            status = available_locally(before, now=now)
        else:
            service, slices = await self._behind(reference)
            status = availability(api_service, service, slices, now=now)
        if status == before:
            return
        name, revision = api_service["metadata"]["name"], int(api_service["metadata"]["resourceVersion"])
        new = {**copy_object(api_service), "status": status}
        with self._backend.world.tracer.span(
            Hop.STORE, component=_MANAGER, verb="update", object=f"apiservice/{name}"
        ) as span:
            cause = span.traceparent
            await self._backend.storage.replace(info, "", name, new, expected=revision, cause=cause)
        self._metrics.judged(api_service, new)

    async def _behind(self, reference: Object) -> tuple[Object | None, list[Object]]:
        """The Service that is referred to, and its EndpointSlices."""
        resources, storage = self._backend.resources, self._backend.storage
        services, endpoint_slices = resources.get(*SERVICES), resources.get(*ENDPOINT_SLICES)
        namespace, name = reference["namespace"], reference["name"]
        stored = await storage.get(services, namespace, name) if services is not None else None
        if stored is None or endpoint_slices is None:
            return None, []
        page = await storage.page(endpoint_slices, namespace)
        return stored.object, [obj for _, obj in page.items if leads_from(obj, name)]
