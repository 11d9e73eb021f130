"""One published device: its attributes, its capacity and what it takes of its node (validateDevice)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation.device_capacity import exclusive, shared
from engine.api.validation.device_values import qualified_name, values
from engine.api.validation.go_values import internal
from engine.api.validation.problems import Problems

_MOST_NAMES = 32  # of attributes and capacities together
_MOST_VALUES = 48  # of attributes, with the items of lists
_KEY_LENGTH = 63 + 1 + 32
_VALUE_LENGTH = 64
_SCALARS, _LISTS = ("bool", "int", "string", "version"), ("bools", "ints", "strings", "versions")
_ONE_VALUE = "exactly one value must be specified"
_VERSION_TEXT = "must be a string compatible with semver.org spec 2.0.0"
_NUMBER = r"(0|[1-9]\d*)"
_PRERELEASE = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = "[0-9a-zA-Z-]+"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRERELEASE}(\.{_PRERELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?", re.ASCII
)
_ZERO = Quantity()


def attributes(device: Object, path: str, problems: Problems) -> None:
    found: Mapping[str, Object] = device.get("attributes") or {}
    names = len(found) + len(device.get("capacity") or {})
    if names > _MOST_NAMES:
        problems.invalid(path, names, f"the total number of attributes and capacities must not exceed {_MOST_NAMES}")
    amount = sum(_amount(attribute) for attribute in found.values())
    if amount > _MOST_VALUES:
        problems.invalid(path, amount, f"the total number of attribute values must not exceed {_MOST_VALUES}")
    values(found, f"{path}.attributes", None, (qualified_name, _KEY_LENGTH), _attribute, problems)


def _amount(attribute: Object) -> int:
    return sum(len(attribute.get(field) or ()) for field in _LISTS) or 1


def _attribute(attribute: Object, path: str, problems: Problems) -> None:
    given = [field for field in (*_SCALARS, *_LISTS) if attribute.get(field) is not None]
    for field in given:
        value, at = attribute[field], f"{path}.{field}"
        if field in _LISTS and not value:
            problems.invalid(at, value, "must not be empty if specified")
        check = _TEXTS.get(field.removesuffix("s"))
        if check is not None:
            for place, each in [(at, value)] if field in _SCALARS else _enumerated(value, at):
                check(each, place, problems)
    if not given:
        problems.invalid(path, "", _ONE_VALUE)
    elif len(given) > 1:
        problems.invalid(path, internal("DeviceAttribute", attribute), _ONE_VALUE)


def _enumerated(found: list[str], path: str) -> list[tuple[str, str]]:
    return [(f"{path}[{index}]", each) for index, each in enumerate(found)]


def _string(value: str, path: str, problems: Problems) -> None:
    if len(value.encode()) > _VALUE_LENGTH:
        problems.too_long(path, _VALUE_LENGTH)


def _version(value: str, path: str, problems: Problems) -> None:
    if not _VERSION.fullmatch(value):
        problems.invalid(path, value, _VERSION_TEXT)
    _string(value, path, problems)


_TEXTS: Mapping[str, Callable[[str, str, Problems], None]] = {"string": _string, "version": _version}


def capacity(device: Object, path: str, problems: Problems) -> None:
    check = shared if device.get("allowMultipleAllocations") else exclusive
    values(device.get("capacity"), path, None, (qualified_name, _KEY_LENGTH), check, problems)


def node_resources(device: Object, path: str, problems: Problems) -> None:
    """What a device takes of its node's own resources."""
    for name, resource in (device.get("nodeAllocatableResources") or {}).items():
        at = f"{path}[{name}]"
        if name not in ("cpu", "memory", "ephemeral-storage") and not name.startswith("hugepages-"):
            problems.invalid(at, name, "must be a node allocatable resource name")
        mapping, overhead = resource.get("mapping"), resource.get("overhead")
        if mapping is None and overhead is None:
            problems.required(at, "at least one of mapping or overhead must be set")
        if mapping is not None:
            _mapping(mapping, device.get("capacity") or {}, f"{at}.mapping", problems)
        if overhead is not None:
            _overhead(overhead, f"{at}.overhead", problems)


def _mapping(mapping: Object, capacities: Mapping[str, Object], path: str, problems: Problems) -> None:
    key, times = mapping.get("capacityKey"), mapping.get("capacityMultiplier")
    if key is not None:
        if not key:
            problems.invalid(f"{path}.capacityKey", "", "capacityKey must not be an empty string")
        elif key not in capacities:
            problems.not_found(f"{path}.capacityKey", key)
        if times is None:
            detail = "capacityMultiplier is required when capacityKey is set"
            problems.required(f"{path}.capacityMultiplier", detail)
        else:
            _positive(times, f"{path}.capacityMultiplier", problems)
    if mapping.get("deviceMultiplier") is not None:
        _positive(mapping["deviceMultiplier"], f"{path}.deviceMultiplier", problems)
    if times is not None and key is None:
        problems.required(f"{path}.capacityKey", "capacityKey is required when capacityMultiplier is set")


def _positive(value: str, path: str, problems: Problems) -> None:
    amount = Quantity.parse(value)
    if amount <= _ZERO:
        problems.invalid(path, str(amount), "must be positive")


def _overhead(overhead: Object, path: str, problems: Problems) -> None:
    given = {field: overhead[field] for field in ("perPod", "perContainer") if overhead.get(field) is not None}
    if not given:
        problems.invalid(path, "", "at least one of perPod or perContainer must be set")
    for field, value in given.items():
        amount = Quantity.parse(value)
        if amount < _ZERO:
            problems.invalid(f"{path}.{field}", str(amount), "must be non-negative")
