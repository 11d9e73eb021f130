"""The queues of one priority level, and whose turn it is (apiserver pkg/util/flowcontrol/fairqueuing/queueset).

A queue is charged for the time that its requests take: first a guess, then what it was. The next request is that of the
queue that has been given least.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from engine.apiserver.fairness.shuffle_sharding import deal

GUESS = 60.0  # seconds that a request may take, estimatedServiceDuration


@dataclass(slots=True)
class Queue:
    number: int
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    executing: int = 0
    given: float = 0.0

    @property
    def load(self) -> int:
        return len(self.waiting) + self.executing


class Queues:
    def __init__(self, *, queues: int, hand: int, length: int) -> None:
        self.shape = (queues, hand, length)
        self._queues = [Queue(number) for number in range(queues)]
        self._hand = hand
        self._length = length
        self._given = 0.0  # to the queue whose turn it was last: one that was empty starts from here
        self._last = -1
        self.waiting = 0

    def choose(self, hash_value: int) -> Queue:
        """The queue of a flow's hand that has least to do."""
        hand = deal(hash_value, len(self._queues), self._hand)
        return min((self._queues[number] for number in hand), key=lambda queue: queue.load)

    def put(self, queue: Queue) -> asyncio.Future[None] | None:
        """What comes true when it is the request's turn; None where the queue is full."""
        if len(queue.waiting) >= self._length:
            return None
        self._catch_up(queue)
        turn = asyncio.get_running_loop().create_future()
        queue.waiting.append(turn)
        self.waiting += 1
        return turn

    def give_up(self, queue: Queue, turn: asyncio.Future[None]) -> None:
        queue.waiting.remove(turn)
        self.waiting -= 1

    def next(self) -> None:
        """Let the first of the queue whose turn it is go on."""
        count = len(self._queues)
        due = (queue for queue in self._queues if queue.waiting)
        queue = min(due, key=lambda each: (each.given, (each.number - self._last - 1) % count))
        self._given, self._last = queue.given, queue.number
        turn = queue.waiting.popleft()
        self.waiting -= 1
        self._charge(queue)
        turn.set_result(None)

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
