"""Fields that an API server never leaves out, as Go has them where nobody has set them.

A dump that was written or cut by hand may lack them; what decides reads them without asking.
"""

from __future__ import annotations

from typing import Any

from engine.api.schema import Schema

_ZERO: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}


def with_zero_values(schema: Schema, value: Any) -> Any:
    """The same value with its required fields; itself where it has them all."""
    if isinstance(value, list):
        items = schema.items
        return value if items is None else _kept(value, [with_zero_values(items, each) for each in value])
    if not isinstance(value, dict):
        return value
    filled = {key: with_zero_values(field, child) for key, child in value.items() if (field := schema.field(key))}
    for name in schema.required:
        if name not in value and (field := schema.properties.get(name)) is not None:
            filled[name] = with_zero_values(field, _zero(field))
    return _kept(value, {**value, **filled})


def _kept(value: Any, filled: Any) -> Any:
    """What was there, if nothing had to be filled in."""
    return value if filled == value else filled


def _zero(schema: Schema) -> Any:
    if schema.quantity:
        return "0"
    if schema.type == "array":
        return []
    return _ZERO.get(schema.type, {})
