"""Exponential back-off by key, from 10 s doubling to 5 min, forgotten after 10 min (client-go util/flowcontrol)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.clock import Clock

INITIAL = 10.0
MAXIMUM = 300.0


@dataclass(slots=True)
class _Entry:
    seconds: float
    last_update: float


class Backoff:
    """Times are the clock's model seconds."""

    def __init__(self, clock: Clock, *, initial: float = INITIAL, maximum: float = MAXIMUM) -> None:
        self._clock = clock
        self._initial = initial
        self._maximum = maximum
        self._entries: dict[str, _Entry] = {}

    def get(self, key: str) -> float:
        """The back-off that stands for a key, in seconds."""
        entry = self._entries.get(key)
        return entry.seconds if entry is not None else 0.0

    def next(self, key: str, since: float) -> None:
        """Something failed at `since`: begin, or double."""
        entry = self._entries.get(key)
        now = self._clock.monotonic()
        if entry is None or self._expired(entry, since):
            self._entries[key] = _Entry(self._initial, now)
        else:
            entry.seconds = min(entry.seconds * 2, self._maximum)
            entry.last_update = now

    def remaining_since(self, key: str, since: float) -> float:
        """How long a key that failed at `since` has still to wait; 0 for not at all."""
        entry = self._entries.get(key)
        if entry is None or self._expired(entry, since):
            return 0.0
        return max(0.0, since + entry.seconds - self._clock.monotonic())

    def remaining(self, key: str) -> float:
        """The same, counted from the last `next`."""
        entry = self._entries.get(key)
        return self.remaining_since(key, entry.last_update) if entry is not None else 0.0

    def _expired(self, entry: _Entry, since: float) -> bool:
        return since - entry.last_update > 2 * self._maximum

    def forget(self, prefix: str) -> None:
        """Drop all keys of a Pod that is gone."""
        for key in [key for key in self._entries if key.startswith(prefix)]:
            del self._entries[key]
