"""Values as rules see them: fields under their CEL names, bytes, times and durations as such, sets and maps as such.

Source: apiserver pkg/cel/common/values.go.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from typing import Any

from engine.api.cel.conversions import parse_duration, parse_timestamp
from engine.api.cel.values import Duration, MapList, Timestamp, Unordered
from engine.api.crd.cel.escaping import escaped
from engine.api.crd.structural import Structural

_RESOURCE_META = ("name", "generateName")
_LONG_UNITS = {"d": 86400 * 10**9, "w": 7 * 86400 * 10**9, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_LONG_DURATION = re.compile(r"(\d+)\s*(d|w|s|m|h)\w*")
_LOOSE_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ]?(\d\d:\d\d:\d\d(?:\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?")


def to_cel(schema: Structural | None, value: Any, *, resource: bool = False) -> Any:
    """`resource` says that the value has type and metadata though its schema need not say so."""
    if isinstance(value, dict):
        return _object(schema, value, resource=resource or (schema is not None and schema.embedded))
    if isinstance(value, list):
        return _list(schema, value)
    if schema is None or value is None or schema.int_or_string:
        return value
    if schema.type == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if schema.type == "integer" and isinstance(value, float):
        return int(value)
    return _formatted(schema.format, value) if isinstance(value, str) and schema.format else value


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
    return parse_timestamp(f"{match[1]}T{match[2] or '00:00:00'}{zone}")
