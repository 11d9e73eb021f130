"""Sees to it that each address of a Service has its IPAddress, and each of those IPAddresses its Service.

Source: pkg/registry/core/service/ipallocator/controller/repairip.go. It looks at all of them when the server starts and
every three minutes, and at each that changes. An address whose Service does not (yet) have it is let be for a minute:
upstream waits so for a Service that is still to come only, and may undo what a change of a Service has just taken.
"""

from __future__ import annotations

from datetime import datetime
from ipaddress import ip_address

from engine.api.types import SERVICES, Object
from engine.apiserver.backend import Backend
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.loopback import Loopback
from engine.apiserver.own_events import Says
from engine.apiserver.services.service_addresses import cluster_ips
from engine.apiserver.services.service_cidrs import (
    FAMILY_LABEL,
    IP_ADDRESSES,
    MANAGED_BY_LABEL,
    MANAGER,
    address_range,
    ip_address_object,
)
from engine.apiserver.storage import StorageLookup
from engine.clock import Timer
from engine.store.types import StoreError, prefix_end
from engine.tasks import Supervisor

NAME = "ipallocator-repair-controller"
RESYNC = 180.0
GRACE = 60.0  # no request takes longer than that
_AT_ONCE = 100  # that are looked at before others have their turn
AGAIN = 1.0  # seconds after which a store that failed is asked again
_NOT_ALLOCATED, _OF_CLUSTER_IP = "ClusterIPNotAllocated", "ClusterIPAllocation"
_OF_IP_ADDRESS = "IPAddressAllocation"


class ServiceIpRepair:
    """The caches are of Services, ServiceCIDRs and IPAddresses."""

    def __init__(
        self, backend: Backend, loopback: Loopback, *, services: WatchCache, cidrs: WatchCache, addresses: WatchCache
    ) -> None:
        self._clock = backend.world.clock
        self._backend = backend
        self._store = backend.storage.store
        self._loopback = loopback
        self._services = services
        self._cidrs = cidrs
        self._addresses = addresses
        self._says = Says(loopback, backend.world, NAME)
        self._told: set[tuple[str, str, str]] = set()  # uids, reasons and addresses of what cannot be repaired
        self._timers: dict[str, Timer] = {}  # by the key of an IPAddress whose Service is still to come

    def start(self, tasks: Supervisor) -> None:
        for cache in (self._services, self._addresses):
            tasks.spawn(self._follow(cache, tasks), f"{NAME} {cache.resource}")
        tasks.spawn(self._resync(tasks), f"{NAME} resync")

    def stop(self) -> None:
        """Wait for nothing any more."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    async def _resync(self, tasks: Supervisor) -> None:
        while True:
            await self._clock.sleep(RESYNC)
            for cache in (self._services, self._addresses):
                await self._look_at_all(cache, tasks)

    async def _look_at_all(self, cache: WatchCache, tasks: Supervisor) -> None:
        await self._catch_up(self._store.revision)
        for number, key in enumerate([key for key, _, _ in cache.versions()]):
            if number % _AT_ONCE == 0:
                await self._clock.sleep(0)
            await self._look(key, tasks)

    async def _catch_up(self, revision: int) -> None:
        for cache in (self._services, self._cidrs, self._addresses):
            await cache.freshness.catch_up(revision)

    async def _follow(self, cache: WatchCache, tasks: Supervisor) -> None:
        first = f"{cache.prefix}/".encode()
        while True:
            try:
                source = await self._store.watch(first, prefix_end(first))
                try:
                    await self._look_at_all(cache, tasks)
                    async for response in source:
                        await self._catch_up(response.revision)
                        for event in response.events:
                            await self._look(event.kv.key.decode(errors="replace"), tasks)
                    return
                finally:
                    await source.aclose()
            except StoreError:
                await self._clock.sleep(AGAIN)

    async def _look(self, key: str, tasks: Supervisor) -> None:
        if (service := self._services.get(key)) is not None:
            for address in cluster_ips(service):
                await self._check_service(service, address)
        elif (address_object := self._addresses.get(key)) is not None:
            await self._check_address(key, address_object, tasks)

    # -- from a Service to its addresses

    async def _check_service(self, service: Object, address: str) -> None:
        where = f"[IPv{ip_address(address).version}]: {address}"
        if not self._in_range(address):
            text = f"Cluster IP {where} is not within any configured Service CIDR; please recreate service"
            await self._say_once(service, "ClusterIPOutOfRange", address, text)
            return
        found = self._addresses.get(f"{self._addresses.prefix}/{address}")
        if found is None:
            if await self._is_missing(service, address):
                text = f"Cluster IP {where} is not allocated; repairing"
                await self._says.series(service, _NOT_ALLOCATED, _OF_CLUSTER_IP, text)
                await self._loopback.ask("POST", IP_ADDRESSES.path(), ip_address_object(address, service))
            return
        metadata = service["metadata"]
        parent = found["spec"]["parentRef"]
        ours = parent.get("namespace", "") == metadata["namespace"] and parent["name"] == metadata["name"]
        holder = self._holder(found)
        if not _of_service(found) or (not ours and holder is None):
            name = f"{metadata['namespace']}/{metadata['name']}"
            text = f"the ClusterIP {where} for Service {name} has a wrong reference; repairing"
            await self._says.series(service, _NOT_ALLOCATED, _OF_CLUSTER_IP, text)
            await self._recreate(address, service)
        elif not ours and holder is not None and address in cluster_ips(holder):
            text = f"Cluster IP {where.replace(': ', ':')} was assigned to multiple services; please recreate service"
            await self._say_once(service, "ClusterIPAlreadyAllocated", address, text)
        elif not _labelled(found):
            await self._recreate(address, service)

    async def _is_missing(self, service: Object, address: str) -> bool:
        """By the store, for caches may be at different moments. A Service goes before its address does."""
        lookup, metadata = StorageLookup(self._backend.storage, self._backend.resources), service["metadata"]
        if await lookup.find(IP_ADDRESSES, "", address) is not None:
            return False
        now = await lookup.find(SERVICES, metadata["namespace"], metadata["name"])
        return now is not None and address in cluster_ips(now)

    async def _say_once(self, service: Object, reason: str, address: str, text: str) -> None:
        told = (service["metadata"]["uid"], reason, address)
        if told not in self._told:
            self._told.add(told)
            await self._says.series(service, reason, _OF_CLUSTER_IP, text)

    def _in_range(self, address: str) -> bool:
        parsed = ip_address(address)
        ranges = (cidr for each in self._cidrs.objects() for cidr in each["spec"].get("cidrs") or ())
        return any(address_range(cidr).number(parsed) is not None for cidr in ranges)

    async def _recreate(self, address: str, service: Object) -> None:
        await self._delete(address)
        await self._loopback.ask("POST", IP_ADDRESSES.path(), ip_address_object(address, service))

    async def _delete(self, address: str) -> None:
        await self._loopback.ask("DELETE", IP_ADDRESSES.path(None, address))

    # -- from an address to its Service

    async def _check_address(self, key: str, found: Object, tasks: Supervisor) -> None:
        if (found["metadata"].get("labels") or {}).get(MANAGED_BY_LABEL) != MANAGER:
            return
        address, parent = found["metadata"]["name"], found["spec"]["parentRef"]
        if not _of_service(found):
            text = f"appears to have been modified, not referencing a Service {_shown(parent)}: cleaning up"
            await self._says.series(found, "IPAddressNotAllocated", _OF_IP_ADDRESS, f"IPAddress {address} {text}")
            await self._delete(address)
            return
        holder = self._holder(found)
        who = f"IPAddress: {address} for Service {parent.get('namespace', '')}/{parent['name']}"
        if holder is not None and address in cluster_ips(holder):
            return
        made = datetime.fromisoformat(found["metadata"]["creationTimestamp"])
        age = (self._clock.now() - made).total_seconds()
        if age <= GRACE:
            self._look_later(key, GRACE - age + 1, tasks)
            return
        if holder is None:
            reason, text = "IPAddressNotAllocated", f"{who} appears to have leaked: cleaning up"
        else:
            reason, text = "IPAddressWrongReference", f"{who} has a wrong reference; cleaning up"
        await self._says.series(found, reason, _OF_IP_ADDRESS, text)
        await self._delete(address)

    def _look_later(self, key: str, seconds: float, tasks: Supervisor) -> None:
        if key in self._timers:
            return

        def look() -> None:
            del self._timers[key]
            tasks.spawn(self._look(key, tasks), f"{NAME} {key}")

        self._timers[key] = self._clock.call_later(seconds, look)

    def _holder(self, address: Object) -> Object | None:
        """The Service that an IPAddress names."""
        parent = address["spec"]["parentRef"]
        return self._services.get(f"{self._services.prefix}/{parent.get('namespace', '')}/{parent['name']}")


def _of_service(address: Object) -> bool:
    parent = address["spec"]["parentRef"]
    return not parent.get("group") and parent.get("resource") == SERVICES.resource


def _shown(parent: Object) -> str:
    """As Go prints a ParentReference."""
    fields = ("group", "resource", "namespace", "name")
    return "&ParentReference{" + "".join(f"{field.title()}:{parent.get(field, '')}," for field in fields) + "}"


def _labelled(address: Object) -> bool:
    metadata = address["metadata"]
    labels = metadata.get("labels") or {}
    family = f"IPv{ip_address(metadata['name']).version}"
    return labels.get(MANAGED_BY_LABEL) == MANAGER and labels.get(FAMILY_LABEL) == family
