"""Catches whoever changes an object of the cache in place (client-go mutation_detector.go; design, law 7)."""

from __future__ import annotations

import orjson

from engine.api.types import Object


class MutatedObjectError(AssertionError):
    """An object that was handed out is no longer what it was."""


class MutationDetector:
    """Remembers each object as it came in; `check` compares."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[Object, bytes]] = {}

    def remember(self, key: str, obj: Object) -> None:
        self._compare(key)
        self._seen[key] = (obj, orjson.dumps(obj))

    def forget(self, key: str) -> None:
        self._compare(key)
        self._seen.pop(key, None)

    def check(self) -> None:
        """Raises MutatedObjectError."""
        for key in self._seen:
            self._compare(key)

    def _compare(self, key: str) -> None:
        if key not in self._seen:
            return
        obj, before = self._seen[key]
        after = orjson.dumps(obj)
        if after != before:
            raise MutatedObjectError(f"{key} was changed in the cache\nwas: {before.decode()}\nis:  {after.decode()}")
