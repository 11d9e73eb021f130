"""Values of JSON as Go's fmt prints them with %v (fmt, print.go): maps by their keys, nothing quoted."""

from __future__ import annotations

from typing import Any

from engine.api.golang.floats import shown_float


def shown_value(value: Any) -> str:
    """`map[a:1 b:[x <nil>]]`."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return shown_float(value)
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{shown_value(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(shown_value, value))}]"
    return str(value)
