"""When a failed item may come again (client-go util/workqueue default_rate_limiters.go)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from engine.clock import Clock


class RateLimiter(Protocol):
    def when(self, item: Hashable) -> float:
        """Seconds until the item may be tried again; counts as one more failure."""
        ...

    def forget(self, item: Hashable) -> None: ...

    def num_requeues(self, item: Hashable) -> int: ...


class ItemExponentialFailureRateLimiter:
    """base * 2^failures, at most `maximum`, for each item on its own."""

    def __init__(self, base: float = 0.005, maximum: float = 1000.0) -> None:
        self._base = base
        self._maximum = maximum
        self._failures: dict[Hashable, int] = {}

    def when(self, item: Hashable) -> float:
        failures = self._failures.get(item, 0)
        self._failures[item] = failures + 1
        return min(self._base * 2.0 ** min(failures, 60), self._maximum)

    def forget(self, item: Hashable) -> None:
        self._failures.pop(item, None)

    def num_requeues(self, item: Hashable) -> int:
        return self._failures.get(item, 0)


class TokenBucket:
    """`qps` tokens a second, at most `burst` saved up; starts full."""

    def __init__(self, clock: Clock, *, qps: float, burst: int) -> None:
        self._clock = clock
        self._qps = qps
        self._burst = float(burst)
        self._tokens = float(burst)
        self._updated = clock.monotonic()

    def try_accept(self) -> bool:
        """Take a token if there is one."""
        self._refill()
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True

    def reserve(self) -> float:
        """Take a token, on credit if need be; seconds until it is there."""
        self._refill()
        self._tokens -= 1.0
        return max(0.0, -self._tokens / self._qps)

    def _refill(self) -> None:
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._updated) * self._qps)
        self._updated = now


class BucketRateLimiter:
    """One bucket for all items together."""

    def __init__(self, bucket: TokenBucket) -> None:
        self._bucket = bucket

    def when(self, item: Hashable) -> float:
        return self._bucket.reserve()

    def forget(self, item: Hashable) -> None:
        """A bucket remembers no item."""

    def num_requeues(self, item: Hashable) -> int:
        return 0


class MaxOfRateLimiter:
    """The strictest of several."""

    def __init__(self, *limiters: RateLimiter) -> None:
        self._limiters = limiters

    def when(self, item: Hashable) -> float:
        return max(limiter.when(item) for limiter in self._limiters)

    def forget(self, item: Hashable) -> None:
        for limiter in self._limiters:
            limiter.forget(item)

    def num_requeues(self, item: Hashable) -> int:
        return max(limiter.num_requeues(item) for limiter in self._limiters)


def default_controller_rate_limiter(clock: Clock) -> RateLimiter:
    """Per item 5 ms doubling to 1000 s, over all 10 a second with bursts of 100."""
    return MaxOfRateLimiter(
        ItemExponentialFailureRateLimiter(0.005, 1000.0), BucketRateLimiter(TokenBucket(clock, qps=10.0, burst=100))
    )
