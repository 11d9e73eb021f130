"""PersistentVolumeClaims: what may change of one, and what its status may say (core validation)."""

from __future__ import annotations

from typing import Any

from engine.api.persistent_volumes import BETA_CLASS
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.claims import claim_spec
from engine.api.validation.differences import difference
from engine.api.validation.go_structs import struct_shown
from engine.api.validation.persistent_volumes import basic_resource
from engine.api.validation.problems import IMMUTABLE, Problems
from engine.api.validation.resources import native, quantity

_CHANGED = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"
_RESIZE = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)


def persistent_volume_claim(obj: Object, problems: Problems) -> None:
    claim_spec(obj.get("spec", {}), "spec", problems)


def replacing_persistent_volume_claim(new: Object, old: Object, problems: Problems) -> None:
    """A group that is none is not told of where the old claim named one (ValidationOptionsForPersistentVolumeClaim)."""
    before = old.get("spec", {})
    named = any("apiGroup" in (before.get(field) or {}) for field in ("dataSource", "dataSourceRef"))
    claim_spec(new.get("spec", {}), "spec", problems, check_groups=not named)


def changed_persistent_volume_claim(new: Object, old: Object, problems: Problems) -> None:
    after, before = _comparable(new, old, problems)
    if after != before:
        problems.forbidden(
            "spec",
            _CHANGED + difference(*(struct_shown(each, "PersistentVolumeClaimSpec") for each in (before, after))),
        )
    wanted, given = _storage(new), _storage(old)
    capacity = Quantity.parse(old.get("status", {}).get("capacity", {}).get("storage", "0"))
    if wanted < given and wanted <= capacity:
        problems.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
    mode, mode_before = new.get("spec", {}).get("volumeMode"), old.get("spec", {}).get("volumeMode")
    problems.immutable("volumeMode", mode, mode_before)
    _attributes_class(new, old, problems)


def _comparable(new: Object, old: Object, problems: Problems) -> tuple[Object, Object]:
    """Both specs with what may change made alike."""
    after, before = dict(new.get("spec", {})), dict(old.get("spec", {}))
    if not before.get("volumeName"):  # the binder sets it, once
        _take(before, after, "volumeName")
    _storage_class(new, old, after, problems)
    bound = new.get("status", {}).get("phase") == "Bound"
    if bound and after.get("resources", {}).get("requests") is not None:
        requests = dict(after["resources"]["requests"])
        requests["storage"] = before.get("resources", {}).get("requests", {}).get("storage", "0")
        after["resources"] = {**after["resources"], "requests": requests}
    if bound:
        _take(after, before, "volumeAttributesClassName")
    return after, before


def _storage_class(new: Object, old: Object, after: Object, problems: Problems) -> None:
    """A class may be named where none was; what the old annotation said may become the field."""
    annotation = new.get("metadata", {}).get("annotations", {}).get(BETA_CLASS)
    annotation_before = old.get("metadata", {}).get("annotations", {}).get(BETA_CLASS)
    name, name_before = after.get("storageClassName"), old.get("spec", {}).get("storageClassName")
    named = name is not None and name_before is None
    moved = annotation_before is not None and named and name == annotation_before
    if moved and annotation in (None, annotation_before):
        after.pop("storageClassName")
        return
    if annotation != annotation_before:
        problems.invalid(f"metadata.annotations.{BETA_CLASS}", annotation or "", IMMUTABLE)
    if named and annotation_before in (None, name):
        after.pop("storageClassName")


def _attributes_class(new: Object, old: Object, problems: Problems) -> None:
    """One that has been applied cannot be taken back; before that, a change can (KEP-3751)."""
    path, applied = "spec.volumeAttributesClassName", "status.currentVolumeAttributesClassName"
    name, before = (each.get("spec", {}).get("volumeAttributesClassName") for each in (new, old))
    if name == before or name or old.get("status", {}).get("currentVolumeAttributesClassName") is None:
        return
    kind = "nil" if name is None else "empty string"
    problems.forbidden(path, f"update to {kind} is forbidden when {applied} is not nil")


def _take(target: Object, source: Object, field: str) -> None:
    if field in source:
        target[field] = source[field]
    else:
        target.pop(field, None)


def _storage(claim: Object) -> Quantity:
    amount = claim.get("spec", {}).get("resources", {}).get("requests", {}).get("storage", "0")
    return Quantity.parse(amount)


def persistent_volume_claim_status(new: Object, old: Object, problems: Problems) -> None:
    status = new.get("status", {})
    if not new.get("spec", {}).get("accessModes"):
        problems.required("Spec.accessModes")
    for name, amount in status.get("capacity", {}).items():
        basic_resource(amount, f"status.capacity[{name}]", problems)
    for name, state in status.get("allocatedResourceStatuses", {}).items():
        _resource_key(name, "status.allocatedResourceStatuses", problems)
        if state not in _RESIZE:
            problems.not_supported("status.allocatedResourceStatuses", name, _RESIZE)
    for name, amount in status.get("allocatedResources", {}).items():
        _allocated(name, amount, problems)


def _allocated(name: str, amount: str, problems: Problems) -> None:
    before: Any = len(problems)
    _resource_key(name, "status.allocatedResources", problems)
    if len(problems) == before:
        basic_resource(amount, f"status.allocatedResources[{name}]", problems)
    if len(problems) == before:
        quantity("storage", amount, f"status.allocatedResources[{name}]", problems)


def _resource_key(name: str, path: str, problems: Problems) -> None:
    wrong = text.qualified_name(name)
    problems.all_invalid(path, name, wrong)
    if not wrong and native(name) and name != "storage":
        problems.not_supported(path, name, ("storage",))
