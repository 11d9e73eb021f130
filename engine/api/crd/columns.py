"""The table of a custom resource, from its printer columns.

Source of the behaviour: apiextensions-apiserver pkg/registry/customresource/tableconvertor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.api.duration import human_duration
from engine.api.golang import time as go_time
from engine.api.golang.floats import shown_float
from engine.api.golang.json import written
from engine.api.jsonpath import JsonPath, JsonPathError
from engine.api.tables.columns import NAME, Column, KindTable, Row, kind_table
from engine.api.tables.registry import NAME_AND_AGE
from engine.api.types import Object

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_TIME = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(seconds=1) * 10**9  # Go's zero time
_LONGEST = 2**63 - 1  # the nanoseconds that a Go duration holds


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
        return _shown(found[0], kind, row) if found else None  # the first of what it leads to stands for all

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
    """The age of what is a time to Go (metav1.Time UnmarshalQueryParameter takes the text `null` for none)."""
    if not isinstance(value, str):
        return None
    try:
        moment = _NO_TIME if value in ("", "null") else go_time.instant(value)[0]
    except go_time.TimeError:
        return "<invalid>"
    if moment == _NO_TIME:
        return "<unknown>"
    now = (row.now - _EPOCH) // timedelta(microseconds=1) * 1000
    return human_duration(min(now - moment, _LONGEST) / 10**9)
