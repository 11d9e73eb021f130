"""Whether an applied object fits its schema: server-side apply refuses what it cannot own field by field.

Source of the texts: structured-merge-diff typed (validate.go, helpers.go) as apimachinery pkg/util/managedfields
wraps them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from engine.api.apply.field_types import FieldType, ListType, MapType, field_type
from engine.api.apply.steps import path_text
from engine.api.errors import ApiError
from engine.api.golang.text import quoted
from engine.api.golang.values import go_syntax
from engine.api.patch.strategic_common import go_text
from engine.api.schema import Schema
from engine.api.types import Object

Path = tuple[str, ...]
_TWICE = ": duplicate entries for key"


def check_applied(kind: FieldType, applied: Object) -> None:
    """Raises ApiError 500, as upstream does, naming every field that does not fit."""
    if text := misfits(kind, applied):
        raise ApiError(500, "", f"failed to create typed patch object ({named(applied)}): {text}")


def misfits(kind: FieldType, value: Any, *, twice: bool = False) -> str:
    """What of a value does not fit its type, as one text; "" for nothing. `twice`: lists may have an element twice."""
    errors: list[str] = []
    _check(kind, value, (), errors)
    if twice:
        errors = [error for error in errors if _TWICE not in error]
    return "\n".join(["errors:", *(f"  {error}" for error in errors)]) if len(errors) > 1 else "".join(errors)


def named(applied: Object) -> str:
    """A configuration as errors name it: of metadata that is none there is nothing to tell."""
    metadata = applied.get("metadata")
    found = metadata if isinstance(metadata, dict) else {}
    group_version = applied.get("apiVersion", "")
    if "/" not in group_version:
        group_version = f"/{group_version}"
    name = "/".join(text if isinstance(text := found.get(key), str) else "" for key in ("namespace", "name"))
    return f"{name}; {group_version}, Kind={applied.get('kind', '')}"


def _check(kind: FieldType, value: Any, path: Path, errors: list[str]) -> None:
    schema = kind.schema
    if value is None:
        return
    if isinstance(kind, ListType):
        _check_list(kind, value, path, errors)
    elif isinstance(kind, MapType):
        _check_map(kind, value, path, errors)
    elif schema is not None and schema.type == "array":
        _check_items(field_type(schema.items, preserving=kind.preserving), value, path, errors)
    elif schema is not None and schema.type == "object" and (schema.properties or schema.values is not None):
        _check_map(_granular(schema, preserving=kind.preserving), value, path, errors)
    elif (wrong := _wrong_leaf(kind, value)) is not None:
        errors.append(_at(path, wrong))


@lru_cache(maxsize=16384)
def _granular(schema: Schema, *, preserving: bool) -> MapType:
    """A struct or map that is owned as a whole, as what is in it is declared: it is looked into all the same."""
    return MapType(schema, preserving=preserving)


def _check_items(items: FieldType, value: Any, path: Path, errors: list[str]) -> None:
    """The elements of a list that is owned as a whole, which have no names but their places."""
    if not isinstance(value, list):
        errors.append(_at(path, f"expected list, got &{{{go_text(value)}}}"))
        return
    for index, item in enumerate(value):
        _check(items, item, (*path, f"i:{index}"), errors)


def _at(path: Path, message: str) -> str:
    return f"{path_text(path)}: {message}" if path else message


def _check_map(kind: MapType, value: Any, path: Path, errors: list[str]) -> None:
    if kind.schema is None:
        if not isinstance(value, dict):
            return
    elif not isinstance(value, dict):
        errors.append(_at(path, f"expected map, got &{{{go_text(value)}}}"))
        return
    for key, item in value.items():
        step, below, _ = kind.field(key)
        if kind.schema is not None and kind.schema.field(key) is None and not kind.open:
            errors.append(_at((*path, step), "field not declared in schema"))
            return  # as upstream: the others are not looked at
        _check(below, item, (*path, step), errors)


def _check_list(kind: ListType, value: Any, path: Path, errors: list[str]) -> None:
    if not isinstance(value, list):
        errors.append(_at(path, f"expected list, got &{{{go_text(value)}}}"))
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        if (wrong := _no_step(kind, item)) is not None:
            errors.append(_at(path, f"element {index}: {wrong}"))
            return
        step = kind.step(item)
        if step in seen:
            errors.append(f"{path_text(path)}{_TWICE} {path_text((step,))}")
        seen.add(step)
        _check(kind.items, item, (*path, step), errors)


def _no_step(kind: ListType, item: Any) -> str | None:
    """What is wrong with an element that cannot be told from others."""
    if not kind.keys:
        return _no_value(item)
    if item is None:
        return "associative list with keys may not have a null element"
    if not isinstance(item, dict):
        return "associative list with keys may not have non-map elements"
    missing = kind.missing_keys(item)
    if not missing:
        return None
    if kind.needs_all_keys:
        return (
            f"associative list with keys has an element that omits key field {quoted(missing[0])} (and doesn't have "
            "default value)"
        )
    return (
        f"associative list with keys has an element that omits all key fields [{' '.join(map(quoted, missing))}] (and "
        "doesn't have default values for any key fields)"
    )


def _no_value(item: Any) -> str | None:
    if isinstance(item, dict):
        return "associative list without keys has an element that's a map type"
    if isinstance(item, list):
        return "not supported: associative list with lists as elements"
    return "associative list without keys has an element that's an explicit null" if item is None else None


def _wrong_leaf(kind: FieldType, value: Any) -> str | None:
    schema = kind.schema
    if schema is None:
        return None
    wanted = schema.type
    if schema.int_or_string or schema.quantity or (wanted == "string" and schema.format not in ("", "byte")):
        return f"expected any scalar, got &{{{go_text(value)}}}" if isinstance(value, dict | list) else None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if wanted in ("integer", "number") and not number:
        return f"expected numeric (int or float), got {_go_type(value)}"
    if wanted == "string" and not isinstance(value, str):
        return f"expected string, got &value.valueUnstructured{{Value:{go_syntax(value)}}}"
    if wanted == "boolean" and not isinstance(value, bool):
        return f"expected boolean, got &{{{go_text(value)}}}"
    if wanted == "object" and not isinstance(value, dict):
        return f"expected map, got &{{{go_text(value)}}}"
    return None


def _go_type(value: Any) -> str:
    names = {str: "string", bool: "bool", dict: "map[string]interface {}", list: "[]interface {}"}
    return names.get(type(value), "<nil>")
