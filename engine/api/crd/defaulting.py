"""Filling in the defaults of a structural schema (apiextensions-apiserver pkg/apiserver/schema/defaulting).

Done when an object comes in and again when it is read, so that old objects have new defaults. A null where none is
allowed counts as nothing if there is a default for it. Nothing is changed in place.
"""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.crd.structural import MISSING, Structural
from engine.api.types import Object


def completed(schema: Structural, obj: Object) -> Object:
    """The object with its defaults, and without nulls that neither are allowed nor have given way to a default."""
    made: Object = without_nulls(schema, with_defaults(schema, obj))
    return made


def without_nulls(schema: Structural | None, value: Any) -> Any:
    """The value without the nulls of fields and of a map's values that are not nullable; itself if it has none."""
    if schema is None:
        return value
    if isinstance(value, list):
        items = [without_nulls(schema.items, item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if not isinstance(value, dict):
        return value
    kept: Object = {}
    changed = False
    for key, item in value.items():
        node = schema.child(key)
        if item is None and node is not None and not node.nullable:
            changed = True
            continue
        kept[key] = without_nulls(node, item)
        changed |= kept[key] is not item
    return kept if changed else value


def with_defaults(schema: Structural, obj: Object) -> Object:
    """The object with its defaults; the object itself where there are none to add."""
    if not schema.has_defaults:
        return obj
    defaulted: Object = _value(schema, obj)
    return defaulted


def _value(schema: Structural | None, value: Any) -> Any:
    if schema is None or not schema.has_defaults:
        return value
    if isinstance(value, dict):
        return _map(schema, value)
    if isinstance(value, list) and schema.items is not None:
        items = [_item(schema.items, item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def _map(schema: Structural, value: Object) -> Object:
    filled = value
    for name, node in schema.properties.items():
        if node.default is not MISSING and _lacks(value, name, node):
            if filled is value:
                filled = dict(value)
            filled[name] = orjson.loads(orjson.dumps(node.default))
    for key in list(filled):
        node_below = schema.child(key)
        if node_below is None or not node_below.has_defaults:
            continue
        below = _item(node_below, filled[key])
        if below is not filled[key]:
            if filled is value:
                filled = dict(value)
            filled[key] = below
    return filled


def _lacks(value: Object, name: str, node: Structural) -> bool:
    return name not in value or (value[name] is None and not node.nullable)


def _item(schema: Structural, value: Any) -> Any:
    """An element or value: a null that is not allowed gives way to the default."""
    if value is None and not schema.nullable and schema.default is not MISSING:
        value = orjson.loads(orjson.dumps(schema.default))
    return _value(schema, value)
