"""The form of a configuration: which fields there are and of which type. Unknown fields and wrong types are told as
sigs.k8s.io/json has them, in strict mode."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

INT32, INT64, STRING, BOOL, FLOAT, DURATION, ANY = "int32", "int64", "string", "bool", "float32", "duration", "any"

# A leaf by its type's name, a list by a list of one form, a struct by its fields.
Form = "str | list[Any] | Struct"


class Struct(NamedTuple):
    """`name` is that of the Go type, `package` what errors call the one that it is in."""

    name: str
    fields: Mapping[str, Any]
    package: str = "v1"


_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_BITS = {INT32: 31, INT64: 63}


class ConfigurationError(ValueError):
    """A configuration that the scheduler does not start with; the message is for the person who wrote it."""


class _At(NamedTuple):
    """Where in a value: the whole path, and what errors of a type name, the struct and the fields without indices."""

    path: str = ""
    struct: str = ""
    names: tuple[str, ...] = ()

    def field(self, struct: str, name: str) -> _At:
        return _At(f"{self.path}.{name}" if self.path else name, struct, (*self.names, name))

    def item(self, index: int) -> _At:
        return self._replace(path=f"{self.path}[{index}]")

    def wrong(self, value: Any, wanted: str) -> ConfigurationError:
        field = f"struct field {self.struct}.{'.'.join(self.names)}" if self.names else "value"
        return ConfigurationError(f"json: cannot unmarshal {_kind(value, wanted)} into Go {field} of type {wanted}")


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


def check(value: Any, form: Any) -> list[str]:
    """The paths of unknown fields, in the order in which Go meets them. Raises ConfigurationError for a wrong type."""
    unknown: list[str] = []
    _check(value, form, _At(), unknown)
    return unknown


def _check(value: Any, form: Any, at: _At, unknown: list[str]) -> None:
    if value is None:
        return
    if isinstance(form, Struct):
        if not isinstance(value, dict):
            raise at.wrong(value, _type(form))
        # The keys of YAML reach Go's decoder sorted.
        for name in sorted(value):
            inner = at.field(form.name, name)
            if name not in form.fields:
                unknown.append(inner.path)
            else:
                _check(value[name], form.fields[name], inner, unknown)
    elif isinstance(form, list):
        if not isinstance(value, list):
            raise at.wrong(value, _type(form))
        for index, item in enumerate(value):
            _check(item, form[0], at.item(index), unknown)
    elif not _fits(value, form):
        raise at.wrong(value, _type(form))
    elif form == DURATION:
        try:
            seconds(value)
        except ValueError as error:
            raise ConfigurationError(str(error)) from error


def _fits(value: Any, form: str) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match form:
        case "int32" | "int64":
            return number and isinstance(value, int) and -(2 ** _BITS[form]) <= value < 2 ** _BITS[form]
        case "float32":
            return number
        case "bool":
            return isinstance(value, bool)
        case "string" | "duration":
            return isinstance(value, str)
        case _:
            return True


def _type(form: Any) -> str:
    if isinstance(form, Struct):
        return f"{form.package}.{form.name}"
    if isinstance(form, list):
        return f"[]{_type(form[0])}"
    return STRING if form == DURATION else str(form)


def _kind(value: Any, wanted: str) -> str:
    """A number of another kind or size is told with its value."""
    names = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    found = names[type(value)]
    return f"number {value}" if found == "number" and wanted in _BITS else found


def strict_error(problems: list[str]) -> ConfigurationError:
    return ConfigurationError(f"strict decoding error: {', '.join(problems)}")


def unknown_fields(paths: list[str]) -> list[str]:
    return [f'unknown field "{path}"' for path in paths]
