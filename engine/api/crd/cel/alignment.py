"""Lists whose order means nothing, brought to one order, so that a rule finds old and new ones equal that are.

Source of the behaviour: apiserver pkg/cel/common/values.go (sets and map lists compare without order).
"""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.crd.structural import Structural


def aligned(schema: Structural | None, old: Any, new: Any) -> Any:
    """The old value with its sets and map lists in the order of the new one's."""
    if schema is None or not schema.has_list_types or old == new:
        return old
    if isinstance(old, dict) and isinstance(new, dict):
        return {key: aligned(schema.child(key), item, new.get(key)) for key, item in old.items()}
    if not isinstance(old, list) or not isinstance(new, list):
        return old
    if schema.list_type not in ("set", "map"):
        return [aligned(schema.items, *pair) for pair in zip(old, new, strict=False)] if len(old) == len(new) else old
    places = {_key(schema, item): place for place, item in enumerate(new)}
    ordered = sorted(old, key=lambda item: places.get(_key(schema, item), len(new)))
    if schema.list_type == "set":
        return ordered
    known = {_key(schema, item): item for item in new}
    return [aligned(schema.items, item, known.get(_key(schema, item))) for item in ordered]


def _key(schema: Structural, item: Any) -> bytes:
    if schema.list_type == "map" and isinstance(item, dict):
        item = [item.get(key) for key in schema.list_map_keys]
    return orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
