"""Decoders of a kind's fields, compiled from its schema once as nested closures.

A decoder takes a JSON value and the way to it, gives back the value as Go's struct would hold it, and adds to the list
of strict errors. A value of the wrong type stops it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import orjson

from engine.api.golang import base64 as go_base64
from engine.api.golang import time as go_time
from engine.api.golang.fields import omits_zero, written
from engine.api.golang.floats import WholeFloat
from engine.api.golang.types import EMPTY_KEPT, FIELDLESS, ZERO_DROPPED, go_type, short_name
from engine.api.json_objects import DUPLICATE, Path, path_text, read_in_turn
from engine.api.quantity import FORMAT_WRONG, Quantity, QuantityError
from engine.api.schema import (
    FIELDS_V1,
    INT_OR_STRING,
    JSON_SCHEMA,
    MICRO_TIME,
    QUANTITY,
    RAW_EXTENSION,
    TIME,
    Definitions,
    Schema,
)
from engine.api.types import Object

# Returns the decoded value, or None for one that is to be left out.
Decode = Callable[[Any, Path, list[str]], Any]

_INT_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
_ZERO = {"string": "", "integer": 0, "number": 0, "boolean": False}


class Mismatch(Exception):
    """A value of the wrong JSON type. The text needs the Go struct around it, which is found only when asked for."""

    def __init__(self, value: Any, path: Path, type_name: str, *, by_type: bool = False) -> None:
        """`by_type` says that the field's type reads its JSON itself (UnmarshalJSON): a time, an int-or-string."""
        self.value = value
        self.path = path
        self.type_name = type_name
        self.by_type = by_type


class Refused(Exception):
    """A value whose own UnmarshalJSON refuses it; the message stands alone, without a path."""


def json_type(value: Any, wanted: str) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return f"number {json.dumps(value)}" if wanted.startswith("int") else "number"
        case dict():
            return "object"
    return "array"


class _Compiler:
    """Makes decoders and keeps one for each named definition, which is also what lets schemas refer to themselves."""

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self._named: dict[str, Decode] = {}

    def decoder(self, schema: Schema) -> Decode:
        if schema.definition not in _SPECIAL and schema.type == "object" and schema.properties and schema.definition:
            return self._struct_by_name(schema)
        return self._make(schema)

    def _struct_by_name(self, schema: Schema) -> Decode:
        known = self._named.get(schema.definition)
        if known is not None:
            return known

        def when_first_used(value: Any, path: Path, strict: list[str]) -> Any:
            return self._named[schema.definition](value, path, strict)

        self._named[schema.definition] = when_first_used
        made = self._struct(schema)
        self._named[schema.definition] = made
        return made

    def _make(self, schema: Schema) -> Decode:
        special = _SPECIAL.get(schema.definition)
        if special is not None:
            return special
        if schema.int_or_string:
            return _int_or_string
        if schema.definition.startswith(f"{JSON_SCHEMA}Or"):
            return _schema_or(schema.definition, self.decoder(self.definitions[JSON_SCHEMA]))
        match schema.type:
            case "object" if schema.properties or short_name(schema.definition) in FIELDLESS:
                return self._struct(schema)
            case "object" if schema.values is not None:
                return self._map(schema, schema.values)
            case "array" if schema.items is not None:
                return self._array(schema, schema.items)
            case "string" if schema.format == "byte":
                return _bytes
            case "string":
                return _scalar(str, "string")
            case "boolean":
                return _scalar(bool, "bool")
            case "integer":
                return _integer(go_type(schema))
            case "number":
                return _number
            case "object":
                return _open(go_type(schema))
        return _json

    def _struct(self, schema: Schema) -> Decode:
        fields: dict[str, tuple[type | None, Decode]] = {}
        for name, node in schema.properties.items():
            fields[name] = self._field(schema.definition, name, node=node, required=name in schema.required)
        zeros = written(schema)
        type_name = go_type(schema)
        open_ended = bool(schema.raw.get("x-kubernetes-preserve-unknown-fields"))
        known = None if open_ended else fields

        def struct(value: Any, path: Path, strict: list[str]) -> Object:
            items = value.items() if type(value) is dict else _items(value, path, strict, type_name, known)
            decoded: Object = {}
            for key, item in items:
                field = fields.get(key)
                if field is None:
                    if open_ended:
                        decoded[key] = _copy(item)
                    else:
                        strict.append(f'unknown field "{path_text((path, key))}"')
                elif item is None:
                    continue
                elif type(item) is field[0]:
                    decoded[key] = item
                else:
                    taken = field[1](item, (path, key), strict)
                    if taken is not None:
                        decoded[key] = taken
            for key, zero in zeros:
                if key not in decoded:
                    decoded[key] = zero
            return decoded

        return struct

    def _field(self, owner: str, name: str, *, node: Schema, required: bool) -> tuple[type | None, Decode]:
        """What a struct does with a field: the type that needs no more than a look, and the decoder for the rest."""
        decode = self.decoder(node)
        if (short_name(owner), name) in EMPTY_KEPT:
            return None, decode
        if (short_name(owner), name) in ZERO_DROPPED or omits_zero(owner, name):
            return None, _unless_zero(decode)
        if node.type == "boolean":
            return bool, decode
        if node.type == "string" and node.format == "" and node.definition not in _SPECIAL:
            return str, decode
        collection = node.type == "array" or (node.type == "object" and node.values is not None and not node.properties)
        return None, _unless_zero(decode) if collection and not required else decode

    def _array(self, schema: Schema, items: Schema) -> Decode:
        decode = self.decoder(items)
        type_name = go_type(schema)
        exact = str if items.type == "string" and items.format == "" and items.definition not in _SPECIAL else None
        zero, of_structs = _zero(items), bool(items.properties)

        def array(value: Any, path: Path, strict: list[str]) -> list[Any]:
            if not isinstance(value, list):
                raise Mismatch(value, path, type_name)
            decoded = []
            for index, item in enumerate(value):
                if type(item) is exact:
                    decoded.append(item)
                elif item is None:
                    decoded.append(decode({}, (path, index), strict) if of_structs else _copy(zero))
                else:
                    decoded.append(decode(item, (path, index), strict))
            return decoded

        return array

    def _map(self, schema: Schema, values: Schema) -> Decode:
        decode = self.decoder(values)
        type_name = go_type(schema)
        exact = str if values.type == "string" and values.format == "" and values.definition not in _SPECIAL else None
        zero = _zero(values)

        def mapping(value: Any, path: Path, strict: list[str]) -> Object:
            items = value.items() if type(value) is dict else _items(value, path, strict, type_name)
            decoded: Object = {}
            for key, item in items:
                if type(item) is exact:
                    decoded[key] = item
                elif item is None:
                    decoded[key] = _copy(zero)
                else:
                    decoded[key] = decode(item, (path, key), strict)
            return decoded

        return mapping


_compilers: dict[int, _Compiler] = {}


def compiler(definitions: Definitions) -> _Compiler:
    definitions = definitions.root
    found = _compilers.get(id(definitions))  # a compiler holds its definitions, so that no id comes again
    if found is None:
        found = _compilers[id(definitions)] = _Compiler(definitions)
    return found


def _items(
    value: Any, path: Path, strict: list[str], type_name: str, known: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, Any]]:
    """The fields of what may be an object. Raises Mismatch."""
    if not isinstance(value, dict):
        raise Mismatch(value, path, type_name)
    return read_in_turn(value, path, strict, known, every=True)


def _zero(schema: Schema) -> Any:
    """What null means where it cannot be left out: Go's zero value."""
    if schema.quantity:
        return "0"
    if schema.definition in (TIME, MICRO_TIME):
        return None
    if schema.type in _ZERO:
        return _ZERO[schema.type]
    return [] if schema.type == "array" else {} if schema.type == "object" else None


def _copy(value: Any) -> Any:
    if not isinstance(value, dict | list):
        return _number_of(value)
    try:
        return orjson.loads(orjson.dumps(value))
    except orjson.JSONEncodeError:
        return _copy_slowly(value)


def _copy_slowly(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy_slowly(item) for key, item in value.items()}
    return [_copy_slowly(item) for item in value] if isinstance(value, list) else _number_of(value)


def _number_of(value: Any) -> Any:
    """A whole number that int64 does not hold is a float64, as Go reads it."""
    low, high = _INT_RANGES["int64"]
    try:
        return as_float(value) if type(value) is int and not low <= value <= high else value
    except OverflowError as error:
        raise Refused(str(error)) from None


def as_float(number: int) -> float:
    """A whole number that int64 does not hold. Raises OverflowError in the words of encoding/json."""
    try:
        return float(number)
    except OverflowError:
        raise OverflowError(f"json: cannot unmarshal number {number} into Go value of type float64") from None


def _unless_zero(decode: Decode) -> Decode:
    def nonzero(value: Any, path: Path, strict: list[str]) -> Any:
        return decode(value, path, strict) or None

    return nonzero


def _schema_or(definition: str, decode: Decode) -> Decode:
    """A schema within a schema, or what may stand in its place. These read themselves, so that nobody hears of their
    unknown fields (apiextensions v1 marshal.go)."""

    def schema_or(value: Any, path: Path, strict: list[str]) -> Any:
        if isinstance(value, dict):
            return _untold(decode, value, path, strict)
        if definition.endswith("OrBool"):
            if isinstance(value, bool):
                return value
            raise Refused("boolean or JSON schema expected")
        if not isinstance(value, list):
            raise Refused("JSON schema or array expected")
        if definition.endswith("OrStringArray"):
            return _copy(value)
        return [_untold(decode, each, (path, index), strict) for index, each in enumerate(value)]

    return schema_or


def _untold(decode: Decode, value: Any, path: Path, strict: list[str]) -> Any:
    """A value of which nothing is told but that something is there twice, which the caller has to know."""
    told: list[str] = []
    decoded = decode(value, path, told)
    if any(each.startswith(DUPLICATE) for each in told):
        strict.append(DUPLICATE)
    return decoded


# -- scalars


def _scalar(type_: type, type_name: str) -> Decode:
    def scalar(value: Any, path: Path, strict: list[str]) -> Any:
        if type(value) is not type_:
            raise Mismatch(value, path, type_name)
        return value

    return scalar


def _integer(type_name: str) -> Decode:
    low, high = _INT_RANGES[type_name]

    def integer(value: Any, path: Path, strict: list[str]) -> int:
        if type(value) is not int or not low <= value <= high:
            raise Mismatch(value, path, type_name)
        return value

    return integer


def _number(value: Any, path: Path, strict: list[str]) -> int | float:
    if type(value) is not int and type(value) is not float:
        raise Mismatch(value, path, "float64")
    return int(value) if _whole(value) else value


def _whole(value: Any) -> bool:
    """Whether a number is written as digits alone, though it came with a point or an exponent."""
    return type(value) is float and value.is_integer() and abs(value) < _INT_RANGES["int64"][1]


def _open(type_name: str) -> Decode:
    """An object of any fields: a RawExtension, or a definition that says nothing about them."""

    def anything_in_braces(value: Any, path: Path, strict: list[str]) -> Object:
        if not isinstance(value, dict):
            raise Mismatch(value, path, type_name)
        copied: Object = _copy(value)
        return copied

    return anything_in_braces


def _anything(value: Any, path: Path, strict: list[str]) -> Any:
    return _copy(value)


def _json(value: Any, path: Path, strict: list[str]) -> Any:
    """Any JSON (apiextensions v1 JSON), which is read and written anew on its way to the store."""
    if isinstance(value, dict):
        return {key: _json(item, path, strict) for key, item in value.items()}
    if isinstance(value, list):
        return [_json(item, path, strict) for item in value]
    return WholeFloat(value) if _whole(value) else _number_of(value)


def _int_or_string(value: Any, path: Path, strict: list[str]) -> int | str:
    if isinstance(value, str):
        return value
    low, high = _INT_RANGES["int32"]
    if type(value) is not int or not low <= value <= high:
        raise Mismatch(value, path, "int32", by_type=True)
    return value


@lru_cache(maxsize=4096)
def _canonical_quantity(value: str | int | float) -> str:
    return str(Quantity.parse(value))


def _quantity(value: Any, path: Path, strict: list[str]) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise Refused(FORMAT_WRONG)
    try:
        return _canonical_quantity(value)
    except QuantityError as error:
        raise Refused(str(error)) from None


def _time(value: Any, path: Path, strict: list[str]) -> str:
    return _moment(value, path, go_time.seconds)


def _micro_time(value: Any, path: Path, strict: list[str]) -> str:
    return _moment(value, path, go_time.micros)


def _moment(value: Any, path: Path, parse: Callable[[str], str]) -> str:
    if not isinstance(value, str):
        raise Mismatch(value, path, "string", by_type=True)
    try:
        return parse(value)
    except go_time.TimeError as error:
        raise Refused(str(error)) from None


def _bytes(value: Any, path: Path, strict: list[str]) -> str:
    if not isinstance(value, str):
        raise Mismatch(value, path, "[]uint8")
    if (illegal := go_base64.first_illegal_byte(value)) is not None:
        raise Refused(f"illegal base64 data at input byte {illegal}")
    return go_base64.rewritten(value)


_SPECIAL: Mapping[str, Decode] = {
    QUANTITY: _quantity,
    INT_OR_STRING: _int_or_string,
    TIME: _time,
    MICRO_TIME: _micro_time,
    **dict.fromkeys((RAW_EXTENSION, FIELDS_V1), _anything),
}
