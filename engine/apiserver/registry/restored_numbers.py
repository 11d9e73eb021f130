"""Numbers of an object that is restored from a map, as a strategic merge patch leaves one: a float that is a whole
number goes where Go has an integer, or whatever reads JSON by itself.

Source: apimachinery pkg/runtime/converter.go (fromUnstructured).
"""

from __future__ import annotations

from typing import Any

from engine.api.schema import Schema

_INT64 = 2**63


def restored(schema: Schema | None, value: Any) -> Any:
    """The value with what is whole as an integer, but where a text is to stand: that its error tells of."""
    if isinstance(value, dict):
        return {name: restored(_below(schema, name), item) for name, item in value.items()}
    if isinstance(value, list):
        return [restored(schema.items if schema is not None else None, item) for item in value]
    if not isinstance(value, float) or not value.is_integer() or abs(value) >= _INT64:
        return value
    is_text = schema is not None and schema.type == "string" and not (schema.quantity or schema.int_or_string)
    return value if is_text else int(value)


def _below(schema: Schema | None, name: str) -> Schema | None:
    return None if schema is None else schema.properties.get(name) or schema.values
