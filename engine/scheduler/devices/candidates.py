"""The devices that one request may choose among, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from engine.scheduler.devices.pools import Device
from engine.scheduler.devices.requests import AllocationError


class Candidates:
    """Found as the search comes to them: a selector that breaks on a device does no harm where the search ends before
    it. While one request is searched for nothing else is given or taken, so that they are found once."""

    __slots__ = ("_failure", "_found", "_known")

    def __init__(self, found: Iterator[Device]) -> None:
        """`found` may raise AllocationError."""
        self._found = found
        self._known: list[Device] = []
        self._failure: AllocationError | None = None

    def at(self, place: int) -> Device | None:
        """None behind the last. Raises AllocationError."""
        if place >= len(self._known) and not self._find(place + 1):
            if self._failure is not None:
                raise self._failure
            return None
        return self._known[place]

    def has(self, count: int, start: int) -> bool:
        """Whether there may be so many from a place on: one that breaks is left to who comes to it."""
        return start + count <= len(self._known) or self._find(start + count) or self._failure is not None

    def after(self, start: int) -> list[Device] | None:
        """All from a place on; None if one of them breaks."""
        self._find(inf)
        return self._known[start:] if self._failure is None else None

    def _find(self, count: float) -> bool:
        """Whether there are so many in all."""
        try:
            while self._failure is None and len(self._known) < count:
                self._known.append(next(self._found))
        except StopIteration:
            pass
        except AllocationError as failure:
            self._failure = failure
        return len(self._known) >= count
