"""What other servers answered, for as long as each answer is good (apimachinery pkg/util/cache LRUExpireCache)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from engine.clock import Clock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruExpireCache(Generic[K, V]):
    """Holds `size` answers; of more, the one that was looked for the longest ago goes."""

    def __init__(self, size: int, clock: Clock) -> None:
        self._size = size
        self._clock = clock
        self._entries: OrderedDict[K, tuple[V, float]] = OrderedDict()  # and until when each is good

    def get(self, key: K) -> V | None:
        if key not in self._entries:
            return None
        value, end = self._entries.pop(key)
        if self._clock.monotonic() >= end:
            return None
        self._entries[key] = value, end
        return value

    def put(self, key: K, value: V, seconds: float) -> None:
        """Keep an answer for so long; not at all for no time."""
        if seconds <= 0:
            return
        self._entries[key] = value, self._clock.monotonic() + seconds
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)
