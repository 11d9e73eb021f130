"""What a dump lacks of what decides: kinds that it has none of, though its Pods or every cluster's rules speak of them.

Decisions on such a dump are right for it, and may be wrong for the cluster that it was taken from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.api.types import Object
from engine.scheduler.whatif.cluster import group_kind

_OWNERS = frozenset(("ReplicaSet", "StatefulSet", "ReplicationController"))  # by which Pods are spread by default
_BUILT_IN = "system-"


def lacking(objects: Iterable[Object]) -> list[str]:
    """The kinds, in order. The objects are those of a dump that could be read."""
    there, needed = set[str](), {"Service"}  # no cluster is without the Service kubernetes
    for obj in objects:
        kind = group_kind(obj)[1]
        there.add(kind)
        if kind == "Pod":
            needed.update(_named_by(obj))
        elif kind == "PersistentVolumeClaim":
            needed.update(_named_by_claim(obj.get("spec") or {}))
    return sorted(needed - there)


def _named_by(pod: Object) -> Iterator[str]:
    """Kinds of objects that a Pod names, by which it is placed."""
    spec = pod.get("spec") or {}
    for owner in pod["metadata"].get("ownerReferences") or ():
        if owner.get("controller") and owner.get("kind") in _OWNERS:
            yield str(owner["kind"])
    for volume in spec.get("volumes") or ():
        if volume.get("persistentVolumeClaim") or volume.get("ephemeral"):
            yield "PersistentVolumeClaim"
    if spec.get("resourceClaims"):
        yield from ("ResourceClaim", "ResourceSlice", "DeviceClass")
    if _selects_namespaces(spec.get("affinity") or {}):
        yield "Namespace"
    if not str(spec.get("priorityClassName") or _BUILT_IN).startswith(_BUILT_IN):
        yield "PriorityClass"


def _selects_namespaces(affinity: Object) -> bool:
    for side in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(side) or {}
        terms = [
            *(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()),
            *(
                weighted.get("podAffinityTerm") or {}
                for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
            ),
        ]
        if any(term.get("namespaceSelector") for term in terms):
            return True
    return False


def _named_by_claim(spec: Object) -> Iterator[str]:
    if spec.get("volumeName"):
        yield "PersistentVolume"
    if spec.get("storageClassName"):
        yield "StorageClass"
