"""Apply configurations that nobody owns: what a MutatingAdmissionPolicy lays over an object.

Source: apiserver pkg/admission/plugin/policy/mutating/patch/smd.go. Merged as in server-side apply, but for lists, maps
and structs that are owned as a whole: those would lose what the configuration does not say, and are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.api.apply.checking import misfits
from engine.api.apply.field_types import DEDUCED, FieldType, ListType, MapType, field_type
from engine.api.apply.merging import merge
from engine.api.schema import Schema
from engine.api.types import Object


class OverlayError(ValueError):
    """A configuration that cannot be laid over the object."""


def overlaid(schema: Schema, live: Object, applied: Object) -> Object:
    """The live object with a configuration of its own kind over it; neither is changed. Raises OverlayError."""
    kind = field_type(schema)
    if text := misfits(kind, applied):
        raise OverlayError(f"failed to convert patch object to typed object: {text}")
    if atomics := list(_atomics(kind, applied, "")):
        text = f"may not mutate atomic arrays, maps or structs: {', '.join(atomics)}"
        raise OverlayError(f"invalid ApplyConfiguration: {text}")
    merged: Object = merge(kind, live, applied)
    return merged


def _atomics(kind: FieldType, value: Any, path: str) -> Iterator[str]:
    """The paths of what is owned as a whole."""
    if isinstance(value, dict):
        if kind.atomic and not isinstance(kind, MapType):
            yield path
        for name, item in value.items():
            if (below := _field(kind, name)) is not None:
                yield from _atomics(below, item, f"{path}.{name}")
    elif isinstance(value, list):
        if not isinstance(kind, ListType) and (kind.atomic or kind is DEDUCED):
            yield path
        items = _items(kind)
        for index, item in enumerate(value):
            if items is not None:
                yield from _atomics(items, item, f"{path}[{index}]")


def _field(kind: FieldType, name: str) -> FieldType | None:
    """The type of a declared field; values of a map by any key are not looked at."""
    declared = kind.schema.properties.get(name) if kind.schema is not None else None
    return field_type(declared, preserving=kind.preserving) if declared is not None else None


def _items(kind: FieldType) -> FieldType | None:
    if isinstance(kind, ListType):
        return kind.items
    items = kind.schema.items if kind.schema is not None else None
    return field_type(items, preserving=kind.preserving) if items is not None else None
