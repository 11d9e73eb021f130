"""What a controller has done and not yet seen in its cache (pkg/controller/controller_utils.go).

After creating or deleting Pods a controller waits until its informer has shown them (or five minutes have passed)
before it counts again; else a slow cache would make it create the same Pods twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.clock import Clock

TIMEOUT = 300.0


@dataclass(slots=True)
class _Expected:
    since: float
    creations: int = 0
    deletions: dict[str, None] = field(default_factory=dict)  # keys of the objects


class Expectations:
    """By the key of the controlling object; deletions by the keys of what is deleted, so that each counts once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._expected: dict[str, _Expected] = {}

    def satisfied(self, key: str) -> bool:
        """Whether the controller may count what it sees."""
        expected = self._expected.get(key)
        if expected is None:
            return True
        if expected.creations <= 0 and not expected.deletions:
            return True
        return self._clock.monotonic() - expected.since > TIMEOUT

    def expect_creations(self, key: str, count: int) -> None:
        self.expect(key, creations=count, deletions=())

    def expect_deletions(self, key: str, objects: Iterable[str]) -> None:
        self.expect(key, creations=0, deletions=objects)

    def expect(self, key: str, *, creations: int, deletions: Iterable[str]) -> None:
        self._expected[key] = _Expected(self._clock.monotonic(), creations, dict.fromkeys(deletions))

    def creation_observed(self, key: str) -> None:
        if (expected := self._expected.get(key)) is not None and expected.creations > 0:
            expected.creations -= 1

    def deletion_observed(self, key: str, obj: str) -> None:
        if (expected := self._expected.get(key)) is not None:
            expected.deletions.pop(obj, None)

    def forget(self, key: str) -> None:
        self._expected.pop(key, None)
