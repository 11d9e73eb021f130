"""What the scale subresource wants of an object (pkg/registry/customresource/validator.go)."""

from __future__ import annotations

from typing import Any

from engine.api.crd.values import json_type
from engine.api.extension import ScalePaths
from engine.api.golang.values import shown_value
from engine.api.types import Object
from engine.api.validation.problems import Problems

_MAX = 2**31 - 1
_GO_TYPES = {
    "array": "[]interface {}",
    "boolean": "bool",
    "integer": "int64",
    "null": "<nil>",
    "number": "float64",
    "object": "map[string]interface {}",
    "string": "string",
}
_MAP = "map[string]interface{}"


def check_scale(scale: ScalePaths, obj: Object, problems: Problems, *, status: bool = False) -> None:
    """`status`: nothing else is written."""
    for fields in (scale.status,) if status else (scale.spec, scale.status):
        _replicas(fields, obj, problems)
    if scale.selector:
        _, wrong = _found(scale.selector, obj, "string", "string")
        if wrong:
            problems.invalid(_path(scale.selector), "", wrong)


def _replicas(fields: tuple[str, ...], obj: Object, problems: Problems) -> None:
    path = _path(fields)
    value, wrong = _found(fields, obj, "integer", "int64")
    if wrong:
        problems.invalid(path, 0, wrong)
    elif value is not None and value < 0:
        problems.invalid(path, value, "should be a non-negative integer")
    elif value is not None and value > _MAX:
        problems.invalid(path, value, f"should be less than or equal to {_MAX}")


def _path(fields: tuple[str, ...]) -> str:
    return "." + ".".join(fields)


def _found(fields: tuple[str, ...], obj: Object, kind: str, go_type: str) -> tuple[Any, str]:
    """The value, None for none, and what is wrong with it or with what is on the way to it."""
    value: Any = obj
    for depth, name in enumerate(fields):
        if value is None:
            return None, ""
        if not isinstance(value, dict):
            return None, _mismatch(fields[: depth + 1], value, _MAP)
        if name not in value:
            return None, ""
        value = value[name]
    return (value, "") if json_type(value) == kind else (None, _mismatch(fields, value, go_type))


def _mismatch(fields: tuple[str, ...], value: Any, wanted: str) -> str:
    shown = shown_value(value)
    return f"{_path(fields)} accessor error: {shown} is of the type {_GO_TYPES[json_type(value)]}, expected {wanted}"
