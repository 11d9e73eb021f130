"""The node ports of Services, which all API servers of a store draw from one range, and what one write takes of them.

Source: pkg/registry/core/service/portallocator (allocator.go, operation.go).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from engine.api.types import Object
from engine.apiserver.services.allocator_metrics import DYNAMIC, STATIC, NodePortMetrics, counted
from engine.apiserver.services.range_allocation import NotInitialised, RangeAllocation
from engine.apiserver.services.range_repair import Repaired
from engine.apiserver.services.service_pools import NODE_PORTS, PortRange
from engine.rng import Rng
from engine.store.types import Store, StoreError

log = logging.getLogger(__name__)

_ALLOCATED = "provided port is already allocated"
_FULL = "range is full"
_DUMMY = NODE_PORTS.stop  # a dry run shows the ports after this one


class PortRefused(Exception):
    """Why there is no port; the text is upstream's."""


class NodePorts:
    def __init__(self, store: Store, rng: Rng, ports: range = NODE_PORTS) -> None:
        self.range = PortRange(ports)
        self.allocation = RangeAllocation(
            store, "servicenodeports", resource="servicenodeportallocations", span=self.range.span
        )
        self._rng = rng
        self.metrics = NodePortMetrics()

    def repaired(self) -> Repaired:
        place = f"the port range {self.range.span}"
        return Repaired(self.allocation, self._held, "portallocator-repair-controller", "Port", place)

    def _held(self, service: Object) -> Iterator[tuple[int | None, str]]:
        return ((self.range.number(port), f"Port {port}") for port in _ports(service))

    async def take(self, port: int) -> None:
        """Raises PortRefused, StoreError."""
        with self._counted(STATIC):
            await self._take(port)

    async def _take(self, port: int) -> None:
        number = self.range.number(port)
        if number is None:
            raise PortRefused(f"provided port is not in the valid range. The range of valid ports is {self.range.span}")
        try:
            free = await self.allocation.take(number)
        except NotInitialised as why:
            raise PortRefused(str(why)) from None
        if not free:
            raise PortRefused(_ALLOCATED)

    async def draw(self) -> int:
        """Raises PortRefused, StoreError."""
        with self._counted(DYNAMIC):
            return await self._draw()

    async def _draw(self) -> int:
        try:
            number = await self.allocation.draw(lambda taken: self.range.free(taken, self._rng))
        except NotInitialised as why:
            raise PortRefused(str(why)) from None
        if number is None:
            raise PortRefused(_FULL)
        return self.range.port(number)

    async def has(self, port: int) -> bool:
        number = self.range.number(port)
        return number is not None and await self.allocation.has(number)

    async def release(self, port: int) -> None:
        """Never raises: what is not let go now is found by the repair."""
        number = self.range.number(port)
        if number is None:
            return
        try:
            await self.allocation.release(number)
        except (NotInitialised, StoreError) as error:
            log.warning("node port %d is not released: %s", port, error)
        else:
            self._count()

    @contextmanager
    def _counted(self, scope: str) -> Iterator[None]:
        with counted(self.metrics, scope, failures=(PortRefused, StoreError)):
            yield
        self._count()

    def _count(self) -> None:
        self.metrics.holds(taken=self.allocation.count, size=self.range.size)


class PortOperation:
    """What one write takes, and gives back if nothing comes of it; a dry run takes nothing, and asks for no range."""

    def __init__(self, ports: NodePorts, *, dry_run: bool) -> None:
        self._ports = ports
        self._dry_run = dry_run
        self.taken: list[int] = []

    async def take(self, port: int) -> None:
        """Raises PortRefused, StoreError."""
        if not self._dry_run:
            await self._ports.take(port)
        elif port in self.taken or await self._ports.has(port):
            raise PortRefused(_ALLOCATED)
        self.taken.append(port)

    async def draw(self) -> int:
        """Raises PortRefused, StoreError."""
        port = max(self.taken, default=_DUMMY) + 1 if self._dry_run else await self._ports.draw()
        self.taken.append(port)
        return port

    async def roll_back(self) -> None:
        if not self._dry_run:
            for port in self.taken:
                await self._ports.release(port)


def _ports(service: Object) -> Iterator[int]:
    """Those of a Service; one that several protocols share counts once, one that a protocol has twice counts twice."""
    seen: dict[int, set[str]] = {}
    spec = service.get("spec") or {}
    used = [(port.get("nodePort", 0), port.get("protocol", "")) for port in spec.get("ports") or ()]
    for number, protocol in (*used, (spec.get("healthCheckNodePort", 0), "TCP")):
        protocols = seen.setdefault(number, set())
        if number and (not protocols or protocol in protocols):
            yield number
        protocols.add(protocol)
