"""What a schema says of the identity of list elements and of maps: `x-kubernetes-list-type` and its kin.

Source of the rules and texts: apiextensions-apiserver pkg/apis/apiextensions/validation (validation.go,
ValidateCustomResourceDefinitionOpenAPISchema and validateMapListKeysMapSet).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.crd.demands import Demands, atomic, may_be_missing, nullable
from engine.api.crd.internal_form import internal_items
from engine.api.validation.problems import Problems

Raw = Mapping[str, Any]

_LIST_TYPE, _MAP_TYPE, _KEYS = "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-list-map-keys"


def check_lists(raw: Raw, path: str, problems: Problems, demands: Demands) -> None:
    _map_type(raw, path, problems)
    _list_type(raw, path, problems, demands)
    if raw.get(_LIST_TYPE) == "map":
        _map_list(raw, path, problems)
    if demands.map_keys:
        _identity(raw, path, problems)


def _wrong_kind(raw: Raw, path: str, text: str, problems: Problems) -> None:
    if raw.get("type"):
        problems.invalid(f"{path}.type", raw["type"], text)
    else:
        problems.required(f"{path}.type", text)


def _map_type(raw: Raw, path: str, problems: Problems) -> None:
    map_type = raw.get(_MAP_TYPE)
    if map_type is None:
        return
    if raw.get("type") != "object":
        _wrong_kind(raw, path, f"must be object if {_MAP_TYPE} is specified", problems)
    if map_type not in ("atomic", "granular"):
        problems.not_supported(f"{path}.{_MAP_TYPE}", map_type, ("atomic", "granular"))


def _list_type(raw: Raw, path: str, problems: Problems, demands: Demands) -> None:
    list_type, at = raw.get(_LIST_TYPE), f"{path}.{_LIST_TYPE}"
    if list_type is not None and raw.get("type") != "array":
        _wrong_kind(raw, path, f"must be array if {_LIST_TYPE} is specified", problems)
    elif demands.atomic_sets and list_type == "set" and isinstance(raw.get("items"), dict):
        _set_items(raw["items"], f"{path}.items", problems)
    if list_type is not None and list_type not in ("atomic", "set", "map"):
        problems.not_supported(at, list_type, ("atomic", "set", "map"))
    if raw.get(_KEYS) and list_type != "map":
        text = f"must be map if {_KEYS} is non-empty"
        if list_type is None:
            problems.required(at, text)
        else:
            problems.invalid(at, list_type, text)


def _set_items(items: Raw, path: str, problems: Problems) -> None:
    """Upstream shows the list type in both errors."""
    if not atomic(items):
        at = f"{path}.{_LIST_TYPE}" if items.get("type") == "array" else f"{path}.{_MAP_TYPE}"
        problems.invalid(at, items.get(_LIST_TYPE), f"must be atomic as item of a list with {_LIST_TYPE}=set")


def _map_list(raw: Raw, path: str, problems: Problems) -> None:
    items, keys = raw.get("items"), raw.get(_KEYS) or []
    if not keys:
        problems.required(f"{path}.{_KEYS}", f"must not be empty if {_LIST_TYPE} is map")
    if items is None:
        problems.required(f"{path}.items", f"must have a schema if {_LIST_TYPE} is map")
    elif not isinstance(items, dict):
        text = f"must only have a single schema if {_LIST_TYPE} is map"
        problems.invalid(f"{path}.items", internal_items(items), text)
    elif items.get("type") != "object":
        text = f"must be object if parent array's {_LIST_TYPE} is map"
        problems.invalid(f"{path}.items.type", items.get("type", ""), text)
    else:
        _keys(items, keys, path, problems)


def _keys(items: Raw, keys: list[str], path: str, problems: Problems) -> None:
    at, properties = f"{path}.{_KEYS}", items.get("properties") or {}
    for index, key in enumerate(keys):
        if key not in properties:
            problems.invalid(at, keys, "entries must all be names of item properties")
        elif properties[key].get("type") in ("array", "object"):
            text = f"must be a scalar type if parent array's {_LIST_TYPE} is map"
            problems.invalid(f"{path}.items.properties[{key}].type", items["type"], text)
        if key in keys[:index]:
            problems.invalid(at, keys, "must not contain duplicate entries")


def _identity(raw: Raw, path: str, problems: Problems) -> None:
    """Elements that are told from each other cannot be null, nor can what tells them from each other."""
    list_type, items = raw.get(_LIST_TYPE), raw.get("items")
    if list_type not in ("set", "map") or not isinstance(items, dict):
        return
    if items.get("nullable"):
        problems.forbidden(f"{path}.items.nullable", f"cannot be nullable when {_LIST_TYPE} is {list_type}")
    for key in raw.get(_KEYS) or () if list_type == "map" else ():
        where, this = f"{path}.items.properties[{key}]", f"this property is in {_KEYS}, so it"
        if may_be_missing(items, key):
            problems.required(f"{where}.default", f"{this} must have a default or be a required property")
        if nullable(items, key):
            problems.forbidden(f"{where}.nullable", f"{this} cannot be nullable")
