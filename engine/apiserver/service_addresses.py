"""Where the addresses of Services come from: an interface, and how it was up to Kubernetes 1.32, by one range a family.

Source: pkg/registry/core/service/ipallocator (interfaces.go, bitmap.go). What is taken is kept in memory, read from the
stored Services. Since 1.33 the store has objects of it: `engine.apiserver.service_cidrs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import Protocol

from engine.api.types import Object
from engine.apiserver.service_pools import FULL, AddressPool


class Refused(Exception):
    """Why there is no address; the text is upstream's."""


class Addresses(Protocol):
    """`families` are those of the cluster, the default one first. An address is taken for a Service, `owner`; of a
    `dry_run` nothing is kept. Both ways to get one raise Refused."""

    @property
    def families(self) -> Sequence[str]: ...

    async def take(self, owner: Object, address: str, *, dry_run: bool) -> None: ...

    async def draw(self, owner: Object, family: str, *, dry_run: bool) -> str: ...

    async def release(self, address: str) -> None: ...

    def look_at(self, services: Iterable[Object]) -> None:
        """These are all Services that are stored now."""
        ...


class PoolAddresses:
    """One pool for each family."""

    def __init__(self, pools: Sequence[AddressPool]) -> None:
        self._pools = {pool.family: pool for pool in pools}
        self._seen: set[str] = set()

    @property
    def families(self) -> Sequence[str]:
        return tuple(self._pools)

    async def take(self, owner: Object, address: str, *, dry_run: bool) -> None:
        """A dry run asks only whether the address is one of the range's (bitmap.go allocate)."""
        pool = self._pool(address)
        why = pool.take(address, dry_run=dry_run) if pool is not None else None
        if why:
            raise Refused(why)

    async def draw(self, owner: Object, family: str, *, dry_run: bool) -> str:
        """A dry run gets the address of the network (bitmap.go allocateNext)."""
        pool = self._pools[family]
        drawn = pool.network if dry_run else pool.draw()
        if drawn is None:
            raise Refused(FULL)
        return drawn

    async def release(self, address: str) -> None:
        self._release(address)

    def look_at(self, services: Iterable[Object]) -> None:
        addresses = {address for service in services for address in cluster_ips(service)}
        for address in self._seen - addresses:
            self._release(address)
        for address in addresses - self._seen:
            if (pool := self._pool(address)) is not None:
                pool.take(address)
        self._seen = addresses

    def _release(self, address: str) -> None:
        if (pool := self._pool(address)) is not None:
            pool.release(address)

    def _pool(self, address: str) -> AddressPool | None:
        return self._pools.get(f"IPv{ip_address(address).version}")


def cluster_ips(service: Object) -> list[str]:
    return [ip for ip in (service.get("spec") or {}).get("clusterIPs") or () if ip and ip != "None"]
