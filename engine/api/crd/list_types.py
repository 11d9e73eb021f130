"""Whether lists that are sets or maps hold anything twice (apiextensions-apiserver pkg/apiserver/schema/listtype)."""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.crd.structural import Structural
from engine.api.errors import field_duplicate
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
            _unique(value, value, path, problems)
        elif schema.list_type == "map":
            _unique(value, [_keys(schema, item) for item in value], path, problems)
        for index, item in enumerate(value):
            check_list_types(schema.items, item, f"{path}[{index}]", problems)


def _keys(schema: Structural, item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    return {key: item[key] for key in schema.list_map_keys if key in item}


def _unique(items: list[Any], keys: list[Any], path: str, problems: Problems) -> None:
    seen: dict[bytes, int] = {}
    for index, key in enumerate(keys):
        text = orjson.dumps(key, option=orjson.OPT_SORT_KEYS)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            problems.append(field_duplicate(f"{path}[{index}]", key))
