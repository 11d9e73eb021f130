"""Pods that are being scheduled, and what happened meanwhile (upstream's backend/queue/active_queue.go).

An event that comes while a pod is tried may be what would let it fit: it is kept until the pod is back and asked about.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any, NamedTuple

from engine.scheduler.framework.events import ClusterEvent


class Happened(NamedTuple):
    sequence: int
    event: ClusterEvent
    old: Any
    new: Any


class InFlight:
    def __init__(self) -> None:
        self._since: dict[str, int] = {}  # uid to the sequence at which its attempt began; the oldest first
        self._events: deque[Happened] = deque()
        self._sequence = 0

    def __contains__(self, uid: str) -> bool:
        return uid in self._since

    def __len__(self) -> int:
        return len(self._since)

    def begin(self, uid: str) -> None:
        self._since[uid] = self._sequence

    def happened(self, event: ClusterEvent, old: Any, new: Any) -> None:
        """Keep an event as long as a pod is in flight that has not been asked about it."""
        if self._since:
            self._sequence += 1
            self._events.append(Happened(self._sequence, event, old, new))

    def since(self, uid: str) -> list[Happened]:
        """What happened since this pod's attempt began."""
        start = self._since.get(uid)
        return [] if start is None else [h for h in self._events if h.sequence > start]

    def counts(self) -> dict[str, int]:
        """How many events are kept, by what they are."""
        return Counter(happened.event.label for happened in self._events)

    def done(self, uid: str) -> None:
        if self._since.pop(uid, None) is None:
            return
        oldest = next(iter(self._since.values()), self._sequence)
        while self._events and self._events[0].sequence <= oldest:
            self._events.popleft()
