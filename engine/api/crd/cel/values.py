"""Values as rules see them: fields under their CEL names, bytes, times and durations as such, sets and maps as such.

Source: apiserver pkg/cel/common/values.go.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Any

from engine.api.cel.times import parse_duration
from engine.api.cel.values import Duration, EvaluationError, Failed, MapList, Timestamp, Unordered
from engine.api.crd.cel.escaping import escaped
from engine.api.crd.structural import Structural
from engine.api.golang.floats import WholeFloat
from engine.api.golang.time import instant

_RESOURCE_META = ("name", "generateName")
# What values of a type are, and what is said of others.
_FORMS: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
}
_WANTED = {
    "object": "expected a map for the provided schema with type=object",
    "array": "expected an array for the provided schema with type=array",
    "string": "expected string",
    "number": "expected float",
    "integer": "expected int",
    "boolean": "expected bool",
}
_GO_TYPES = {
    str: "string",
    int: "int64",
    float: "float64",
    WholeFloat: "float64",
    bool: "bool",
    dict: "map[string]interface {}",
    list: "[]interface {}",
}
_LONG_UNITS = {"d": 86400 * 10**9, "w": 7 * 86400 * 10**9, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_LONG_DURATION = re.compile(r"(\d+)\s*(d|w|s|m|h)\w*")
_LOOSE_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ]?(\d\d:\d\d:\d\d(?:\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?")


def to_cel(schema: Structural | None, value: Any, *, resource: bool = False) -> Any:
    """`resource` says that the value has type and metadata though its schema need not say so. A value that has not
    changed since its schema said another type of it is let be, but rules cannot speak of it."""
    if schema is not None and (misfit := _misfit(schema, value)):
        return Failed(EvaluationError(f"invalid data, {misfit}"))
    if isinstance(value, dict):
        return _object(schema, value, resource=resource or (schema is not None and schema.embedded))
    if isinstance(value, list):
        return _list(schema, value)
    if schema is None or value is None or schema.int_or_string:
        return value
    if schema.type == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return _formatted(schema.format, value) if isinstance(value, str) and schema.format else value


def _misfit(schema: Structural, value: Any) -> str:
    """What is said of a value that is not of its schema's type; "" for one that is."""
    if value is None:
        return "" if schema.nullable else "got null for schema with nullable=false"
    if schema.int_or_string:
        return "" if value.__class__ in (int, str) else "expected XIntOrString value to be either a string or integer"
    return "" if _fits(schema, value) else f"{_WANTED[schema.type]}{_found(schema, value)}"


def _fits(schema: Structural, value: Any) -> bool:
    """A whole number that is written as a float is none to rules, though it fits its schema."""
    wanted = _FORMS.get(schema.type)
    if wanted is None:
        return True
    if schema.type == "integer" and value.__class__ is WholeFloat:
        return False
    return isinstance(value, wanted) and (value.__class__ is not bool or schema.type == "boolean")


def _found(schema: Structural, value: Any) -> str:
    return "" if schema.type in ("object", "array") else f", got {_GO_TYPES[value.__class__]}"


def _list(schema: Structural | None, value: list[Any]) -> list[Any]:
    if schema is None:
        return value
    items = [to_cel(schema.items, item) for item in value]
    match schema.list_type:
        case "set":
            return Unordered(items)
        case "map":
            return MapList(items, tuple(escaped(key) or key for key in schema.list_map_keys))
    return items


def _object(schema: Structural | None, value: dict[str, Any], *, resource: bool) -> dict[str, Any]:
    """A field that is null is not there. What rules cannot speak of still tells objects from each other."""
    if schema is None:
        return value
    made: dict[str, Any] = {}
    for key, item in value.items():
        if resource and key == "metadata" and isinstance(item, dict):
            made[key] = {name: item[name] for name in _RESOURCE_META if name in item}
        elif key in schema.properties:
            if item is not None:
                made[escaped(key) or key] = to_cel(schema.properties[key], item)
        else:
            made[key] = to_cel(schema.values, item)
    return made


def _formatted(format_: str, text: str) -> Any:
    try:
        match format_:
            case "byte":
                return b64decode(text, validate=True)
            case "duration":
                return _duration(text)
            case "date" | "date-time" | "datetime":
                return _time(text)
    except (ValueError, Base64Error):
        return text
    return text


def _duration(text: str) -> Duration:
    """As Go has it, or in words as kube-openapi takes them too."""
    try:
        return parse_duration(text)
    except ValueError:
        return Duration(sum(int(number) * _LONG_UNITS[unit] for number, unit in _LONG_DURATION.findall(text)))


def _time(text: str) -> Timestamp:
    match = _LOOSE_TIME.fullmatch(text)
    if match is None:
        raise ValueError(text)
    zone = match[3] or "Z"
    if len(zone) == 5:
        zone = f"{zone[:3]}:{zone[3:]}"
    return Timestamp(*instant(f"{match[1]}T{match[2] or '00:00:00'}{zone}"))
