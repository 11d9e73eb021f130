"""Keeps the APIService objects as they should be: one for each group version that is served here, and the condition of
those that name another server. One such is simulated here: metrics-server.

Stands where kube-aggregator's autoregister and availability controllers stand. Level-triggered: each change of an
APIService, a Service, an EndpointSlice or of what is served makes it look at all of them. A server that really listens
is asked whether it is there, and what it serves, again and again.
"""

from __future__ import annotations

import asyncio

from engine.api import resource_metrics
from engine.api.api_services import (
    AUTOMANAGED,
    answered,
    availability,
    available_locally,
    is_unanswered,
    local_priority,
    local_service,
    name_of,
    path_of,
    priority_of,
)
from engine.api.crd.naming import is_true
from engine.api.resources import Priority, ResourceInfo
from engine.api.types import ENDPOINT_SLICES, GVR, SERVICES, Object, copy_object
from engine.apiserver.aggregation.remote_documents import RemoteDocuments
from engine.apiserver.aggregation.remote_servers import (
    AGGREGATOR,
    DISCOVERY_SECONDS,
    RemoteServers,
    UnreachableError,
)
from engine.apiserver.backend import Backend
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.customresources.live import LiveRegistry
from engine.apiserver.metrics.availability_metrics import AvailabilityMetrics
from engine.apiserver.own_objects import NO_TIME, own_object
from engine.apiserver.service_endpoints import leads_from
from engine.apiserver.service_resolver import ResolveError
from engine.metrics import Family
from engine.store.types import StoreError, prefix_end
from engine.tasks import Supervisor
from engine.trace import Hop

API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")
_MANAGER = "kube-apiserver"
AGAIN = 1.0  # seconds after which a store that failed is asked again
RESYNC = 30.0
_TRIES = 6  # after which the waits between two tries are no longer than that


class ApiServices:
    def __init__(self, backend: Backend, tasks: Supervisor, *, registry: LiveRegistry, servers: RemoteServers) -> None:
        self._backend = backend
        self._registry = registry
        self._tasks = tasks
        self._info = backend.resources.get(*API_SERVICES)
        self._changed = asyncio.Event()
        self._remote: dict[tuple[str, str], Object] = {}
        self._servers = servers
        self._documents = RemoteDocuments(servers, backend.world.clock)
        self._failures: dict[str, int] = {}  # how often those that really listen have not answered, by name
        self._real = False  # whether there are any
        self._again: asyncio.Task[None] | None = None
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

    def elsewhere(self, group: str, version: str) -> Object | None:
        """The APIService that gives a version to another server."""
        if not self._remote or version not in self._registry.elsewhere.get(group, ()):
            return None
        return self._remote.get((group, version))

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
        self._real = False
        remote = self._remote.values()
        for api_service in list(cache.objects()):
            if not api_service["spec"].get("service"):
                await self._judge(info, api_service)
        await asyncio.gather(*(self._judge(info, each) for each in list(remote)))
        await cache.freshness.catch_up(self._backend.storage.store.revision)
        self._note_remote(cache)
        self._registry.describe(await self._documents.described(self._remote.values()))
        self._come_again()

    def _come_again(self) -> None:
        """Look at those that really listen after half a minute, or soon if one does not answer."""
        if self._again is not None:
            self._again.cancel()
            self._again = None
        if self._real:
            tries = min((count for count in self._failures.values() if count), default=_TRIES)
            self._again = self._tasks.spawn(self._wake(min(RESYNC, 0.5 * 2.0**tries)), "api-services resync")

    async def _wake(self, seconds: float) -> None:
        await self._backend.world.clock.sleep(seconds)
        self._again = None
        self._changed.set()

    def _note_remote(self, cache: WatchCache) -> None:
        self._remote = {
            (each["spec"].get("group", ""), each["spec"]["version"]): each
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
            if is_unanswered(status) and (problem := await self._problem(api_service)) is not None:
                status = answered(api_service, problem, now=now)
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

    async def _problem(self, api_service: Object) -> str | None:
        """What is wrong with the answer of a server, "" for nothing; None where none can listen."""
        name, path = api_service["metadata"]["name"], path_of(api_service["spec"])
        try:
            place = await self._servers.place(api_service)
        except ResolveError:
            self._failures.pop(name, None)
            return None
        self._real = True
        url = f"https://{place.shown}{path}"
        try:
            answer = await self._servers.send(
                api_service, place, "GET", path, user=AGGREGATOR, seconds=DISCOVERY_SECONDS, checked=False
            )
            answer.release()
        except UnreachableError as error:
            problem = f'failing or missing response from {url}: Get "{url}": {error}'
        else:
            is_good = 200 <= answer.status < 300
            problem = (
                "" if is_good else f"failing or missing response from {url}: bad status from {url}: {answer.status}"
            )
        self._failures[name] = self._failures.get(name, 0) + 1 if problem else 0
        return problem

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
