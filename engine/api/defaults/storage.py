"""Defaults of volumes, claims, storage classes and CSI drivers (pkg/apis/{core,storage}/v1/defaults.go)."""

from __future__ import annotations

from engine.api.defaults.fields import fill
from engine.api.defaults.pods import round_resource_list, volume_source
from engine.api.types import Object


def persistent_volume(obj: Object) -> None:
    fill(obj.setdefault("status", {}), "phase", "Pending")
    spec = obj.setdefault("spec", {})
    if not spec.get("persistentVolumeReclaimPolicy"):
        spec["persistentVolumeReclaimPolicy"] = "Retain"
    spec.setdefault("volumeMode", "Filesystem")
    round_resource_list(spec.get("capacity", {}))
    for source, value in spec.items():
        if isinstance(value, dict):
            volume_source(source, value)


def persistent_volume_claim(obj: Object) -> None:
    status = obj.setdefault("status", {})
    fill(status, "phase", "Pending")
    for field in ("capacity", "allocatedResources"):
        round_resource_list(status.get(field, {}))
    claim_spec(obj.setdefault("spec", {}))


def claim_spec(spec: Object) -> None:
    spec.setdefault("volumeMode", "Filesystem")
    resources = spec.setdefault("resources", {})
    for field in ("limits", "requests"):
        round_resource_list(resources.get(field, {}))


def storage_class(obj: Object) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def csi_driver(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("attachRequired", True)
    spec.setdefault("fsGroupPolicy", "ReadWriteOnceWithFSType")
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]
    for name in ("podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"):
        spec.setdefault(name, False)
