"""Values of JSON as Go's fmt prints them (print.go): with %v, maps by their keys and nothing quoted, and with %#v."""

from __future__ import annotations

from typing import Any

from engine.api.golang.floats import shown_float
from engine.api.golang.text import quoted


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


def go_syntax(value: Any) -> str:
    """`map[string]interface {}{"a":1, "b":[]interface {}{"x", interface {}(nil)}}`."""
    if isinstance(value, dict):
        entries = (f"{quoted(key)}:{_within(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{', '.join(entries)}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_within, value))}}}"
    return quoted(value) if isinstance(value, str) else shown_value(value)


def _within(value: Any) -> str:
    return "interface {}(nil)" if value is None else go_syntax(value)
