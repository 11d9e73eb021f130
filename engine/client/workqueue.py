"""The rate-limited, de-duplicating work queue between informers and reconcilers (client-go util/workqueue).

A key is in the queue once, however often it is added; while it is being processed a further add is kept back until
`done`, so that no two workers ever hold one key. What woke a key, its origins, is merged and handed out with it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

from engine.client.origin import Origin
from engine.client.queue_metrics import QueueMetrics
from engine.client.ratelimiter import RateLimiter, default_controller_rate_limiter
from engine.clock import Clock, Timer

K = TypeVar("K", bound=Hashable)

# A key that waits long is woken often: its first origins (they lead back to the keystroke) and no more are kept.
MAX_ORIGINS = 100


class QueueShutDownError(Exception):
    """The queue was shut down and is empty: the worker may go."""


class _Waiting(NamedTuple):
    due: float
    timer: Timer


class WorkQueue(Generic[K]):
    """Keys of work. `limiter` is client-go's default unless another is given."""

    def __init__(self, clock: Clock, *, limiter: RateLimiter | None = None) -> None:
        self._clock = clock
        self._limiter = limiter or default_controller_rate_limiter(clock)
        self._queue: deque[K] = deque()
        self._dirty: set[K] = set()  # all that need processing
        self._processing: dict[K, None] = {}
        self._origins: dict[K, list[Origin]] = {}
        self._waiting: dict[K, _Waiting] = {}
        self._getters: deque[asyncio.Future[None]] = deque()
        self._drained: asyncio.Event = asyncio.Event()
        self._shutting_down = False
        self.metrics = QueueMetrics(clock)

    # -- adding

    def add(self, key: K, *origins: Origin | None) -> None:
        """Mark a key as needing work. Does nothing once the queue is shutting down."""
        if self._shutting_down:
            return
        self._note(key, origins)
        if key in self._dirty:
            return
        self.metrics.add(key)
        self._dirty.add(key)
        if key not in self._processing:
            self._queue.append(key)
            self._wake()

    def add_after(self, key: K, seconds: float, *origins: Origin | None) -> None:
        """Add a key after a while; of several such, the earliest stands."""
        if self._shutting_down:
            return
        self.metrics.retry()
        if seconds <= 0:
            self.add(key, *origins)
            return
        self._note(key, origins)
        due = self._clock.monotonic() + seconds
        waiting = self._waiting.get(key)
        if waiting is not None:
            if waiting.due <= due:
                return
            waiting.timer.cancel()
        self._waiting[key] = _Waiting(due, self._clock.call_at(due, lambda: self._ready(key)))

    def add_rate_limited(self, key: K, *origins: Origin | None) -> None:
        """Add a key that failed, when the rate limiter lets it."""
        self.add_after(key, self._limiter.when(key), *origins)

    def forget(self, key: K) -> None:
        """The key succeeded, or is given up: its failures no longer count."""
        self._limiter.forget(key)

    def num_requeues(self, key: K) -> int:
        return self._limiter.num_requeues(key)

    def _note(self, key: K, origins: tuple[Origin | None, ...]) -> None:
        known = self._origins.setdefault(key, [])
        known += [origin for origin in origins if origin is not None][: MAX_ORIGINS - len(known)]

    def _ready(self, key: K) -> None:
        self._waiting.pop(key, None)
        self.add(key)

    # -- taking

    async def get(self) -> tuple[K, list[Origin]]:
        """The next key and what woke it; call `done` when it is processed. Raises QueueShutDownError at the end."""
        while not self._queue:
            if self._shutting_down:
                raise QueueShutDownError
            getter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._getters.append(getter)
            try:
                await getter
            except asyncio.CancelledError:
                if getter.done() and not getter.cancelled():
                    self._wake()  # it was for us, and we go: the next one must hear of it
                elif getter in self._getters:  # a wake-up that came after the cancel has passed us over already
                    self._getters.remove(getter)
                raise
        key = self._queue.popleft()
        self.metrics.get(key)
        self._processing[key] = None
        self._dirty.discard(key)
        return key, self._origins.pop(key, [])

    def done(self, key: K) -> None:
        """The key is processed. If it was added meanwhile, it goes into the queue now."""
        self.metrics.done(key)
        self._processing.pop(key, None)
        if key in self._dirty:
            self._queue.append(key)
            self._wake()
        elif not self._processing:
            self._drained.set()

    def _wake(self) -> None:
        while self._getters:
            getter = self._getters.popleft()
            if not getter.done():
                getter.set_result(None)
                return

    # -- shutting down

    def shut_down(self) -> None:
        """Take nothing more; what is queued is still handed out, then `get` raises. Ends a wait for the drain."""
        self._drained.set()
        self._stop_taking()

    def _stop_taking(self) -> None:
        self._shutting_down = True
        for waiting in self._waiting.values():
            waiting.timer.cancel()
        self._waiting.clear()
        while self._getters:
            self._wake()

    async def shut_down_with_drain(self) -> None:
        """Shut down and wait until all that is being processed is done, and done again where it was added meanwhile."""
        self._drained.clear()
        self._stop_taking()
        if self._processing:
            await self._drained.wait()

    # -- looking

    def __len__(self) -> int:
        """How many keys are ready to be taken."""
        return len(self._queue)

    def queued(self) -> list[K]:
        return list(self._queue)

    def processing(self) -> list[K]:
        return list(self._processing)

    def waiting(self) -> dict[K, float]:
        """The keys that wait for their time, with the seconds left."""
        now = self._clock.monotonic()
        return {key: max(0.0, waiting.due - now) for key, waiting in self._waiting.items()}
