"""The form of a document that Go reads into structs: which fields there are and of which type.

What is not of its type is told in encoding/json's words (decode.go, UnmarshalTypeError), the first one in the order in
which the decoder meets it: documents come from YAML, whose keys reach it sorted. For files that are no API objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from engine.api.golang.base64 import first_illegal_byte

_NAMES = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
_TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


class UnmarshalError(ValueError):
    """A document that does not fit its form; the message is Go's."""


def _anything(value: Any) -> bool:
    return True


def _nothing(value: Any) -> None:
    return None


class Leaf(NamedTuple):
    """`refuse` raises ValueError for what is of the right type and still not what the type takes in."""

    type: str
    fits: Callable[[Any], bool] = _anything
    refuse: Callable[[Any], None] = _nothing
    whole: bool = False


class Struct(NamedTuple):
    """`name` is that of the Go type, `package` what errors call the one that it is in. Fields are in Go's order."""

    name: str
    fields: Mapping[str, Any]
    package: str = "v1"


class Map(NamedTuple):
    values: Any


# A leaf, a list by a list of one form, a map by the form of its values, a struct by its fields.
Form = Leaf | Struct | Map | list[Any]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _integer(bits: int) -> Leaf:
    def fits(value: Any) -> bool:
        return _is_number(value) and isinstance(value, int) and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)

    return Leaf(f"int{bits}", fits, whole=True)


def _refuse_base64(value: Any) -> None:
    if isinstance(value, str) and (at := first_illegal_byte(value)) is not None:
        raise ValueError(f"illegal base64 data at input byte {at}")


def _is_bytes(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, int) and not isinstance(item, bool) and 0 <= item < 256 for item in value)
    return isinstance(value, str)


STRING = Leaf("string", _is_text)
BOOL = Leaf("bool", lambda value: isinstance(value, bool))
INT32, INT64 = _integer(32), _integer(64)
FLOAT = Leaf("float32", _is_number)
BYTES = Leaf("[]uint8", _is_bytes, _refuse_base64)
ANY = Leaf("any")


class _At(NamedTuple):
    """Where in a value: the whole path, and what errors of a type name, the struct and the fields without indices."""

    path: str = ""
    struct: str = ""
    names: tuple[str, ...] = ()

    def field(self, struct: str, name: str) -> _At:
        return _At(f"{self.path}.{name}" if self.path else name, struct, (*self.names, name))

    def item(self, index: int) -> _At:
        return self._replace(path=f"{self.path}[{index}]")

    def wrong(self, value: Any, form: Form) -> UnmarshalError:
        field = f"struct field {self.struct}.{'.'.join(self.names)}" if self.names else "value"
        return UnmarshalError(f"json: cannot unmarshal {_kind(value, form)} into Go {field} of type {_type(form)}")


def check(value: Any, form: Form) -> list[str]:
    """The paths of unknown fields, in the order in which Go meets them. Raises UnmarshalError for a wrong type."""
    unknown: list[str] = []
    _check(value, form, _At(), unknown)
    return unknown


def _check(value: Any, form: Form, at: _At, unknown: list[str]) -> None:
    if value is None:
        return
    if isinstance(form, Struct):
        _check_struct(_of(dict, value, form, at), form, at, unknown)
    elif isinstance(form, Map):
        for key in sorted(_of(dict, value, form, at)):
            _check(value[key], form.values, at, unknown)
    elif isinstance(form, list):
        for index, item in enumerate(_of(list, value, form, at)):
            _check(item, form[0], at.item(index), unknown)
    elif not form.fits(value):
        raise at.wrong(value, form)
    else:
        try:
            form.refuse(value)
        except ValueError as error:
            raise UnmarshalError(str(error)) from error


def _of(kind: type, value: Any, form: Form, at: _At) -> Any:
    if not isinstance(value, kind):
        raise at.wrong(value, form)
    return value


def _check_struct(value: Mapping[str, Any], form: Struct, at: _At, unknown: list[str]) -> None:
    for name in sorted(value):
        inner = at.field(form.name, name)
        if name not in form.fields:
            unknown.append(inner.path)
        else:
            _check(value[name], form.fields[name], inner, unknown)


def _type(form: Form) -> str:
    if isinstance(form, Struct):
        return f"{form.package}.{form.name}"
    if isinstance(form, Map):
        return f"map[string]{_type(form.values)}"
    return f"[]{_type(form[0])}" if isinstance(form, list) else form.type


def _kind(value: Any, form: Form) -> str:
    """A number of another kind or size is told with its value."""
    found = _NAMES[type(value)]
    return f"number {value}" if found == "number" and isinstance(form, Leaf) and form.whole else found


def type_meta(value: Any) -> tuple[str, str]:
    """The kind and apiVersion that a document says it has (serializer/json/meta.go). Raises UnmarshalError."""
    if value is None:
        return "", ""
    if not isinstance(value, dict):
        raise _no_meta(value, f"value of type {_TYPE_META}")
    for name in ("apiVersion", "kind"):
        if not isinstance(value.get(name, ""), str | None):
            raise _no_meta(value[name], f"struct field .{name} of type string")
    return value.get("kind") or "", value.get("apiVersion") or ""


def _no_meta(value: Any, into: str) -> UnmarshalError:
    return UnmarshalError(
        f"couldn't get version/kind; json parse error: json: cannot unmarshal {_NAMES[type(value)]} into Go {into}"
    )
