"""The values of CEL that Python has no type of its own for, and what holds of all values: type, size, equality, order.

null, bool, int, double, string, bytes, list and map are None, bool, int, float, str, bytes, list and dict; objects are
dicts too. Source: cel-go common/types.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from functools import total_ordering
from typing import Any, ClassVar

from engine.api.cel import types
from engine.api.cel.types import Type

MAX_INT, MIN_INT, MAX_UINT = 2**63 - 1, -(2**63), 2**64 - 1


class EvaluationError(Exception):
    """What an expression runs into; the message is cel-go's."""


class Failed:
    """An error that stands for a value and is raised where that is asked for: of elements that a later one may still
    make good in `all` or `exists`, and of what is not of the type that its schema says."""

    __slots__ = ("error",)

    def __init__(self, error: EvaluationError) -> None:
        self.error = error


class CostExceeded(Exception):
    """The expression did more than it may."""


class UInt(int):
    """An unsigned integer, which is a type of its own."""

    __slots__ = ()


@total_ordering
@dataclass(frozen=True, slots=True)
class Timestamp:
    """`offset` is the zone that it was given in, in seconds; it is shown in it."""

    nanos: int  # since 1970
    offset: int = field(default=0, compare=False)

    def __lt__(self, other: Timestamp) -> bool:
        return self.nanos < other.nanos


@total_ordering
@dataclass(frozen=True, slots=True)
class Duration:
    nanos: int

    def __lt__(self, other: Duration) -> bool:
        return self.nanos < other.nanos


@dataclass(frozen=True, slots=True)
class Optional:
    """`there` says whether there is a value."""

    there: bool
    value: Any = None


NONE = Optional(there=False)


class Struct(dict[str, Any]):
    """An object that an expression makes; `name` is that of its type."""

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.name = name


class TruthKey(Enum):
    """A truth as the key of a map, where Python would take true for 1 and false for 0."""

    FALSE = False
    TRUE = True


def as_key(value: Any) -> Any:
    """What a map holds a key by."""
    return TruthKey(value) if isinstance(value, bool) else value


def of_key(key: Any) -> Any:
    """The value that a map holds by this key."""
    return key.value if key.__class__ is TruthKey else key


class Opaque:
    """A value of a library's own type, whose name its class knows."""

    cel_type: ClassVar[Type]


def type_of(value: Any) -> Type:
    match value:
        case None:
            return types.NULL
        case bool():
            return types.BOOL
        case UInt():
            return types.UINT
        case int():
            return types.INT
        case float():
            return types.DOUBLE
        case str():
            return types.STRING
        case bytes():
            return types.BYTES
        case list():
            return types.list_of(types.DYN)
        case Struct():
            return types.struct(value.name)
        case dict():
            return types.map_of(types.DYN, types.DYN)
        case Timestamp():
            return types.TIMESTAMP
        case Duration():
            return types.DURATION
        case Optional():
            return types.optional_of(types.DYN)
        case Type():
            return types.TYPE
        case Opaque():
            return getattr(value, "type", value.cel_type)
    raise TypeError(type(value).__name__)


def go_type(value: Any) -> str:
    """What Go calls the type of a value, as messages of cel-go show it."""
    found = type_of(value)
    if found.is_optional:
        return "*types.Optional"
    if found.kind == "opaque":
        return "cel." + found.name.rpartition(".")[2]
    return ("*types." if found.kind == "type" else "types.") + found.kind.capitalize()


def accepts(wanted: Type, value: Any) -> bool:
    """Whether a value may be given where a parameter of this type stands."""
    if wanted.kind in ("dyn", "any", "param"):
        return True
    found = type_of(value)
    if wanted.kind == "struct":
        return found.kind in ("map", "struct")
    if wanted.kind == "map" and found.kind == "struct":
        return True
    if wanted.kind == "opaque":
        return found.name == wanted.name
    return found.kind == wanted.kind


def size_of(value: Any) -> int | None:
    """As `size()` counts; None for what has no size."""
    return len(value) if isinstance(value, str | bytes | list | dict) else None


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(one: Any, other: Any) -> bool:
    """Numbers are equal whatever their types, other values only within theirs."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_number(one) and is_number(other):
        return bool(one == other)
    if isinstance(one, Unordered):
        return one.same(other)
    if isinstance(other, Unordered):
        return other.same(one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(key in other and equal(item, other[key]) for key, item in one.items())
    if isinstance(one, Optional) and isinstance(other, Optional):
        return one.there == other.there and equal(one.value, other.value)
    return type(one) is type(other) and bool(one == other)


class Unordered(list[Any]):
    """A list that is a set or a map (x-kubernetes-list-type): its order means nothing, and `+` merges into it.

    Source: apiserver pkg/cel/common/values.go (unstructuredSetList, unstructuredMapList).
    """

    def key_of(self, item: Any) -> Any:
        return _hashable(item)

    def same(self, other: Any) -> bool:
        if not isinstance(other, list) or len(other) != len(self):
            return False
        known = {self.key_of(item): item for item in self}
        return all(self.key_of(item) in known and equal(known[self.key_of(item)], item) for item in other)

    def plus(self, other: list[Any]) -> Unordered:
        merged = {self.key_of(item): item for item in self}
        merged.update((self.key_of(item), item) for item in other)
        return self.like(merged.values())

    def like(self, items: Any) -> Unordered:
        return type(self)(items)


class MapList(Unordered):
    """`keys` are the names that rules know the keys of the list's elements by."""

    def __init__(self, items: Any, keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.keys = keys

    def key_of(self, item: Any) -> Any:
        return tuple(_hashable(item.get(key)) for key in self.keys) if isinstance(item, dict) else _hashable(item)

    def like(self, items: Any) -> Unordered:
        return MapList(items, self.keys)


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        return frozenset((key, _hashable(item)) for key, item in value.items())
    return (isinstance(value, bool), value)


def compare(one: Any, other: Any) -> int | None:
    """Which is greater; None for values that have no order."""
    if is_number(one) and is_number(other):
        if math.isnan(one) or math.isnan(other):
            raise EvaluationError("NaN values cannot be ordered")
    elif type(one) is not type(other) or not isinstance(one, str | bytes | bool | Timestamp | Duration):
        return None
    return int(one > other) - int(one < other)
