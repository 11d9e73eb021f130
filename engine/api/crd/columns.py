"""The table of a custom resource, from its printer columns.

Source of the behaviour: apiextensions-apiserver pkg/registry/customresource/tableconvertor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from engine.api.duration import human_age
from engine.api.golang.floats import shown_float
from engine.api.golang.json import written
from engine.api.jsonpath import JsonPath, JsonPathError
from engine.api.tables.columns import NAME, Column, KindTable, Row, kind_table
from engine.api.tables.registry import NAME_AND_AGE
from engine.api.types import Object


def layout(columns: Iterable[Object]) -> KindTable[Row]:
    """Name and age where a version says nothing of columns; else the name and the columns that it names, up to the
    first whose path is none."""
    specs, made = list(columns), []
    for spec in specs:
        try:
            made.append(_column(spec))
        except JsonPathError:
            break
    return kind_table(NAME, *made) if specs else NAME_AND_AGE


def _column(spec: Object) -> Column[Row]:
    path = spec["jsonPath"]
    text = f"Custom resource definition column (in JSONPath format): {path}"
    return Column(
        spec["name"],
        _cell(template_of(path), spec["type"]),
        spec.get("description") or text,
        type=spec["type"],
        format=spec.get("format", ""),
        priority=spec.get("priority", 0),
    )


def template_of(path: str) -> JsonPath:
    """A path as definitions name it, without braces. Raises JsonPathError."""
    return JsonPath(f"{{{path}}}")


def found_by(path: JsonPath, obj: Object) -> list[Any]:
    """What it leads to; nothing where it cannot be followed."""
    try:
        results = path.find(obj)
    except JsonPathError:
        return []
    return results[0] if results else []


def _cell(path: JsonPath, kind: str) -> Callable[[Row], Any]:
    def cell(row: Row) -> Any:
        found = found_by(path, row.object)
        return _shown(found[0] if len(found) == 1 else found, kind, row) if found else None

    return cell


def _shown(value: Any, kind: str, row: Row) -> Any:
    match kind:
        case "string":
            return _text(value)
        case "integer":
            return int(value) if _number(value) else None
        case "number":
            return value if _number(value) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "date":
            return _date(value, row)
    return None


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "<no value>"  # a null, as Go's templates print what is nothing
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return shown_float(value)
    return written(value)


def _date(value: Any, row: Row) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        return human_age(value, row.now)
    except (ValueError, TypeError):
        return "<invalid>"
