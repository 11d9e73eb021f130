"""What of a changed custom object is what it was before (apiserver pkg/cel/common, equality.go and maplist.go).

What its schema says of that is let be on an update (KEP-4008, ratcheting): an object that was valid once must not
become unchangeable when its schema is tightened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from engine.api.crd.structural import MISSING, Structural


def unchanged(schema: Structural, old: Any, new: Any) -> bool:
    """Whether a value is what it was. A field that the schema says nothing of never is; lists that are maps are the
    same in any order."""
    if isinstance(new, dict):
        return isinstance(old, dict) and len(old) == len(new) and _same_fields(schema, old, new)
    if isinstance(new, list) and schema.list_type == "map" and schema.items is not None:
        return isinstance(old, list) and len(old) == len(new) and _same_elements(schema.items, schema, old, new)
    return _equal(old, new)


def _same_fields(schema: Structural, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    for key, item in new.items():
        node = schema.child(key)
        if node is None or key not in old or not unchanged(node, old[key], item):
            return False
    return True


def _same_elements(items: Structural, schema: Structural, old: list[Any], new: list[Any]) -> bool:
    known = zip(correlated(schema, new, old), new, strict=True)
    return all(before is not MISSING and unchanged(items, before, item) for before, item in known)


def _equal(old: Any, new: Any) -> bool:
    """As Go has it, where true is not 1, and 1.0 is not."""
    return bool(old == new) and _plain(old) == _plain(new)


def _plain(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def correlated(schema: Structural, new: list[Any], old: Any) -> list[Any]:
    """For every element the one that it was before; elements are known again in a list that is a map only, by all of
    its keys."""
    if not isinstance(old, list) or schema.list_type != "map":
        return [MISSING] * len(new)
    known: dict[bytes, Any] = {}
    for item in old:
        key = _key(schema, item)
        if key is not None:
            known.setdefault(key, item)
    keys = [_key(schema, item) for item in new]
    return [MISSING if key is None else known.get(key, MISSING) for key in keys]


def _key(schema: Structural, item: Any) -> bytes | None:
    """None for what has no key that anything could be found by."""
    names = schema.list_map_keys
    if not isinstance(item, dict) or not all(isinstance(item.get(name), str | int | float) for name in names):
        return None
    return orjson.dumps([item[name] for name in names])
