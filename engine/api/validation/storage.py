"""Volumes, claims, storage classes and CSI objects (core validation; pkg/apis/storage/validation)."""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.labels import label_selector
from engine.api.validation.placement import node_selector
from engine.api.validation.problems import Problems
from engine.api.validation.resources import positive_quantity
from engine.api.validation.volumes import SOURCES

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_MODES = ("Block", "Filesystem")
_RECLAIM = ("Delete", "Recycle", "Retain")
_BINDING = ("Immediate", "WaitForFirstConsumer")
_EXCLUSIVE = "may not use ReadWriteOncePod with other access modes"
_PV_SOURCES = (*SOURCES, "local")
_PARAMETERS, _PARAMETERS_SIZE = 512, 256 * 1024


def persistent_volume(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    modes = spec.get("accessModes", [])
    if not modes:
        problems.required("spec.accessModes")
    _access_modes(modes, problems)
    capacity = spec.get("capacity", {})
    if not capacity:
        problems.required("spec.capacity")
    elif "storage" not in capacity or len(capacity) > 1:
        problems.not_supported("spec.capacity", capacity, ("storage",))
    for name, amount in capacity.items():
        positive_quantity(amount, f"spec.capacity[{name}]", problems)
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy and policy not in _RECLAIM:
        problems.not_supported("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM)
    if "nodeAffinity" in spec:
        required = spec["nodeAffinity"].get("required")
        if required is None:
            problems.required("spec.nodeAffinity.required", "must specify required node constraints")
        else:
            node_selector(required, "spec.nodeAffinity.required", problems)
    found = [source for source in _PV_SOURCES if source in spec]
    for extra in found[1:]:
        problems.forbidden(f"spec.{extra}", "may not specify more than 1 volume type")
    if not found:
        problems.required("spec", "must specify a volume type")
    if "local" in spec and "nodeAffinity" not in spec:
        problems.required("spec.nodeAffinity", "Local volume requires node affinity")
    _class_and_mode(spec, problems)


def _access_modes(modes: list[str], problems: Problems) -> None:
    for mode in modes:
        if mode not in _ACCESS_MODES:
            problems.not_supported("spec.accessModes", mode, _ACCESS_MODES)
    if "ReadWriteOncePod" in modes and len(set(modes) & set(_ACCESS_MODES)) > 1:
        problems.forbidden("spec.accessModes", _EXCLUSIVE)


def _class_and_mode(spec: Object, problems: Problems) -> None:
    name, mode = spec.get("storageClassName"), spec.get("volumeMode")
    if name:
        problems.all_invalid("spec.storageClassName", name, text.dns_subdomain(name))
    if mode is not None and mode not in _MODES:
        problems.not_supported("spec.volumeMode", mode, _MODES)


def persistent_volume_update(new: Object, old: Object, problems: Problems) -> None:
    persistent_volume(new, problems)
    after, before = new.get("spec", {}), old.get("spec", {})
    if _source(after) != _source(before):
        detail = f"spec.persistentvolumesource is immutable after creation\n{_change(_source(before), _source(after))}"
        problems.forbidden("spec.persistentvolumesource", detail)
    problems.immutable("volumeMode", after.get("volumeMode"), before.get("volumeMode"))
    if "nodeAffinity" in before:
        problems.immutable("nodeAffinity", after.get("nodeAffinity"), before.get("nodeAffinity"))


def _source(spec: Object) -> Object:
    return {source: spec[source] for source in _PV_SOURCES if source in spec}


def _change(old: Any, new: Any) -> str:
    return f"-\t{orjson.dumps(old).decode()},\n+\t{orjson.dumps(new).decode()},\n"


def persistent_volume_claim(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    modes = spec.get("accessModes", [])
    if not modes:
        problems.required("spec.accessModes", "at least 1 access mode is required")
    label_selector(spec.get("selector"), "spec.selector", problems)
    _access_modes(modes, problems)
    storage = spec.get("resources", {}).get("requests", {}).get("storage")
    if storage is None:
        problems.required("spec.resources[storage]")
    else:
        positive_quantity(storage, "spec.resources[storage]", problems)
    _class_and_mode(spec, problems)
    for field in ("dataSource", "dataSourceRef"):
        if field in spec:
            _data_source(spec[field], f"spec.{field}", problems)


def _data_source(source: Object, path: str, problems: Problems) -> None:
    for field in ("name", "kind"):
        if not source.get(field):
            problems.required(f"{path}.{field}")
    group = source.get("apiGroup", "")
    if group:
        problems.all_invalid(f"{path}.apiGroup", group, text.dns_subdomain(group))
    elif source.get("kind") != "PersistentVolumeClaim":
        detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        problems.invalid(path, source.get("kind", ""), detail)


def persistent_volume_claim_update(new: Object, old: Object, problems: Problems) -> None:
    persistent_volume_claim(new, problems)
    after, before = dict(new.get("spec", {})), dict(old.get("spec", {}))
    if not before.get("volumeName"):  # the binder sets it, once
        before.pop("volumeName", None)
        after.pop("volumeName", None)
    if "storageClassName" not in before:
        after.pop("storageClassName", None)
    bound = new.get("status", {}).get("phase") == "Bound"
    wanted, given = _storage(new), _storage(old)
    if bound:
        after["resources"] = before.get("resources")
        after["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
        before.setdefault("volumeAttributesClassName", None)
    if after != before:
        detail = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName "
            "for bound claims\n"
            f"{_change(old.get('spec'), new.get('spec'))}"
        )
        problems.forbidden("spec", detail)
    capacity = Quantity.parse(old.get("status", {}).get("capacity", {}).get("storage", "0"))
    if wanted < given and wanted <= capacity:
        problems.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")


def _storage(claim: Object) -> Quantity:
    amount = claim.get("spec", {}).get("resources", {}).get("requests", {}).get("storage", "0")
    return Quantity.parse(amount)


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
