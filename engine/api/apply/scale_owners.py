"""Who owns the replicas of an object, seen from its scale subresource and back.

Source of the behaviour: apimachinery pkg/util/managedfields/scalehandler.go. A Scale has entries of its own version;
what comes of them is written into the object in the object's version and without a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.api.apply.field_sets import MEMBER, FieldSet, difference, has
from engine.api.apply.managers import Managers, Owned, decode, encode
from engine.api.types import Object

_SCALE_VERSION = "autoscaling/v1"
_IN_SCALE: FieldSet = {"f:spec": {"f:replicas": MEMBER}}

# Where an object has its replicas in a version: nowhere if it has no scale there; None for a version that is not known.
ReplicasPath = Callable[[str], tuple[str, ...] | None]


def scale_owners(entries: Any, path_in: ReplicasPath) -> list[Object]:
    """The entries of the object that own its replicas, as those of its Scale."""
    found = []
    for identity, owned in (decode(entries) or {}).items():
        path = path_in(owned.api_version)
        if path and has(owned.fields, path):
            found.append((identity, Owned(_IN_SCALE, _SCALE_VERSION, owned.time)))
    return encode(found)


def owners_with_scale(entries: Any, scale_entries: Any, path_in: ReplicasPath, api_version: str) -> list[Object]:
    """The entries of the object after a write to its Scale, which may have taken the replicas from them."""
    of_scale = decode(scale_entries) or {}
    present = decode(entries) or {}
    kept: Managers = {}
    for identity, owned in present.items():
        path = path_in(owned.api_version)
        if path is None:
            continue
        if path and has(owned.fields, path) and of_scale.pop(identity, None) is None:
            left = difference(owned.fields, _set_of(path))
            if left:
                kept[identity] = Owned(left, owned.api_version, owned.time)
        else:
            kept[identity] = owned
    own = path_in(api_version)
    for identity, owned in of_scale.items() if own else ():
        if own and has(owned.fields, ("spec", "replicas")):
            before = present.get(identity)  # which gives way, whatever it owns
            kept[identity] = Owned(_set_of(own), api_version, before.time if before is not None else "")
    return encode(kept.items())


def _set_of(path: tuple[str, ...]) -> FieldSet:
    fields = MEMBER
    for name in reversed(path):
        fields = {f"f:{name}": fields}
    return fields
