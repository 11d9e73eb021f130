"""Taking away what a structural schema does not know (apiextensions-apiserver pkg/apiserver/schema/pruning).

`apiVersion`, `kind` and `metadata` of the object itself and of embedded resources are known without being said. Values
are not changed: what is untouched is shared with the result.
"""

from __future__ import annotations

from typing import Any

from engine.api.crd.structural import META_FIELDS, Structural
from engine.api.types import Object

Path = str


def prune(schema: Structural, obj: Object, unknown: list[Path]) -> Object:
    """The object without unknown fields; their paths are added to `unknown`."""
    return _map(schema, obj, "", unknown, resource=True)


def prune_value(schema: Structural, value: Any, unknown: list[Path]) -> Any:
    """The same for a part of an object."""
    return _value(schema, value, "", unknown)


def _value(schema: Structural | None, value: Any, path: Path, unknown: list[Path]) -> Any:
    if isinstance(value, dict):
        return _map(schema, value, path, unknown, resource=schema is not None and schema.embedded)
    if isinstance(value, list):
        items = schema.items if schema is not None else None
        if schema is not None and schema.preserve and items is None:
            return value
        pruned = [_value(items, item, f"{path}[{index}]", unknown) for index, item in enumerate(value)]
        return value if all(new is old for new, old in zip(pruned, value, strict=True)) else pruned
    return value


def _map(schema: Structural | None, value: Object, path: Path, unknown: list[Path], *, resource: bool) -> Object:
    kept: Object = {}
    same = True
    for key, item in value.items():
        if resource and key in META_FIELDS:
            kept[key] = item
            continue
        below = schema.properties.get(key) if schema is not None else None
        if below is None and schema is not None and schema.has_values:
            known, below = True, schema.values
        else:
            known = below is not None
        at = f"{path}.{key}" if path else key
        if not known:
            if schema is not None and schema.preserve:
                kept[key] = item
            else:
                unknown.append(at)
                same = False
            continue
        pruned = _value(below, item, at, unknown)
        kept[key] = pruned
        same = same and pruned is item
    return value if same else kept
