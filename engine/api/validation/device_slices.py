"""The slices in which drivers publish devices (pkg/apis/resource/validation, ValidateResourceSlice)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.device_values import (
    binding_conditions,
    dns_label,
    fully_qualified_name,
    items,
    named,
    pool_name,
    shown_terms,
    skipped_operations,
    taint,
    unique_items,
    values,
)
from engine.api.validation.devices_published import attributes, capacity, node_resources
from engine.api.validation.go_values import internal
from engine.api.validation.placement import node_selector
from engine.api.validation.problems import Problems
from engine.api.validation.volume_sources import csi_driver_name

_MOST_DEVICES, _MOST_ADVANCED_DEVICES = 128, 64
_MOST_COUNTER_SETS, _MOST_COUNTERS, _MOST_CONSUMED_SETS, _MOST_TAINTS = 8, 32, 2, 16
_LABEL_LENGTH = 63
_LISTS = ("bools", "ints", "strings", "versions")
_PLACES = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_DEVICE_PLACES = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_NO_DEVICE_PLACES = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)
_TRUE_OR_UNSET = "must be either unset or set to true"


def resource_slice(obj: Object, problems: Problems) -> None:
    _slice_spec(obj.get("spec") or {}, None, problems)


def resource_slice_update(new: Object, old: Object, problems: Problems) -> None:
    _slice_spec(new.get("spec") or {}, old.get("spec") or {}, problems)


def _slice_spec(spec: Object, before: Object | None, problems: Problems) -> None:
    csi_driver_name(spec.get("driver", ""), "spec.driver", problems)
    pool = spec.get("pool") or {}
    _pool(pool, "spec.pool", problems)
    if before is not None:
        problems.immutable("spec.pool.name", pool.get("name"), (before.get("pool") or {}).get("name"))
        for field in ("driver", "nodeName"):
            problems.immutable(f"spec.{field}", spec.get(field), before.get(field))
    _place(spec, problems)
    if spec.get("sharedCounters") is not None and spec.get("devices") is not None:
        problems.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")
    _devices(spec, before, problems)
    unique_items(
        spec.get("sharedCounters"), "spec.sharedCounters", _MOST_COUNTER_SETS, _counter_set, problems, key=named
    )
    if spec.get("partitionTypeAttribute") is not None:
        _partitions(spec, spec["partitionTypeAttribute"], problems)
    skipped_operations(spec.get("skipNodeOperations"), "spec.skipNodeOperations", problems)


def _pool(pool: Object, path: str, problems: Problems) -> None:
    count, generation = pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    pool_name(pool.get("name", ""), f"{path}.name", problems)
    if count <= 0:
        problems.invalid(f"{path}.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        problems.invalid(f"{path}.generation", generation, "must be greater than or equal to zero")


def _place(spec: Object, problems: Problems) -> None:
    """Where the devices of a slice are: said in one way."""
    given = _node_name(spec, "spec", "must be either unset or set to a non-empty string", problems)
    selector = spec.get("nodeSelector")
    if selector is not None:
        given.append("nodeSelector")
        node_selector(selector, "spec.nodeSelector", problems)
        if len(selector.get("nodeSelectorTerms") or ()) != 1:
            detail = "must have exactly one node selector term"
            problems.invalid("spec.nodeSelector.nodeSelectorTerms", shown_terms(selector), detail)
    for field in ("allNodes", "perDeviceNodeSelection"):
        given += _flag(spec, field, "spec", problems)
    if not given:
        problems.required("spec", _PLACES)
    elif len(given) > 1:
        problems.invalid("spec", _shown(given), f"{_PLACES}, but multiple fields are set")


def _node_name(holder: Object, path: str, empty: str, problems: Problems) -> list[str]:
    """Names the field if it is given. Nodes are named as subdomains."""
    name = holder.get("nodeName")
    if name is None:
        return []
    if not name:
        problems.invalid(f"{path}.nodeName", "", empty)
        return []
    problems.all_invalid(f"{path}.nodeName", name, text.dns_subdomain(name))
    return ["nodeName"]


def _flag(holder: Object, field: str, path: str, problems: Problems) -> list[str]:
    if holder.get(field) is False:
        problems.invalid(f"{path}.{field}", False, _TRUE_OR_UNSET)
    return [field] if holder.get(field) else []


def _shown(fields: Sequence[str]) -> str:
    return "{" + ", ".join(f"`{field}`" for field in fields) + "}"


def _devices(spec: Object, before: Object | None, problems: Problems) -> None:
    found = spec.get("devices")
    known = {named(device): device for device in reversed((before or {}).get("devices") or ())}
    per_device = bool(spec.get("perDeviceNodeSelection"))

    def check(device: Object, path: str, problems: Problems) -> None:
        _device(device, known.get(named(device)), path, problems)
        _device_place(device, path, problems, per_device=per_device)
        binding_conditions(device, path, problems)
        node_resources(device, f"{path}.nodeAllocatableResources", problems)

    most = _MOST_ADVANCED_DEVICES if any(_advanced(device) for device in found or ()) else _MOST_DEVICES
    unique_items(found, "spec.devices", most, check, problems, key=named)


def _advanced(device: Object) -> bool:
    """Devices with taints, counters or lists need more room, so a slice has fewer of them."""
    lists = (each.get(field) for each in (device.get("attributes") or {}).values() for field in _LISTS)
    return bool(device.get("taints") or device.get("consumesCounters") or any(found is not None for found in lists))


def _device(device: Object, before: Object | None, path: str, problems: Problems) -> None:
    dns_label(named(device), f"{path}.name", problems)
    attributes(device, path, problems)
    if before is None or before.get("capacity") != device.get("capacity"):
        capacity(device, f"{path}.capacity", problems)
    if before is None or before.get("taints") != device.get("taints"):
        items(device.get("taints"), f"{path}.taints", _MOST_TAINTS, _taint, problems)
    at = f"{path}.consumesCounters"
    unique_items(device.get("consumesCounters"), at, _MOST_CONSUMED_SETS, _consumption, problems, key=_counter_set_of)


def _taint(found: Object, path: str, problems: Problems) -> None:
    taint(found, None, path, problems)


def _counter_set_of(consumption: Object) -> str:
    return str(consumption.get("counterSet", ""))


def _consumption(consumption: Object, path: str, problems: Problems) -> None:
    _counters(consumption, _counter_set_of(consumption), path, "counterSet", problems)


def _counter_set(found: Object, path: str, problems: Problems) -> None:
    _counters(found, named(found), path, "name", problems)


def _counters(holder: Object, name: str, path: str, field: str, problems: Problems) -> None:
    """Any amount will do for a counter."""
    if not name:
        problems.required(f"{path}.{field}")
    else:
        dns_label(name, f"{path}.{field}", problems)
    counters = holder.get("counters")
    if not counters:
        problems.required(f"{path}.counters")
    else:
        values(counters, f"{path}.counters", _MOST_COUNTERS, (dns_label, _LABEL_LENGTH), _counter, problems)


def _counter(value: Any, path: str, problems: Problems) -> None:
    """Every quantity that can be read is one."""


def _device_place(device: Object, path: str, problems: Problems, *, per_device: bool) -> None:
    if not per_device:
        if any(device.get(field) is not None for field in ("nodeName", "nodeSelector", "allNodes")):
            problems.invalid(path, None, _NO_DEVICE_PLACES)
        return
    given = _node_name(device, path, "must not be empty", problems)
    if device.get("nodeSelector") is not None:
        given.append("nodeSelector")
        node_selector(device["nodeSelector"], f"{path}.nodeSelector", problems)
    given += _flag(device, "allNodes", path, problems)
    if not given:
        problems.required(path, _DEVICE_PLACES)
    elif len(given) > 1:
        problems.invalid(path, _shown(given), _DEVICE_PLACES)


def _partitions(spec: Object, name: str, problems: Problems) -> None:
    """The attribute that tells partitions apart: every device that consumes counters has it, as a string."""
    consumers = [(index, each) for index, each in enumerate(spec.get("devices") or ()) if each.get("consumesCounters")]
    if not consumers:
        detail = "may only be set on a slice which declares devices that consume counters"
        problems.invalid("spec.partitionTypeAttribute", name, detail)
        return
    malformed = Problems()
    fully_qualified_name(name, "spec.partitionTypeAttribute", malformed)
    if malformed:
        problems += malformed
        return
    bare = name.removeprefix(f"{spec.get('driver', '')}/")  # the driver's own domain may be left out
    for index, device in consumers:
        path = f"spec.devices[{index}].attributes[{name}]"
        found = device.get("attributes") or {}
        attribute = found.get(name, found.get(bare))
        if attribute is None:
            detail = "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set"
            problems.required(path, detail)
        elif attribute.get("string") is None:
            detail = "must be a string value because `partitionTypeAttribute` names this attribute"
            problems.invalid(path, internal("DeviceAttribute", attribute), detail)
