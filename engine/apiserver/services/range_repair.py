"""Sees to it that a range has what the Services have: when the server starts and every three minutes.

Source: pkg/registry/core/service/portallocator/controller/repair.go, and ipallocator/controller/repair.go of before
1.33. What is taken and no Service has may be of one that is about to be written, so it goes only when it has been found
like that three times.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from engine.api.types import Object
from engine.apiserver.backend import Backend
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.loopback import Loopback
from engine.apiserver.own_events import Says
from engine.apiserver.services.range_allocation import Numbers, RangeAllocation
from engine.store.types import StoreError

log = logging.getLogger(__name__)

INTERVAL = 180.0
LEAKED_FOR = 3  # looks, before what nobody has is let go


@dataclass(frozen=True, slots=True)
class Repaired:
    """A range, and how what is wrong with it is told. `held` is what a Service has of it, each with its name; the
    number is None where the range has none for it."""

    allocation: RangeAllocation
    held: Callable[[Object], Iterable[tuple[int | None, str]]]
    component: str
    reason: str
    place: str


class RangeRepair:
    def __init__(self, backend: Backend, loopback: Loopback, repaired: Repaired, services: WatchCache) -> None:
        self._clock = backend.world.clock
        self._store = backend.storage.store
        self._repaired = repaired
        self._services = services
        self._says = Says(loopback, backend.world, repaired.component)
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
            log.warning("unable to repair %s: %s", self._repaired.place, error)

    async def _look(self) -> bool:
        """Whether nobody else has changed the range meanwhile."""
        allocation = self._repaired.allocation
        kept = await allocation.read()
        await self._services.freshness.catch_up(self._store.revision)
        of_nobody = Numbers(kept.taken.bits)
        rebuilt = Numbers()
        for service in list(self._services.objects()):
            for number, name in self._repaired.held(service):
                wrong = self._rebuild(number, rebuilt, of_nobody)
                if wrong and kept.revision:  # of a new range there is nothing to tell
                    reason, text = wrong
                    await self._say(service, reason, f"{name} {text}")
        for number in of_nobody:
            left = self._leaks[number] = self._leaks.get(number, LEAKED_FOR) - 1
            if left > 0:
                rebuilt.put(number)
        return await allocation.replace(kept, rebuilt)

    def _rebuild(self, number: int | None, rebuilt: Numbers, of_nobody: Numbers) -> tuple[str, str] | None:
        """Take one number; returns what is wrong with it."""
        if number is None:
            return "OutOfRange", f"is not within {self._repaired.place}; please recreate service"
        if number in rebuilt:
            return "AlreadyAllocated", "was assigned to multiple services; please recreate service"
        rebuilt.put(number)
        self._leaks.pop(number, None)
        if number not in of_nobody:
            return "NotAllocated", "is not allocated; repairing"
        of_nobody.drop(number)
        return None

    async def _say(self, service: Object, reason: str, text: str) -> None:
        about = self._repaired.reason
        await self._says.series(service, f"{about}{reason}", f"{about}Allocation", text)
