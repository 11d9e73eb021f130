"""JSON in annotations of old, which Go decodes into a type of its own: what it says of values that do not fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from engine.api.golang.json import syntax_error

# What encoding/json calls values, and which of them go into Go's plain types.
_KINDS = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}
_PLAIN = {"int64": int, "bool": bool}


class Struct(NamedTuple):
    """A type by its package and name, with its fields: plain types by name (those not told are text) or structs."""

    package: str
    name: str
    fields: Mapping[str, Struct | str]
    many: tuple[str, ...] = ()
    """The fields that are lists."""


class _Unfit(Exception):
    pass


def decoded(text: str, struct: Struct, *, many: bool = False) -> Any:
    """The value, a list with `many`; or, as text, what Go says of one that is broken or of another kind."""
    try:
        value = orjson.loads(text)
    except ValueError as error:
        return syntax_error(text) or str(error)
    try:
        return _fitted(value, struct, many=many, where="value")
    except _Unfit as error:
        return str(error)


def _fitted(value: Any, shape: Struct | str, *, many: bool, where: str) -> Any:
    name = f"{shape.package}.{shape.name}" if isinstance(shape, Struct) else shape
    kind: type[Any] = list if many else dict if isinstance(shape, Struct) else _PLAIN.get(shape, str)
    if value is None:
        return kind()
    if type(value) is not kind:
        of = f"{'[]' if many else ''}{name}"
        raise _Unfit(f"json: cannot unmarshal {_KINDS[type(value)]} into Go {where} of type {of}")
    if many:
        return [_fitted(each, shape, many=False, where=where) for each in value]
    return _fields(value, shape) if isinstance(shape, Struct) else value


def _fields(value: Mapping[str, Any], struct: Struct) -> dict[str, Any]:
    known = {field.lower(): field for field in struct.fields}  # Go does not mind capitals
    found = {}
    for given, item in value.items():
        field = known.get(given.lower())
        if field is not None and item is not None:
            where = f"struct field {struct.name}.{field}"
            found[field] = _fitted(item, struct.fields[field], many=field in struct.many, where=where)
    return found
