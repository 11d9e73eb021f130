"""Types of a configuration that have no counterpart in JSON, and the errors of strict decoding."""

from __future__ import annotations

from typing import Any

from engine.api.golang import forms as go_forms
from engine.api.golang.duration import parse_duration
from engine.api.golang.forms import ANY, BOOL, FLOAT, INT32, INT64, STRING, Leaf, Struct, UnmarshalError

__all__ = ["ANY", "BOOL", "DURATION", "FLOAT", "INT32", "INT64", "STRING", "Struct"]


class ConfigurationError(ValueError):
    """A configuration that the scheduler does not start with; the message is for the person who wrote it."""


def _refuse_duration(value: Any) -> None:
    parse_duration(value)


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
