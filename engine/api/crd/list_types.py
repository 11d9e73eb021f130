"""Whether lists that are sets or maps hold anything twice (apiextensions-apiserver pkg/apiserver/schema/listtype)."""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.crd.structural import Structural
from engine.api.types import Object
from engine.api.validation.problems import Problems


def check_list_types(schema: Structural | None, value: Any, path: str, problems: Problems) -> None:
    if schema is None or not schema.has_list_types:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            node = schema.child(key)
            if node is not None:
                named = key in schema.properties
                below = f"{path}.{key}" if path and named else key if named else f"{path}[{key}]"
                check_list_types(node, item, below, problems)
    elif isinstance(value, list):
        if schema.list_type == "set":
            _unique(value, path, problems)
        elif schema.list_type == "map":
            _check_map(schema, value, path, problems)
        for index, item in enumerate(value):
            check_list_types(schema.items, item, f"{path}[{index}]", problems)


def _check_map(schema: Structural, items: list[Any], path: str, problems: Problems) -> None:
    for index, item in enumerate(items):
        if item is not None and not isinstance(item, dict):
            problems.invalid(f"{path}[{index}]", item, "must be an object for an array of list-type map")
            return
    _unique([_keys(schema, item or {}) for item in items], path, problems)


def _keys(schema: Structural, item: Object) -> Object:
    return {key: item[key] for key in sorted(schema.list_map_keys) if key in item}


def _unique(keys: list[Any], path: str, problems: Problems) -> None:
    seen: dict[bytes, int] = {}
    for index, key in enumerate(keys):
        text = orjson.dumps(key, option=orjson.OPT_SORT_KEYS)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            problems.duplicate(f"{path}[{index}]", key)
