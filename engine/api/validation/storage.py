"""Volumes, claims, storage classes and CSI objects (core validation; pkg/apis/storage/validation)."""

from __future__ import annotations

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_MODES = ("Block", "Filesystem")
_RECLAIM = ("Delete", "Recycle", "Retain")
_BINDING = ("Immediate", "WaitForFirstConsumer")


_PARAMETERS, _PARAMETERS_SIZE = 512, 256 * 1024


def storage_class(obj: Object, problems: Problems) -> None:
    provisioner, parameters = obj.get("provisioner", ""), obj.get("parameters", {})
    if not provisioner:
        problems.required("provisioner")
    else:
        problems.all_invalid("provisioner", provisioner, text.qualified_name(provisioner.lower()))
    if len(parameters) > _PARAMETERS:
        problems.too_long("parameters", _PARAMETERS)
    elif sum(len(key) + len(value) for key, value in parameters.items()) > _PARAMETERS_SIZE:
        problems.too_long("parameters", _PARAMETERS_SIZE)
    policy, binding = obj.get("reclaimPolicy"), obj.get("volumeBindingMode")
    if policy and policy not in ("Delete", "Retain"):
        problems.not_supported("reclaimPolicy", policy, ("Delete", "Retain"))
    if binding is None:
        problems.required("volumeBindingMode")
    elif binding not in _BINDING:
        problems.not_supported("volumeBindingMode", binding, _BINDING)


def storage_class_update(new: Object, old: Object, problems: Problems) -> None:
    for field in ("parameters", "provisioner"):
        if new.get(field) != old.get(field):
            problems.forbidden(field, f"updates to {field} are forbidden.")
    for field in ("reclaimPolicy", "volumeBindingMode"):
        if new.get(field) != old.get(field):
            problems.forbidden(field, f"updates to {field} are forbidden.")


def csi_driver_update(new: Object, old: Object, problems: Problems) -> None:
    after, before = new.get("spec", {}), old.get("spec", {})
    for field in ("attachRequired", "fsGroupPolicy", "volumeLifecycleModes"):
        problems.immutable(f"spec.{field}", after.get(field), before.get(field))


def volume_attachment(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    if not spec.get("attacher"):
        problems.required("spec.attacher")
    else:
        problems.all_invalid("spec.attacher", spec["attacher"], text.dns_subdomain(spec["attacher"].lower()))
    source = spec.get("source", {})
    if not source.get("persistentVolumeName") and "inlineVolumeSpec" not in source:
        detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        problems.required("spec.source", detail)
    name = spec.get("nodeName", "")
    problems.all_invalid("spec.nodeName", name, text.dns_subdomain(name))


def volume_attachment_update(new: Object, old: Object, problems: Problems) -> None:
    if new.get("spec") != old.get("spec"):
        problems.invalid("spec", new.get("spec"), "field is immutable")
