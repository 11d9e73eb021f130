"""Values as rules see them: fields under their CEL names, bytes as such; times and durations are made by `fields`.

Source: apiserver pkg/cel/common/values.go, pkg/cel/common/schemas.go. What the schema does not know is hidden.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.api.crd.cel.escaping import escaped
from engine.api.crd.structural import Structural

_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "w": 604800.0,
}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s|m|h|d|w)")
_RESOURCE_META = ("name", "generateName")


def to_cel(schema: Structural | None, value: Any, *, resource: bool = False) -> Any:
    """`resource` says that the value has type and metadata though its schema need not say so."""
    if isinstance(value, dict):
        return _object(schema, value, resource=resource or (schema is not None and schema.embedded))
    if isinstance(value, list):
        items = schema.items if schema is not None else None
        return [to_cel(items, item) for item in value]
    if schema is None or value is None or schema.int_or_string:
        return value
    if schema.type == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return _formatted(schema.format, value) if isinstance(value, str) and schema.format else value


def _object(schema: Structural | None, value: dict[str, Any], *, resource: bool) -> dict[str, Any]:
    if schema is None or (schema.preserve and not schema.properties and schema.values is None and not resource):
        return {key: to_cel(None, item) for key, item in value.items()}
    made: dict[str, Any] = {}
    for key, item in value.items():
        if resource and key == "metadata" and isinstance(item, dict):
            made[key] = {name: item[name] for name in _RESOURCE_META if name in item}
        elif resource and key in ("apiVersion", "kind"):
            made[key] = item
        elif key in schema.properties:
            name = escaped(key)
            if name is not None:
                made[name] = to_cel(schema.properties[key], item)
        elif schema.has_values:
            made[key] = to_cel(schema.values, item)
    return made


def _formatted(format_: str, text: str) -> Any:
    if format_ != "byte":
        return text
    try:
        return b64decode(text, validate=True)
    except (ValueError, Base64Error):
        return text


def time_of(text: str) -> datetime:
    """A date or a time. Raises ValueError."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def duration_of(text: str) -> timedelta:
    sign = -1 if text.startswith("-") else 1
    parts = _DURATION.findall(text)
    return sign * timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in parts))
