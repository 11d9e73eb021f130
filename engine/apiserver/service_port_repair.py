"""Sees to it that the range of node ports has what the Services have: when the server starts and every three minutes.

Source: pkg/registry/core/service/portallocator/controller/repair.go. A port that is taken and that no Service has may
be of one that is about to be written, so it goes only when it has been found like that three times.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from engine.api.types import Object
from engine.apiserver.backend import Backend
from engine.apiserver.loopback import Loopback
from engine.apiserver.own_events import Says
from engine.apiserver.range_allocation import Numbers
from engine.apiserver.service_node_ports import NodePorts
from engine.apiserver.watch_cache import WatchCache
from engine.store.types import StoreError

log = logging.getLogger(__name__)

NAME = "portallocator-repair-controller"
INTERVAL = 180.0
LEAKED_FOR = 3  # looks, before a port is let go
_ACTION = "PortAllocation"


class ServicePortRepair:
    def __init__(self, backend: Backend, loopback: Loopback, ports: NodePorts, services: WatchCache) -> None:
        self._clock = backend.world.clock
        self._store = backend.storage.store
        self._ports = ports
        self._services = services
        self._says = Says(loopback, backend.world, NAME)
        self._leaks: dict[int, int] = {}  # how many more times a number may be found taken by nobody

    async def run(self) -> None:
        while True:
            await self._clock.sleep(INTERVAL)
            await self.look()

    async def look(self) -> None:
        """Never raises: a store that is away is asked again the next time."""
        try:
            while not await self._look():
                pass
        except (StoreError, ConnectionError) as error:
            log.warning("unable to repair the range of node ports: %s", error)

    async def _look(self) -> bool:
        """Whether nobody else has changed the range meanwhile."""
        kept = await self._ports.allocation.read()
        await self._services.freshness.catch_up(self._store.revision)
        of_nobody = Numbers(kept.taken.bits)
        rebuilt = Numbers()
        for service in list(self._services.objects()):
            for port in _node_ports(service):
                await self._rebuild(service, port, rebuilt, of_nobody)
        for number in of_nobody:
            left = self._leaks[number] = self._leaks.get(number, LEAKED_FOR) - 1
            if left > 0:
                rebuilt.put(number)
        return await self._ports.allocation.replace(kept, rebuilt)

    async def _rebuild(self, service: Object, port: int, rebuilt: Numbers, of_nobody: Numbers) -> None:
        number = self._ports.range.number(port)
        if number is None:
            text = f"Port {port} is not within the port range {self._ports.range.span}; please recreate service"
            await self._says.series(service, "PortOutOfRange", _ACTION, text)
            return
        if number in rebuilt:
            text = f"Port {port} was assigned to multiple services; please recreate service"
            await self._says.series(service, "PortAlreadyAllocated", _ACTION, text)
            return
        rebuilt.put(number)
        self._leaks.pop(number, None)
        if number in of_nobody:
            of_nobody.drop(number)
        else:
            text = f"Port {port} is not allocated; repairing"
            await self._says.series(service, "PortNotAllocated", _ACTION, text)


def _node_ports(service: Object) -> Iterator[int]:
    """Those of a Service; one that several protocols share counts once, one that a protocol has twice counts twice."""
    seen: dict[int, set[str]] = {}
    spec = service.get("spec") or {}
    used = [(port.get("nodePort", 0), port.get("protocol", "")) for port in spec.get("ports") or ()]
    for number, protocol in (*used, (spec.get("healthCheckNodePort", 0), "TCP")):
        protocols = seen.setdefault(number, set())
        if number and (not protocols or protocol in protocols):
            yield number
        protocols.add(protocol)
