"""The seats of each priority level: who may run, who waits, who is sent away.

Source: apiserver pkg/util/flowcontrol (apf_controller.go, apf_filter.go), pkg/server/filters/priority-and-fairness.go.
It departs from upstream in two things: a request takes one seat, however many objects it lists, and seats that a level
lends go to others at once, where upstream shifts them every ten seconds.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.api.errors import PlainTextError
from engine.api.types import Object
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.fairness.flow_classifier import Flow
from engine.apiserver.fairness.metrics import CANCELLED, CONCURRENCY_LIMIT, QUEUE_FULL, TIME_OUT, FairnessMetrics
from engine.apiserver.fairness.queues import Claim, Queue, Queues
from engine.apiserver.fairness.shuffle_sharding import flow_hash
from engine.apiserver.metrics.waits import waiting
from engine.apiserver.request_info import RequestInfo
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
    quiescing: bool = False  # its configuration is gone, and not yet all that it was for
    running: dict[Claim, None] = field(default_factory=dict)
    dispatched: int = 0
    rejected: int = 0
    timed_out: int = 0
    cancelled: int = 0

    @property
    def least(self) -> int:
        return self.nominal - self.lendable

    def most(self, seats: int) -> int:
        return seats if self.borrowing is None else self.nominal + self.borrowing

    @property
    def executing(self) -> int:
        return len(self.running)

    @property
    def waiting(self) -> int:
        return self.queues.waiting if self.queues is not None else 0

    @property
    def idle(self) -> int:
        """The seats that it does not need, of those that it lends."""
        return max(0, min(self.lendable, self.nominal - self.executing - self.waiting))


class Seat:
    """A request's own; `leave` gives it up, and may be called twice."""

    def __init__(self, levels: PriorityLevels, level: Level, claim: Claim) -> None:
        self._levels = levels
        self.level, self.claim = level, claim
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
        self._quiescing = False  # whether any of them is
        self.metrics = FairnessMetrics()

    def __iter__(self) -> Iterator[Level]:
        """By name."""
        return iter(sorted(self._current().values(), key=lambda level: level.name))

    async def enter(self, flow: Flow, user: UserInfo, info: RequestInfo) -> Seat | None:
        """A seat of the flow's level, waited for if need be; None where there is no level. Raises ApiError 429."""
        level = self._current().get(flow.level_name)
        if level is None:
            return None
        by = flow.distinguisher
        distinguisher = user.name if by == "ByUser" else info.namespace if by == "ByNamespace" else ""
        figures = self.metrics.flow(level.name, flow.schema_name)
        claim = Claim(flow, distinguisher, user.name, info, self._clock.posix(), figures)
        if level.queues is not None and not level.rejects:
            claim.queue = level.queues.choose(flow_hash(flow.schema_name, distinguisher))
        if level.exempt or (not level.waiting and self._has_room(level)):
            _begin(level, claim, claim.arrived)
            if level.queues is not None and claim.queue is not None:
                level.queues.begin(claim.queue)
                claim.figures.at_once += 1
        elif level.queues is None or claim.queue is None:
            raise self._refused(level, claim, CONCURRENCY_LIMIT)
        else:
            await self._wait(level, level.queues, claim.queue, claim)
        return Seat(self, level, claim)

    async def _wait(self, level: Level, queues: Queues, queue: Queue, claim: Claim) -> None:
        turn = queues.put(queue, claim)
        if turn is None:
            raise self._refused(level, claim, QUEUE_FULL)
        labels = _labels(level, claim)
        self.metrics.lengths.observe(len(queue.waiting), *labels)
        self.metrics.waiting.add(*labels)
        try:
            with waiting():
                async with self._clock.timeout(WAIT_SECONDS):
                    await asyncio.shield(turn)
        except TimeoutError:
            if not turn.done():  # else it came in the last moment
                queues.give_up(queue, claim)
                level.timed_out += 1
                raise self._refused(level, claim, TIME_OUT) from None
        except asyncio.CancelledError:
            if turn.done():
                Seat(self, level, claim).leave()
            else:
                queues.give_up(queue, claim)
                level.cancelled += 1
                self._refused(level, claim, CANCELLED)
            raise
        finally:
            self.metrics.waiting.add(*labels, by=-1)
            waited = (claim.started or self._clock.posix()) - claim.arrived
            self.metrics.waits.observe(waited, *labels, str(claim.started is not None).lower())

    def _refused(self, level: Level, claim: Claim, reason: str) -> PlainTextError:
        level.rejected += 1
        self.metrics.rejected.add(*_labels(level, claim), reason)
        error = PlainTextError(429, "Too many requests, please try again later.")
        error.retry_after = RETRY_AFTER
        return error

    def leave(self, seat: Seat) -> None:
        level, queue = seat.level, seat.claim.queue
        del level.running[seat.claim]
        figures = seat.claim.figures
        figures.executing -= 1
        if seat.claim.started is not None:
            took = self._clock.posix() - seat.claim.started
            (figures.watching if seat.claim.info.watching else figures.regular).observe(took)
            if level.queues is not None and queue is not None:
                level.queues.end(queue, took)
        for each in self._levels.values():
            queues = each.queues
            while queues is not None and queues.waiting and self._has_room(each):
                _begin(each, queues.next(), self._clock.posix())

    def _has_room(self, level: Level) -> bool:
        if level.executing < level.nominal:
            return True
        if level.borrowing is not None and level.executing - level.nominal >= level.borrowing:
            return False
        others = self._levels.values()
        lent = sum(max(0, each.executing - each.nominal) for each in others if not each.exempt)
        return sum(each.idle for each in others if each is not level) > lent

    # -- what the configurations say

    def _current(self) -> dict[str, Level]:
        if self._seen != self._cache.generation:
            self._seen = self._cache.generation
            found = {each["metadata"]["name"]: each["spec"] for each in self._cache.objects()}
            total = sum(_limits(spec).get("nominalConcurrencyShares", 0) for spec in found.values())
            for name, spec in found.items():
                _configure(self._levels.setdefault(name, Level(name)), spec, total, self._seats)
            self._quiescing = not found.keys() >= self._levels.keys()
            for level in self._levels.values():
                level.quiescing = level.name not in found
                self.metrics.limits(level.name, level.nominal, level.least, level.most(self._seats))
        if self._quiescing:
            for name in [each.name for each in self._levels.values() if each.quiescing and not each.executing]:
                del self._levels[name]
        return self._levels


def _begin(level: Level, claim: Claim, now: float) -> None:
    claim.started = now
    level.running[claim] = None
    level.dispatched += 1
    claim.figures.dispatched += 1
    claim.figures.executing += 1


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
    if level.rejects and not level.waiting:
        level.queues = None
    elif not level.rejects and (level.queues is None or (level.queues.shape != shape and not level.waiting)):
        queues, hand, length = shape
        level.queues = Queues(queues=queues, hand=hand, length=length)


def _labels(level: Level, claim: Claim) -> tuple[str, str]:
    return level.name, claim.flow.schema_name
