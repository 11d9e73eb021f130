"""Between the version that a request speaks and the one that is stored.

Versions of one schema differ in their apiVersion alone; those that differ in more are in `engine.api.conversions`.
"""

from __future__ import annotations

from engine.api.conversions import CONVERSIONS
from engine.api.resources import ResourceInfo
from engine.api.types import GVK, Object


def from_storage(info: ResourceInfo, obj: Object) -> Object:
    """A stored object in the version of a resource; shares what is the same, so it is frozen as its source is."""
    if info.extension is not None:
        return info.extension.read(obj)
    return obj if info.storage_gvk == info.gvk else converted(obj, info.storage_gvk, info.gvk)


def to_storage(info: ResourceInfo, obj: Object) -> Object:
    if info.storage_gvk == info.gvk:
        return obj
    return info.extension.stored(obj) if info.extension is not None else converted(obj, info.gvk, info.storage_gvk)


def converted(obj: Object, source: GVK, target: GVK) -> Object:
    """An object of one version in another."""
    pair = CONVERSIONS.get((source, target))
    made = pair(obj) if pair is not None else dict(obj)
    made["apiVersion"], made["kind"] = target.api_version, target.kind
    return made
