"""PersistentVolumeClaims as the volume plugins read them.

Source: component-helpers/storage/volume (pv_helpers.go, helpers.go) and storage/ephemeral.
"""

from __future__ import annotations

from engine.api.persistent_volumes import (
    BIND_COMPLETED,
    STORAGE_CLASSES,
    WAIT_FOR_FIRST_CONSUMER,
    class_of,
)
from engine.api.types import Object
from engine.scheduler.framework.handle import Handle
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.resource import whole
from engine.scheduler.selecting import node_selector_matches, pod_selector


def claim_names(pod: PodInfo) -> list[tuple[str, bool]]:
    """The names of the claims that the pod's volumes use, and whether a claim is made for the pod (ephemeral)."""
    names = []
    for volume in pod.spec.get("volumes") or ():
        if claim := volume.get("persistentVolumeClaim"):
            names.append((claim.get("claimName", ""), False))
        elif volume.get("ephemeral"):
            names.append((f"{pod.name}-{volume['name']}", True))
    return names


def annotations_of(obj: Object) -> dict[str, str]:
    found: dict[str, str] = obj["metadata"].get("annotations") or {}
    return found


def bound_volume(claim: Object) -> str:
    """The name of the volume that the claim names; "" for none."""
    return (claim.get("spec") or {}).get("volumeName") or ""


def is_bound(claim: Object) -> bool:
    """Whether the binding is complete, from both sides."""
    return bool(bound_volume(claim)) and BIND_COMPLETED in annotations_of(claim)


def delays_binding(claim: Object, handle: Handle) -> bool:
    """Whether the claim's class waits for the first pod that uses it."""
    found = handle.lister(STORAGE_CLASSES).get(class_of(claim)) if class_of(claim) else None
    return found is not None and found.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER


def requested_size(claim: Object) -> int | None:
    size = (((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage")
    return None if size is None else whole(str(size))


def volume_affinity(volume: Object) -> Object | None:
    affinity: Object | None = ((volume.get("spec") or {}).get("nodeAffinity") or {}).get("required")
    return affinity


def reachable_from(volume: Object, node: Object) -> bool:
    """Whether the volume's node affinity admits the node, by its labels alone (CheckNodeAffinity): what a term asks of
    the node's name is not looked at."""
    affinity = volume_affinity(volume)
    nameless = {"metadata": {"labels": node["metadata"].get("labels")}}
    return affinity is None or node_selector_matches(affinity, nameless)


def is_owned_by(claim: Object, pod: PodInfo) -> bool:
    """Whether an ephemeral volume's claim was made for this very pod."""
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(owner.get("controller") and owner.get("uid") == pod.uid for owner in owners)


def not_the_owner(pod: PodInfo, claim_name: str) -> str:
    """What is said of one that was not (ephemeral.VolumeIsForPod)."""
    return f"PVC {pod.namespace}/{claim_name} was not created for pod {pod.key} (pod is not owner)"


def is_meant_for(volume: Object, claim: Object) -> bool:
    """Whether the volume's claimRef names the claim."""
    reference = (volume.get("spec") or {}).get("claimRef") or {}
    metadata = claim["metadata"]
    if (reference.get("namespace"), reference.get("name")) != (metadata.get("namespace"), metadata["name"]):
        return False
    return not reference.get("uid") or reference["uid"] == metadata.get("uid")


def _mode(obj: Object) -> str:
    return (obj.get("spec") or {}).get("volumeMode") or "Filesystem"


def _may_hold(volume: Object, claim: Object) -> bool:
    """Class, size, mode, attributes class, and that nobody else has it."""
    spec, wanted = volume.get("spec") or {}, claim.get("spec") or {}
    if class_of(volume) != class_of(claim) or (spec.get("claimRef") and not is_meant_for(volume, claim)):
        return False
    if whole(str((spec.get("capacity") or {}).get("storage", "0"))) < (requested_size(claim) or 0):
        return False
    if _mode(volume) != _mode(claim) or volume["metadata"].get("deletionTimestamp"):
        return False
    return bool((spec.get("volumeAttributesClassName") or "") == (wanted.get("volumeAttributesClassName") or ""))


def _is_free_for(volume: Object, claim: Object) -> bool:
    """What a volume must be that is not reserved for the claim yet."""
    spec, wanted = volume.get("spec") or {}, claim.get("spec") or {}
    if (volume.get("status") or {}).get("phase") != "Available":
        return False
    selector = wanted.get("selector")
    if selector is not None and not pod_selector(selector).matches(volume["metadata"].get("labels") or {}):
        return False
    return set(wanted.get("accessModes") or ()) <= set(spec.get("accessModes") or ())


def candidate_volumes(claim: Object, volumes: list[Object]) -> list[Object]:
    """The volumes that the claim may be bound to on one node or another: those reserved for it first, then the
    smallest first."""
    reserved, free = [], []
    for volume in volumes:
        if not _may_hold(volume, claim):
            continue
        if (volume.get("spec") or {}).get("claimRef"):
            reserved.append(volume)
        elif _is_free_for(volume, claim):
            free.append(volume)
    return reserved[:1] or sorted(free, key=_size)


def find_matching_volume(candidates: list[Object], node: Object, *, taken: dict[str, Object]) -> Object | None:
    """The volume that a claim would be bound to for a pod on this node."""
    for volume in candidates:
        if volume["metadata"]["name"] not in taken and reachable_from(volume, node):
            return volume
    return None


def _size(volume: Object) -> int:
    return whole(str(volume["spec"]["capacity"]["storage"]))
