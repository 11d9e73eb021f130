"""The form of a configuration: which fields there are and of which type. Unknown fields and wrong types are errors, as
the real scheduler's strict decoder has it."""

from __future__ import annotations

import re
from typing import Any

INT, STRING, BOOL, FLOAT, DURATION, ANY = "int", "string", "bool", "float", "duration", "any"

# A leaf by its type's name, a list by a list of one form, a struct by its fields.
Form = str | list[Any] | dict[str, Any]

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")


class ConfigurationError(ValueError):
    """A configuration that the scheduler does not start with; the message is for the person who wrote it."""


def seconds(text: str) -> float:
    """A Go duration such as `1m30s`. Raises ValueError."""
    if text == "0":
        return 0.0
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text.lstrip("+-"):
        raise ValueError(f'time: invalid duration "{text}"')
    total = sum(float(number) * _UNITS[unit] for number, unit in parts)
    return -total if text.startswith("-") else total


def check(value: Any, form: Form, path: str, unknown: list[str]) -> None:
    """Raises ConfigurationError for a wrong type; the paths of unknown fields are added to `unknown`."""
    if value is None:
        return
    if isinstance(form, dict):
        _check_struct(value, form, path, unknown)
    elif isinstance(form, list):
        if not isinstance(value, list):
            raise _wrong(value, "array", path)
        for index, item in enumerate(value):
            check(item, form[0], f"{path}[{index}]", unknown)
    else:
        _check_leaf(value, form, path)


def _check_struct(value: Any, form: dict[str, Any], path: str, unknown: list[str]) -> None:
    if not isinstance(value, dict):
        raise _wrong(value, "object", path)
    for name, item in value.items():
        where = f"{path}.{name}" if path else str(name)
        if name not in form:
            unknown.append(where)
        else:
            check(item, form[name], where, unknown)


def _check_leaf(value: Any, form: str, path: str) -> None:
    match form:
        case "int":
            fits = isinstance(value, int) and not isinstance(value, bool)
        case "float":
            fits = isinstance(value, int | float) and not isinstance(value, bool)
        case "bool":
            fits = isinstance(value, bool)
        case "string":
            fits = isinstance(value, str)
        case "duration":
            fits = isinstance(value, str)
            if fits:
                try:
                    seconds(value)
                except ValueError as error:
                    raise ConfigurationError(f"{path}: {error}") from error
        case _:
            fits = True
    if not fits:
        raise _wrong(value, form, path)


def _wrong(value: Any, wanted: str, path: str) -> ConfigurationError:
    names = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    found = names.get(type(value), "value")
    return ConfigurationError(f"{path or 'the file'}: json: cannot unmarshal {found} into a field of type {wanted}")


def strict_error(unknown: list[str]) -> ConfigurationError:
    listed = ", ".join(f'unknown field "{path}"' for path in unknown)
    return ConfigurationError(f"strict decoding error: {listed}")
