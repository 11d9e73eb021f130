"""Claims and volumes as the binder reads them (component-helpers storage/volume pv_helpers.go; pkg/controller/volume/
persistentvolume index.go)."""

from __future__ import annotations

from engine.api.persistent_volumes import (
    capacity,
    class_of,
    requested,
)
from engine.api.selectors import LabelSelector
from engine.api.types import GVR, Object

ATTRIBUTES_CLASSES = GVR("storage.k8s.io", "v1", "volumeattributesclasses")

PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
PROVISIONER = "volume.kubernetes.io/storage-provisioner"
BETA_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"


def annotations_of(obj: Object) -> Object:
    found: Object = obj["metadata"].get("annotations") or {}
    return found


def claim_key(claim: Object) -> str:
    return f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"


def claim_reference(volume: Object) -> Object:
    found: Object = volume["spec"].get("claimRef") or {}
    return found


def refers_to(volume: Object, claim: Object) -> bool:
    """Whether a volume is meant for, or bound to, this claim."""
    reference, metadata = claim_reference(volume), claim["metadata"]
    if (reference.get("namespace"), reference.get("name")) != (metadata["namespace"], metadata["name"]):
        return False
    return reference.get("uid") in (None, "", metadata["uid"])


def mismatch(volume: Object, claim: Object) -> str:
    """Why a volume cannot serve a claim that names it; "" if it can."""
    if volume["metadata"].get("deletionTimestamp"):
        return f'the volume is marked for deletion "{volume["metadata"]["name"]}"'
    if capacity(volume) < requested(claim):
        return "requested PV is too small"
    if class_of(volume) != class_of(claim):
        return "storageClassName does not match"
    if attributes_class_of(volume) != attributes_class_of(claim):
        return "volumeAttributesClassName does not match"
    if not have_same_mode(volume, claim):
        return "incompatible volumeMode"
    if not _has_access_modes(volume, claim):
        return "incompatible accessMode"
    return ""


def best_match(volumes: list[Object], claim: Object, *, prebound_only: bool) -> Object | None:
    """Of the volumes with the fewest access modes that will do: the one that is meant for the claim, or the smallest
    that fits (index.go findByClaim)."""
    by_modes: dict[tuple[int, str], list[Object]] = {}
    for volume in volumes:
        if _has_access_modes(volume, claim):
            by_modes.setdefault(_modes_of(volume), []).append(volume)
    groups = (by_modes[modes] for modes in sorted(by_modes))
    found = (_best_of(group, claim, prebound_only=prebound_only) for group in groups)
    return next((volume for volume in found if volume is not None), None)


def _best_of(volumes: list[Object], claim: Object, *, prebound_only: bool) -> Object | None:
    """FindMatchingVolume; a volume that is meant for the claim need not be of its class."""
    selector = LabelSelector.from_object(claim["spec"]["selector"]) if claim["spec"].get("selector") else None
    fitting: list[Object] = []
    for volume in volumes:
        if volume["metadata"].get("deletionTimestamp") or capacity(volume) < requested(claim):
            continue
        if not have_same_mode(volume, claim) or attributes_class_of(volume) != attributes_class_of(claim):
            continue
        if refers_to(volume, claim):
            return volume
        if claim_reference(volume) or (volume.get("status") or {}).get("phase") != "Available" or prebound_only:
            continue
        if class_of(volume) == class_of(claim) and (
            selector is None or selector.matches(volume["metadata"].get("labels") or {})
        ):
            fitting.append(volume)
    return min(fitting, key=lambda volume: (capacity(volume), volume["metadata"]["name"]), default=None)


def _modes_of(volume: Object) -> tuple[int, str]:
    modes = sorted(set(volume["spec"].get("accessModes") or ()))
    return len(modes), ",".join(modes)


def have_same_mode(volume: Object, claim: Object) -> bool:
    """File systems or block devices both."""
    return _mode(volume) == _mode(claim)


def attributes_class_of(obj: Object) -> str:
    return str(obj["spec"].get("volumeAttributesClassName") or "")


def _mode(obj: Object) -> str:
    return str(obj["spec"].get("volumeMode") or "Filesystem")


def _has_access_modes(volume: Object, claim: Object) -> bool:
    return set(claim["spec"].get("accessModes") or ()) <= set(volume["spec"].get("accessModes") or ())
