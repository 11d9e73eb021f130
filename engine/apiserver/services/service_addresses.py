"""Where the addresses of Services come from: an interface, and how it was up to Kubernetes 1.32, by one range a family.

Source: pkg/registry/core/service/ipallocator (interfaces.go, bitmap.go). What is taken of a range is in the store, as
of node ports. Since 1.33 the store has objects of it: `engine.apiserver.services.service_cidrs`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Protocol

from engine.api.types import Object
from engine.apiserver.services.allocator_metrics import DYNAMIC, STATIC, ClusterIpMetrics, counted
from engine.apiserver.services.range_allocation import NotInitialised, RangeAllocation
from engine.apiserver.services.range_repair import Repaired
from engine.apiserver.services.service_pools import ALLOCATED, FULL, NOT_VALID, AddressRange
from engine.metrics import Family
from engine.rng import Rng
from engine.store.types import Store, StoreError

log = logging.getLogger(__name__)

_NAMES = ("serviceips", "secondaryserviceips")
_RESOURCE = "serviceipallocations"


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

    def families_of_metrics(self) -> Sequence[Family]: ...


class PoolAddresses:
    """One range for each family, the default one first, and what its addresses are drawn with."""

    def __init__(self, store: Store, ranges: Sequence[tuple[AddressRange, Rng]]) -> None:
        self._metrics = ClusterIpMetrics()
        self._ranges = {
            of.family: _Pool(
                of, rng, RangeAllocation(store, name, resource=_RESOURCE, span=str(of.network)), self._metrics
            )
            for name, (of, rng) in zip(_NAMES, ranges, strict=False)
        }

    @property
    def families(self) -> Sequence[str]:
        return tuple(self._ranges)

    def repaired(self) -> Iterator[Repaired]:
        return (pool.repaired() for pool in self._ranges.values())

    async def take(self, owner: Object, address: str, *, dry_run: bool) -> None:
        """A dry run asks only whether the address is one of the range's."""
        try:
            pool = self._ranges.get(f"IPv{ip_address(address).version}")
        except ValueError:
            raise Refused(NOT_VALID) from None
        if pool is not None:
            await pool.take(address, dry_run=dry_run)

    async def draw(self, owner: Object, family: str, *, dry_run: bool) -> str:
        """A dry run gets the address of the network."""
        pool = self._ranges[family]
        return str(pool.of.network.network_address) if dry_run else await pool.draw()

    async def release(self, address: str) -> None:
        pool = self._ranges.get(f"IPv{ip_address(address).version}")
        if pool is not None:
            await pool.release(address)

    def families_of_metrics(self) -> Sequence[Family]:
        return self._metrics.families()


class _Pool:
    """The range of a family. Its bits begin with the first address that can be given out, which has the number 1."""

    def __init__(self, of: AddressRange, rng: Rng, allocation: RangeAllocation, metrics: ClusterIpMetrics) -> None:
        self.of = of
        self._metrics = metrics
        self._rng = rng
        self._allocation = allocation

    def repaired(self) -> Repaired:
        place = f"the service CIDR {self._allocation.span}"
        return Repaired(self._allocation, self._held, "ipallocator-repair-controller", "ClusterIP", place)

    def _held(self, service: Object) -> Iterator[tuple[int | None, str]]:
        for address in cluster_ips(service):
            if f"IPv{ip_address(address).version}" == self.of.family:
                yield self._bit(address), f"Cluster IP [{self.of.family}]: {address}"

    def _bit(self, address: str) -> int | None:
        number = self.of.number(ip_address(address))
        return None if number is None else number - 1

    async def take(self, address: str, *, dry_run: bool) -> None:
        bit = self._bit(address)
        if bit is None:
            if not dry_run:
                self._metrics.failed(self._allocation.span, STATIC)
            valid = f"The range of valid IPs is {self._allocation.span}"
            raise Refused(f"the provided IP ({address}) is not in the valid range. {valid}")
        if dry_run:
            return
        with self._counted(STATIC):
            try:
                free = await self._allocation.take(bit)
            except NotInitialised as why:
                raise Refused(str(why)) from None
            if not free:
                raise Refused(ALLOCATED)

    async def draw(self) -> str:
        with self._counted(DYNAMIC):
            try:
                bit = await self._allocation.draw(lambda taken: self.of.free(taken, self._rng, first=0))
            except NotInitialised as why:
                raise Refused(str(why)) from None
            if bit is None:
                raise Refused(FULL)
        return self.of.address(bit + 1)

    async def release(self, address: str) -> None:
        """Never raises: what is not let go now is found by the repair."""
        bit = self._bit(address)
        if bit is None:
            return
        try:
            await self._allocation.release(bit)
        except (NotInitialised, StoreError) as error:
            log.warning("service address %s is not released: %s", address, error)
        else:
            self._count()

    @contextmanager
    def _counted(self, scope: str) -> Iterator[None]:
        with counted(self._metrics, self._allocation.span, scope, failures=(Refused, StoreError)):
            yield
        self._count()

    def _count(self) -> None:
        self._metrics.holds(self._allocation.span, taken=self._allocation.count, size=self.of.size)


def cluster_ips(service: Object) -> list[str]:
    return [ip for ip in (service.get("spec") or {}).get("clusterIPs") or () if ip and ip != "None"]
