"""Keeps the Service default/kubernetes and its endpoints: what is deleted is made again, all API servers are named.

Source: pkg/controlplane/controller/kubernetesservice and pkg/controlplane/reconcilers/lease.go. Each API server holds a
key with a lease below /registry/masterleases; one that dies is left out of the endpoints when its lease has run out. A
server alone with its store needs no key.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from engine.api.types import SERVICES, Object
from engine.apiserver.backend import Backend
from engine.apiserver.bootstrap import keep
from engine.apiserver.loopback import Loopback
from engine.store.types import Put, Range, Store, StoreError, prefix_end

log = logging.getLogger(__name__)

INTERVAL = 10.0
LEASE_SECONDS = 15
_PREFIX = b"/registry/masterleases/"
_NAME = "kubernetes"
Address = tuple[str, int]


class MasterLeases:
    """The addresses of all API servers of a shared store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lease = 0

    async def renew(self, address: Address) -> None:
        """Tell of this server for another fifteen seconds."""
        if self._lease:
            remaining, _, _ = await self._store.lease_time_to_live(self._lease)
            if remaining > 0:
                await self._store.lease_keep_alive(self._lease)
                return
        self._lease = await self._store.lease_grant(LEASE_SECONDS)
        host, port = address
        await self._store.txn([], [Put(_PREFIX + f"{host}:{port}".encode(), b"{}", lease=self._lease)])

    async def all(self) -> list[Address]:
        found = await self._store.range(Range(_PREFIX, prefix_end(_PREFIX), keys_only=True))
        names = [kv.key.removeprefix(_PREFIX).decode(errors="replace") for kv in found.kvs]
        return [(host, int(port)) for host, _, port in (name.rpartition(":") for name in names)]

    async def drop(self) -> None:
        lease, self._lease = self._lease, 0
        if lease:
            await self._store.lease_revoke(lease)


class KubernetesService:
    """`objects` are the Service, Endpoints and EndpointSlice as a new cluster has them, for an address."""

    def __init__(
        self,
        backend: Backend,
        loopback: Loopback,
        objects: Callable[[Address], tuple[Object, Object, Object]],
        leases: MasterLeases | None,
    ) -> None:
        self._backend = backend
        self._loopback = loopback
        self._objects = objects
        self._leases = leases
        self._address: Address | None = None

    def assume(self, address: Address) -> None:
        """Where this server is unless it is told otherwise: told to others only in a while."""
        self._address = self._address or address

    async def advertise(self, address: Address) -> None:
        """Say where this server is, from now on."""
        if self._leases is not None and address != self._address:
            await self._leases.drop()
        self._address = address
        await self.reconcile()

    async def run(self) -> None:
        while True:
            await self._backend.world.clock.sleep(INTERVAL)
            try:
                await self.reconcile()
            except (StoreError, ConnectionError) as error:
                log.warning("unable to sync kubernetes service: %s", error)

    async def stop(self) -> None:
        """Leave the endpoints to the others. Never raises."""
        if self._leases is None:
            return
        try:
            await self._leases.drop()
        except (StoreError, ConnectionError) as error:
            log.warning("unable to remove endpoints from kubernetes service: %s", error)

    async def reconcile(self) -> None:
        if self._address is None:
            return
        masters = [self._address]
        if self._leases is not None:
            await self._leases.renew(self._address)
            masters = sorted(await self._leases.all()) or masters
        service, endpoints, slices = self._objects(self._address)
        await self._keep_service(service)
        ports, hosts = sorted({port for _, port in masters}), sorted({host for host, _ in masters})
        named = [{"name": _port_name(port, ports), "port": port, "protocol": "TCP"} for port in ports]
        endpoints["subsets"] = [{"addresses": [{"ip": host} for host in hosts], "ports": named}]
        await keep(self._backend, endpoints, ("subsets",))
        slices["endpoints"] = [{"addresses": [host], "conditions": {"ready": True}} for host in hosts]
        slices["ports"] = named
        await keep(self._backend, slices, ("endpoints", "ports"))

    async def _keep_service(self, wanted: Object) -> None:
        """By the front door, where its address is taken from the pool."""
        found = await self._loopback.ask("GET", SERVICES.path("default", _NAME))
        if found.status == 404:
            await self._loopback.ask("POST", SERVICES.path("default"), wanted)


def _port_name(port: int, every: list[int]) -> str:
    """Ports of one subset need names of their own; a single one has upstream's."""
    return "https" if port == every[0] else f"https-{port}"
