"""Whether the cache shows yet what this controller wrote last (as upstream's StaleEndpointsTracker does for Endpoints).

A reconcile on an object that is older than its own last write could only run into a conflict: it is put off instead.
"""

from __future__ import annotations

from engine.api.types import Object
from engine.client import object_key
from engine.client.origin import revision_of
from engine.controllers.controller import RetryLaterError


class OwnWrites:
    """The newest revision written of each object of one kind, while the cache is behind it."""

    def __init__(self) -> None:
        self._written: dict[str, int] = {}

    def note(self, written: Object) -> Object:
        """Remember a write by its response, which is handed back."""
        self._written[object_key(written)] = revision_of(written)
        return written

    def check(self, cached: Object) -> None:
        """Raises RetryLaterError if the cached object is older than what was written."""
        key = object_key(cached)
        written = self._written.get(key)
        if written is None:
            return
        if revision_of(cached) < written:
            raise RetryLaterError(f"the cache does not show {key} at resource version {written} yet")
        del self._written[key]

    def forget(self, key: str) -> None:
        self._written.pop(key, None)
