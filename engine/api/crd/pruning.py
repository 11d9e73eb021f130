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
    return _map(schema, obj, "", unknown, resource=True, preserve=schema.preserve)


def prune_value(schema: Structural, value: Any, unknown: list[Path]) -> Any:
    """The same for a part of an object."""
    return _value(schema, value, "", unknown)


def _value(schema: Structural | None, value: Any, path: Path, unknown: list[Path], *, preserve: bool = False) -> Any:
    """`preserve` says that a list around the value keeps what is unknown, which goes for its elements too."""
    preserve = preserve or (schema is not None and schema.preserve)
    if isinstance(value, dict):
        resource = schema is not None and schema.embedded
        return _map(schema, value, path, unknown, resource=resource, preserve=preserve)
    if isinstance(value, list):
        items = schema.items if schema is not None else None
        pruned = [
            _value(items, item, f"{path}[{index}]", unknown, preserve=preserve) for index, item in enumerate(value)
        ]
        return value if all(new is old for new, old in zip(pruned, value, strict=True)) else pruned
    return value


def _map(
    schema: Structural | None, value: Object, path: Path, unknown: list[Path], *, resource: bool, preserve: bool
) -> Object:
    if schema is None and preserve:
        return value
    kept: Object = {}
    same = True
    for key, item in value.items():
        if resource and key in META_FIELDS:
            kept[key] = item
            continue
        at = f"{path}.{key}" if path else key
        if schema is None or (key not in schema.properties and not schema.is_map):
            if preserve:
                kept[key] = item
            else:
                unknown.append(at)
                same = False
            continue
        kept[key] = _value(schema.child(key), item, at, unknown)
        same = same and kept[key] is item
    return value if same else kept
