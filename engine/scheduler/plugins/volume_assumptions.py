"""Volumes and claims as they will be once the scheduler's writes are back (upstream's util/assumecache)."""

from __future__ import annotations

from engine.api.types import GVR, Object
from engine.client.indexer import object_key
from engine.scheduler.framework.handle import Handle


class Assumptions:
    """An object that was assumed stands in for the lister's until the lister has another version."""

    def __init__(self, resource: GVR, handle: Handle) -> None:
        self._resource = resource
        self._handle = handle
        self._assumed: dict[str, Object] = {}

    def assume(self, obj: Object) -> None:
        self._assumed[object_key(obj)] = obj

    def restore(self, obj: Object) -> None:
        self._assumed.pop(object_key(obj), None)

    def actual(self, name: str, namespace: str = "") -> Object | None:
        """What the API server has said last."""
        return self._handle.lister(self._resource).get(name, namespace)

    def get(self, name: str, namespace: str = "") -> Object | None:
        found = self.actual(name, namespace)
        return None if found is None else self._current(found)

    def list(self) -> list[Object]:
        return [self._current(obj) for obj in self._handle.lister(self._resource).list()]

    def _current(self, actual: Object) -> Object:
        key = object_key(actual)
        assumed = self._assumed.get(key)
        if assumed is None:
            return actual
        if assumed["metadata"].get("resourceVersion") != actual["metadata"].get("resourceVersion"):
            del self._assumed[key]
            return actual
        return assumed
