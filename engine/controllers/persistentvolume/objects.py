"""Claims and volumes as the binder reads them (component-helpers storage/volume pv_helpers.go; pkg/controller/volume/
persistentvolume index.go)."""

from __future__ import annotations

from engine.api.quantity import Quantity
from engine.api.selectors import LabelSelector
from engine.api.types import GVR, Object

CLAIMS = GVR("", "v1", "persistentvolumeclaims")
VOLUMES = GVR("", "v1", "persistentvolumes")
STORAGE_CLASSES = GVR("storage.k8s.io", "v1", "storageclasses")
ATTRIBUTES_CLASSES = GVR("storage.k8s.io", "v1", "volumeattributesclasses")

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
PROVISIONER = "volume.kubernetes.io/storage-provisioner"
BETA_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"


def annotations_of(obj: Object) -> Object:
    found: Object = obj["metadata"].get("annotations") or {}
    return found


def claim_key(claim: Object) -> str:
    return f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"


def class_of(obj: Object) -> str:
    """The class of a claim or of a volume; the beta annotation counts before the field."""
    return str(annotations_of(obj).get(BETA_CLASS) or obj["spec"].get("storageClassName") or "")


def requested(claim: Object) -> Quantity:
    return Quantity.parse(((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage", "0"))


def capacity(volume: Object) -> Quantity:
    return Quantity.parse((volume["spec"].get("capacity") or {}).get("storage", "0"))


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
    if capacity(volume) < requested(claim):
        return "requested PV is too small"
    if class_of(volume) != class_of(claim):
        return "storageClassName does not match"
    if _mode(volume) != _mode(claim):
        return "incompatible volumeMode"
    if not _has_access_modes(volume, claim):
        return "incompatible accessMode"
    return ""


def best_match(volumes: list[Object], claim: Object, *, prebound_only: bool) -> Object | None:
    """The smallest volume that fits, or the one that is meant for the claim (index.go findByClaim)."""
    selector = LabelSelector.from_object(claim["spec"]["selector"]) if claim["spec"].get("selector") else None
    fitting: list[Object] = []
    for volume in volumes:
        if refers_to(volume, claim):
            if not mismatch(volume, claim) or claim_reference(volume).get("uid"):
                return volume
            continue
        taken = claim_reference(volume) or (volume.get("status") or {}).get("phase") != "Available"
        if taken or prebound_only or volume["metadata"].get("deletionTimestamp") or mismatch(volume, claim):
            continue
        if selector is None or selector.matches(volume["metadata"].get("labels") or {}):
            fitting.append(volume)
    return min(fitting, key=lambda volume: (capacity(volume), volume["metadata"]["name"]), default=None)


def _mode(obj: Object) -> str:
    return str(obj["spec"].get("volumeMode") or "Filesystem")


def _has_access_modes(volume: Object, claim: Object) -> bool:
    return set(claim["spec"].get("accessModes") or ()) <= set(volume["spec"].get("accessModes") or ())
