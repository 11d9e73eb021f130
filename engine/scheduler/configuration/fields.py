"""Types of a configuration that have no counterpart in JSON, and the errors of strict decoding."""

from __future__ import annotations

import re
from typing import Any

from engine.api.golang import forms as go_forms
from engine.api.golang.forms import ANY, BOOL, FLOAT, INT32, INT64, STRING, Leaf, Struct, UnmarshalError

__all__ = ["ANY", "BOOL", "DURATION", "FLOAT", "INT32", "INT64", "STRING", "Struct"]

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")


class ConfigurationError(ValueError):
    """A configuration that the scheduler does not start with; the message is for the person who wrote it."""


def seconds(text: str) -> float:
    """A Go duration such as `1m30s`. Raises ValueError."""
    if text.lstrip("+-") == "0":
        return 0.0
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != re.sub(r"^[+-]", "", text):
        raise ValueError(_bad_duration(text))
    total = sum(float(number) * _UNITS[unit] for number, unit in parts)
    return -total if text.startswith("-") else total


def _bad_duration(text: str) -> str:
    """What Go says of it: a number without a unit, a unit that is none, or neither."""
    rest = re.sub(r"^[+-]", "", text)
    while match := re.match(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([^0-9.]*)", rest):
        unit = match[2]
        if not unit:
            return f'time: missing unit in duration "{text}"'
        if unit not in _UNITS:
            return f'time: unknown unit "{unit}" in duration "{text}"'
        rest = rest[match.end() :]
    return f'time: invalid duration "{text}"'


def _refuse_duration(value: Any) -> None:
    seconds(value)


DURATION = Leaf("string", STRING.fits, _refuse_duration)


def check(value: Any, form: go_forms.Form) -> list[str]:
    """The paths of unknown fields, in the order in which Go meets them. Raises ConfigurationError for a wrong type."""
    try:
        return go_forms.check(value, form)
    except UnmarshalError as error:
        raise ConfigurationError(str(error)) from error


def strict_error(problems: list[str]) -> ConfigurationError:
    return ConfigurationError(f"strict decoding error: {', '.join(problems)}")


def unknown_fields(paths: list[str]) -> list[str]:
    return [f'unknown field "{path}"' for path in paths]
