"""One simulated member: how long it takes to make an entry durable, and how far it is."""

from __future__ import annotations

from collections import deque

from engine.rng import Rng


class SimulatedMember:
    """`side` tells which part of a partitioned network it is in; members talk only within theirs."""

    def __init__(self, name: str, id: int, rng: Rng, fsync: tuple[float, float] | None) -> None:
        self.name = name
        self.id = id
        self.running = True
        self.side = 0
        self.slow = 0.0  # seconds that a fault adds to each answer of this member
        self.match_index = 0  # the newest entry that is durable here
        self.fsync_ms = 0.0  # what the newest took
        self._rng = rng
        self._bounds = fsync
        self._under_way: deque[tuple[float, int]] = deque()  # (when durable, index), in order
        self._busy_until = 0.0

    def append(self, index: int, now: float) -> float:
        """Take an entry; when it will be durable. Entries become so in order."""
        seconds = (self._rng.uniform(*self._bounds) / 1000 if self._bounds else 0.0) + self.slow
        self.fsync_ms = seconds * 1000
        self._busy_until = max(self._busy_until, now + seconds)
        self._under_way.append((self._busy_until, index))
        return self._busy_until

    def advance(self, now: float) -> None:
        """Note what has become durable by now."""
        while self._under_way and self._under_way[0][0] <= now:
            self.match_index = max(self.match_index, self._under_way.popleft()[1])

    def crash(self, now: float) -> None:
        """What is not durable yet is lost."""
        self.advance(now)
        self._under_way.clear()
        self._busy_until = now
