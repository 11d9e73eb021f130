"""Reading objects from inside the API server: its own loopback, as admission and subresources need it."""

from __future__ import annotations

from typing import Protocol

from engine.api.types import GVR, Object
from engine.apiserver.metrics.storage_metrics import Looks
from engine.store.types import InMemory


class Lookup(Protocol):
    """Answers with the newest state, or None. What it hands out is frozen."""

    async def find(self, gvr: GVR, namespace: str, name: str) -> Object | None: ...

    async def all(self, gvr: GVR, namespace: str) -> list[Object]: ...


class KeyState:
    """How the store has a key now: its generation is the revision that wrote it last. Who has looked at it in place of
    reading it tells its `looks`: it counts as what the store was asked."""

    __slots__ = ("_key", "_store", "looks")

    def __init__(self, store: InMemory, key: bytes, looks: Looks) -> None:
        self._store = store
        self._key = key
        self.looks = looks

    @property
    def generation(self) -> int:
        return self._store.mod_revision(self._key)


class StateLookup(Lookup, Protocol):
    """One that can also tell whether an object has changed."""

    def state(self, gvr: GVR, namespace: str, name: str) -> KeyState | None:
        """None where only who asks the store knows."""
        ...
