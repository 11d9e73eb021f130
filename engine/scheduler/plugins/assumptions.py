"""Volumes and claims as they will be once the scheduler's writes are back (upstream's util/assumecache)."""

from __future__ import annotations

from typing import NamedTuple

from engine.api.types import GVR, Object
from engine.client.indexer import object_key
from engine.scheduler.framework.handle import Handle


class _Assumed(NamedTuple):
    obj: Object
    written: bool


class Assumptions:
    """An object that was assumed stands in for the lister's until the lister has another version; one that was written
    does so until the lister has that version or a later one."""

    def __init__(self, resource: GVR, handle: Handle) -> None:
        self._resource = resource
        self._handle = handle
        self._assumed: dict[str, _Assumed] = {}

    def assume(self, obj: Object) -> None:
        self._assumed[object_key(obj)] = _Assumed(obj, written=False)

    def wrote(self, obj: Object) -> None:
        """The API server has taken the object, and has answered with this version of it."""
        self._assumed[object_key(obj)] = _Assumed(obj, written=True)

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
        known, seen = (obj["metadata"].get("resourceVersion", "") for obj in (assumed.obj, actual))
        stands = int(seen or 0) < int(known or 0) if assumed.written else seen == known
        if not stands:
            del self._assumed[key]
            return actual
        return assumed.obj
