"""The seats of each priority level: who may run, who waits, who is sent away.

Source: apiserver pkg/util/flowcontrol (apf_controller.go, apf_filter.go), pkg/server/filters/priority-and-fairness.go.
It departs from upstream in two things: a request takes one seat, however many objects it lists, and seats that a level
lends go to others at once, where upstream shifts them every ten seconds.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

from engine.api.errors import PlainTextError
from engine.api.types import Object
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.fairness.queues import Queue, Queues
from engine.apiserver.fairness.shuffle_sharding import flow_hash
from engine.apiserver.flow_classifier import Flow
from engine.apiserver.request_info import RequestInfo
from engine.apiserver.watch_cache import WatchCache
from engine.clock import Clock

SEATS = 600  # --max-requests-inflight and --max-mutating-requests-inflight
WAIT_SECONDS = 15.0  # a quarter of --request-timeout
RETRY_AFTER = 1


@dataclass(slots=True)
class Level:
    """`borrowing` is how many seats more than its own it may have at most, None for any number."""

    name: str
    exempt: bool = False
    nominal: int = 0
    lendable: int = 0
    borrowing: int | None = None
    rejects: bool = True  # whether nobody waits
    queues: Queues | None = None
    executing: int = 0

    @property
    def waiting(self) -> int:
        return self.queues.waiting if self.queues is not None else 0

    @property
    def idle(self) -> int:
        """The seats that it does not need, of those that it lends."""
        return max(0, min(self.lendable, self.nominal - self.executing - self.waiting))


class Seat:
    """A request's own; `leave` gives it up, and may be called twice."""

    def __init__(self, levels: PriorityLevels, level: Level, queue: Queue | None, now: float) -> None:
        self._levels = levels
        self.level, self.queue, self.since = level, queue, now
        self._left = False

    def leave(self) -> None:
        if not self._left:
            self._left = True
            self._levels.leave(self)


class PriorityLevels:
    def __init__(self, clock: Clock, cache: WatchCache, *, seats: int = SEATS) -> None:
        self._clock = clock
        self._cache = cache
        self._seats = seats
        self._seen = -1
        self._levels: dict[str, Level] = {}

    async def enter(self, flow: Flow, user: UserInfo, info: RequestInfo) -> Seat | None:
        """A seat of the flow's level, waited for if need be; None where none is needed. Raises ApiError 429."""
        level = self._current().get(flow.level_name)
        if level is None or level.exempt:
            return None
        queue = None
        if level.queues is not None and not level.rejects:
            distinguisher = {"ByUser": user.name, "ByNamespace": info.namespace}.get(flow.distinguisher, "")
            queue = level.queues.choose(flow_hash(flow.schema_name, distinguisher))
        if not level.waiting and self._has_room(level):
            level.executing += 1
            if level.queues is not None and queue is not None:
                level.queues.begin(queue)
        elif level.queues is None or queue is None:
            raise _too_many()
        else:
            await self._wait(level, level.queues, queue)
        return Seat(self, level, queue, self._clock.monotonic())

    async def _wait(self, level: Level, queues: Queues, queue: Queue) -> None:
        turn = queues.put(queue)
        if turn is None:
            raise _too_many()
        try:
            async with self._clock.timeout(WAIT_SECONDS):
                await asyncio.shield(turn)
        except TimeoutError:
            if not turn.done():  # else it came in the last moment
                queues.give_up(queue, turn)
                raise _too_many() from None
        except asyncio.CancelledError:
            if turn.done():
                Seat(self, level, queue, self._clock.monotonic()).leave()
            else:
                queues.give_up(queue, turn)
            raise

    def leave(self, seat: Seat) -> None:
        level = seat.level
        level.executing -= 1
        if level.queues is not None and seat.queue is not None:
            level.queues.end(seat.queue, self._clock.monotonic() - seat.since)
        for each in self._levels.values():
            while each.queues is not None and each.waiting and self._has_room(each):
                each.executing += 1
                each.queues.next()

    def _has_room(self, level: Level) -> bool:
        if level.executing < level.nominal:
            return True
        if level.borrowing is not None and level.executing - level.nominal >= level.borrowing:
            return False
        others = self._levels.values()
        lent = sum(max(0, each.executing - each.nominal) for each in others)
        return sum(each.idle for each in others if each is not level) > lent

    # -- what the configurations say

    def _current(self) -> dict[str, Level]:
        if self._seen != self._cache.generation:
            self._seen = self._cache.generation
            found = {each["metadata"]["name"]: each["spec"] for each in self._cache.objects()}
            total = sum(_limits(spec).get("nominalConcurrencyShares", 0) for spec in found.values())
            for name, spec in found.items():
                _configure(self._levels.setdefault(name, Level(name)), spec, total, self._seats)
            for name in [name for name, level in self._levels.items() if name not in found and not level.executing]:
                del self._levels[name]
        return self._levels


def _limits(spec: Object) -> Object:
    limits: Object = spec.get("exempt" if spec.get("type") == "Exempt" else "limited") or {}
    return limits


def _configure(level: Level, spec: Object, total: int, seats: int) -> None:
    limits = _limits(spec)
    level.exempt = spec.get("type") == "Exempt"
    level.nominal = math.ceil(seats * limits.get("nominalConcurrencyShares", 0) / total) if total else 0
    level.lendable = round(level.nominal * limits.get("lendablePercent", 0) / 100)
    percent = limits.get("borrowingLimitPercent")
    level.borrowing = None if percent is None else round(level.nominal * percent / 100)
    response = limits.get("limitResponse") or {}
    queuing = response.get("queuing") or {}
    shape = (queuing.get("queues", 64), queuing.get("handSize", 8), queuing.get("queueLengthLimit", 50))
    level.rejects = response.get("type") != "Queue"
    if not level.rejects and (level.queues is None or (level.queues.shape != shape and not level.waiting)):
        queues, hand, length = shape
        level.queues = Queues(queues=queues, hand=hand, length=length)


def _too_many() -> PlainTextError:
    error = PlainTextError(429, "Too many requests, please try again later.")
    error.retry_after = RETRY_AFTER
    return error
