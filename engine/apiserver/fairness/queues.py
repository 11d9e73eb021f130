"""The queues of one priority level, and whose turn it is (apiserver pkg/util/flowcontrol/fairqueuing/queueset).

A queue is charged for the time that its requests take: first a guess, then what it was. The next request is that of the
queue that has been given least.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.apiserver.fairness.flow_classifier import Flow
from engine.apiserver.fairness.metrics import FlowFigures
from engine.apiserver.fairness.shuffle_sharding import deal
from engine.apiserver.request_info import RequestInfo

GUESS = 60.0  # seconds that a request may take, estimatedServiceDuration


@dataclass(slots=True, eq=False)
class Claim:
    """A request's claim to a seat; `turn` comes true when one that waits may go on. Times are in seconds since 1970."""

    flow: Flow
    distinguisher: str
    user: str
    info: RequestInfo
    arrived: float
    figures: FlowFigures
    queue: Queue | None = None
    turn: asyncio.Future[None] | None = None
    started: float | None = None


@dataclass(slots=True, eq=False)
class Queue:
    number: int
    waiting: deque[Claim] = field(default_factory=deque)
    executing: int = 0
    given: float = 0.0

    @property
    def load(self) -> int:
        return len(self.waiting) + self.executing


class Queues:
    """A queue is made when a request is first dealt it: levels have hundreds, and most of them never get one."""

    def __init__(self, *, queues: int, hand: int, length: int) -> None:
        self.shape = (queues, hand, length)
        self._count = queues
        self._queues: dict[int, Queue] = {}
        self._hand = hand
        self._length = length
        self._given = 0.0  # to the queue whose turn it was last: one that was empty starts from here
        self._last = -1
        self.waiting = 0

    def choose(self, hash_value: int) -> Queue:
        """The queue of a flow's hand that has least to do."""
        hand = deal(hash_value, self._count, self._hand)
        return min((self._queue(number) for number in hand), key=lambda queue: queue.load)

    def __iter__(self) -> Iterator[Queue]:
        """All of them, by their numbers."""
        return map(self._queue, range(self._count))

    def _queue(self, number: int) -> Queue:
        queue = self._queues.get(number)
        if queue is None:
            queue = self._queues[number] = Queue(number)
        return queue

    def put(self, queue: Queue, claim: Claim) -> asyncio.Future[None] | None:
        """What comes true when it is the request's turn; None where the queue is full."""
        if len(queue.waiting) >= self._length:
            return None
        self._catch_up(queue)
        claim.turn = asyncio.get_running_loop().create_future()
        queue.waiting.append(claim)
        self.waiting += 1
        return claim.turn

    def give_up(self, queue: Queue, claim: Claim) -> None:
        queue.waiting.remove(claim)
        self.waiting -= 1

    def next(self) -> Claim:
        """Let the first of the queue whose turn it is go on."""
        due = (queue for queue in self._queues.values() if queue.waiting)
        queue = min(due, key=lambda each: (each.given, (each.number - self._last - 1) % self._count))
        self._given, self._last = queue.given, queue.number
        claim = queue.waiting.popleft()
        self.waiting -= 1
        self._charge(queue)
        if claim.turn is not None:
            claim.turn.set_result(None)
        return claim

    def begin(self, queue: Queue) -> None:
        """Let a request go on at once."""
        self._catch_up(queue)
        self._charge(queue)

    def _catch_up(self, queue: Queue) -> None:
        """What a queue was not given while it wanted nothing does not count."""
        if not queue.load:
            queue.given = max(queue.given, self._given)

    def _charge(self, queue: Queue) -> None:
        queue.executing += 1
        queue.given += GUESS

    def end(self, queue: Queue, seconds: float) -> None:
        queue.executing -= 1
        queue.given -= GUESS - seconds
