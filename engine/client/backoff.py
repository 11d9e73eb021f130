"""An exponential back-off with jitter that forgets after a calm spell (apimachinery pkg/util/wait backoff.go)."""

from __future__ import annotations

from engine.clock import Clock
from engine.rng import Rng


class Backoff:
    """Seconds to wait before each further try. A pause of `reset_after` between two calls starts it afresh."""

    def __init__(
        self,
        clock: Clock,
        rng: Rng,
        *,
        initial: float,
        maximum: float,
        factor: float = 2.0,
        jitter: float = 0.0,
        reset_after: float = float("inf"),
    ) -> None:
        self._clock = clock
        self._rng = rng
        self._initial = initial
        self._maximum = maximum
        self._factor = factor
        self._jitter = jitter
        self._reset_after = reset_after
        self._seconds = initial
        self._last = clock.monotonic()

    def next(self) -> float:
        now = self._clock.monotonic()
        if now - self._last > self._reset_after:
            self._seconds = self._initial
        self._last = now
        seconds = self._seconds
        self._seconds = min(self._seconds * self._factor, self._maximum)
        return seconds + self._rng.random() * self._jitter * seconds
