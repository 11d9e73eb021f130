"""Whether the cache shows yet what this controller wrote last (as upstream's StaleEndpointsTracker does for Endpoints).

A reconcile on an object that is older than its own last write could only run into a conflict: it is put off instead.
"""

from __future__ import annotations

from engine.api.types import Object
from engine.client import object_key
from engine.client.origin import revision_of
from engine.clock import Clock
from engine.controllers.controller import RetryLaterError

# After this a cache that lags is no reason any more: the store may have been set back to an earlier revision.
PATIENCE = 30.0


class OwnWrites:
    """The newest revision written of each object of one kind, while the cache is behind it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._written: dict[str, tuple[int, float]] = {}

    def note(self, written: Object) -> Object:
        """Remember a write by its response, which is handed back."""
        self._written[object_key(written)] = revision_of(written), self._clock.monotonic()
        return written

    def check(self, cached: Object) -> None:
        """Raises RetryLaterError if the cached object is older than what was written."""
        self._check(object_key(cached), revision_of(cached))

    def check_absent(self, key: str) -> None:
        """Raises RetryLaterError if the object was written, is not in the cache, and was not seen to go (`forget`)."""
        self._check(key, 0)

    def _check(self, key: str, cached: int) -> None:
        if key not in self._written:
            return
        revision, since = self._written[key]
        if cached < revision and self._clock.monotonic() - since < PATIENCE:
            raise RetryLaterError(f"the cache does not show {key} at resource version {revision} yet")
        del self._written[key]

    def forget(self, key: str) -> None:
        self._written.pop(key, None)
