"""The operators and what belongs to the language itself (cel-go common/stdlib, common/operators)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from engine.api.cel import types
from engine.api.cel.functions import Library
from engine.api.cel.types import BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT, A, B
from engine.api.cel.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    Duration,
    EvaluationError,
    Timestamp,
    UInt,
    Unordered,
    as_key,
    compare,
    equal,
    of_key,
    type_of,
)

# From 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z.
FIRST, LAST = -62135596800 * 10**9, 253402300800 * 10**9 - 1


def whole(value: int) -> int:
    if not MIN_INT <= value <= MAX_INT:
        raise EvaluationError("integer overflow")
    return value


def unsigned(value: int) -> UInt:
    if not 0 <= value <= MAX_UINT:
        raise EvaluationError("unsigned integer overflow")
    return UInt(value)


def timestamp(nanos: int, offset: int = 0) -> Timestamp:
    if not FIRST <= nanos <= LAST:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanos, offset)


def duration(nanos: int) -> Duration:
    if not MIN_INT <= nanos <= MAX_INT:
        raise EvaluationError("duration overflow")
    return Duration(nanos)


def _divided(one: int, other: int) -> int:
    if other == 0:
        raise EvaluationError("division by zero")
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


def _rest(one: int, other: int) -> int:
    if other == 0:
        raise EvaluationError("modulus by zero")
    if (one, other) == (MIN_INT, -1):
        raise EvaluationError("integer overflow")  # as its quotient is
    rest = abs(one) % abs(other)
    return -rest if one < 0 else rest


def _ratio(one: float, other: float) -> float:
    if other:
        return one / other
    if one == 0 or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1, other)


def _concatenated(one: list[Any], other: list[Any]) -> list[Any]:
    return one.plus(other) if isinstance(one, Unordered) else [*one, *other]


def contains(items: Any, item: Any) -> bool:
    return any(equal(item, each) for each in items)


def looked_up(mapping: dict[Any, Any], key: Any) -> Any:
    try:
        if (held := as_key(key)) in mapping:
            return mapping[held]
    except TypeError:
        raise EvaluationError("unsupported key type") from None
    raise EvaluationError(f"no such key: {shown_key(key)}")


def no_element(owner: Any, key: Any) -> EvaluationError:
    """What has no fields has no key, null as well (interpreter/attributes.go, refQualify)."""
    if isinstance(owner, list):
        return EvaluationError(f"unsupported index type '{type_of(key).type_name}' in list")
    return EvaluationError(f"no such key: {shown_key(key)}")


def shown_key(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def indexed(items: list[Any], index: Any) -> Any:
    if isinstance(index, float):
        if not index.is_integer():
            raise EvaluationError("unsupported index type 'double' in list")
        index = int(index)
    if not 0 <= index < len(items):
        raise EvaluationError(f"index out of bounds: {index}")
    return items[index]


def operators() -> Library:
    made = Library()
    _logic(made)
    _arithmetic(made)
    _comparisons(made)
    _containers(made)
    return made


def _logic(made: Library) -> None:
    made.add("_?_:_", (BOOL, A, A), A, _by_interpreter, identity="conditional")
    made.add("_&&_", (BOOL, BOOL), BOOL, _by_interpreter, identity="logical_and")
    made.add("_||_", (BOOL, BOOL), BOOL, _by_interpreter, identity="logical_or")
    made.add("!_", (BOOL,), BOOL, lambda value: not value, identity="logical_not")
    made.add("@not_strictly_false", (BOOL,), BOOL, _by_interpreter, identity="not_strictly_false")
    made.add("_==_", (A, A), BOOL, equal, identity="equals")
    made.add("_!=_", (A, A), BOOL, lambda one, other: not equal(one, other), identity="not_equals")


def _by_interpreter(*_: Any) -> Any:
    """Operators that do not need all their operands are the interpreter's own."""
    raise EvaluationError("no such overload")


def _arithmetic(made: Library) -> None:
    def both(name: str, identity: str, run: Callable[[Any, Any], Any], *kinds: Any) -> None:
        for type_, wrap in kinds:
            made.add(name, (type_, type_), type_, _wrapped(run, wrap), identity=f"{identity}_{type_}")

    integer, natural, real = (INT, whole), (UINT, unsigned), (DOUBLE, float)
    both("_+_", "add", lambda one, other: one + other, integer, natural, real)
    made.add("_+_", (STRING, STRING), STRING, lambda one, other: one + other, identity="add_string")
    made.add("_+_", (BYTES, BYTES), BYTES, lambda one, other: one + other, identity="add_bytes")
    made.add("_+_", (types.LIST, types.LIST), types.LIST, _concatenated, identity="add_list")
    made.add("_+_", (TIMESTAMP, DURATION), TIMESTAMP, _later, identity="add_timestamp_duration")
    made.add("_+_", (DURATION, TIMESTAMP), TIMESTAMP, lambda one, other: _later(other, one),
             identity="add_duration_timestamp")  # fmt: skip
    made.add("_+_", (DURATION, DURATION), DURATION, lambda one, other: duration(one.nanos + other.nanos),
             identity="add_duration_duration")  # fmt: skip
    both("_-_", "subtract", lambda one, other: one - other, integer, natural, real)
    made.add("_-_", (TIMESTAMP, TIMESTAMP), DURATION, lambda one, other: duration(one.nanos - other.nanos),
             identity="subtract_timestamp_timestamp")  # fmt: skip
    made.add("_-_", (TIMESTAMP, DURATION), TIMESTAMP, lambda one, other: timestamp(one.nanos - other.nanos, one.offset),
             identity="subtract_timestamp_duration")  # fmt: skip
    made.add("_-_", (DURATION, DURATION), DURATION, lambda one, other: duration(one.nanos - other.nanos),
             identity="subtract_duration_duration")  # fmt: skip
    both("_*_", "multiply", lambda one, other: one * other, integer, natural, real)
    both("_/_", "divide", _divided, integer, natural)
    both("_/_", "divide", _ratio, real)
    both("_%_", "modulo", _rest, integer, natural)
    made.add("-_", (INT,), INT, lambda value: whole(-value), identity="negate_int64")
    made.add("-_", (DOUBLE,), DOUBLE, lambda value: -value, identity="negate_double")


def _wrapped(run: Callable[[Any, Any], Any], wrap: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda one, other: wrap(run(one, other))


def _later(moment: Timestamp, by: Duration) -> Timestamp:
    return timestamp(moment.nanos + by.nanos, moment.offset)


def _comparisons(made: Library) -> None:
    tests: dict[str, tuple[str, Callable[[int], bool]]] = {
        "_<_": ("less", lambda order: order < 0),
        "_<=_": ("less_equals", lambda order: order <= 0),
        "_>_": ("greater", lambda order: order > 0),
        "_>=_": ("greater_equals", lambda order: order >= 0),
    }
    for name, (identity, test) in tests.items():
        run = _compared(test)
        for type_ in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION):
            made.add(name, (type_, type_), BOOL, run, identity=f"{identity}_{type_}")
        for one in (INT, UINT, DOUBLE):
            for other in (INT, UINT, DOUBLE):
                if one != other:
                    made.add(name, (one, other), BOOL, run, identity=f"{identity}_{one}_{other}")


def _compared(test: Callable[[int], bool]) -> Callable[[Any, Any], bool]:
    def run(one: Any, other: Any) -> bool:
        order = compare(one, other)
        if order is None:
            raise EvaluationError("no such overload")
        return test(order)

    return run


def _containers(made: Library) -> None:
    made.add("@in", (A, types.LIST), BOOL, lambda item, items: contains(items, item), identity="in_list")
    made.add("@in", (A, types.MAP), BOOL, lambda key, mapping: _has_key(mapping, key), identity="in_map")
    made.add("_[_]", (types.LIST, INT), A, indexed, identity="index_list")
    made.add("_[_]", (types.MAP, A), B, looked_up, identity="index_map")
    made.add("cel.@mapInsert", (types.MAP, A, B), types.MAP, _inserted, identity="@mapInsert_map_key_value")
    made.add("cel.@mapInsert", (types.MAP, types.MAP), types.MAP, _merged, identity="@mapInsert_map_map")
    for type_ in (STRING, BYTES, types.LIST, types.MAP):
        made.add("size", (type_,), INT, len, identity=f"size_{type_.kind}")
        made.member("size", (type_,), INT, len, identity=f"{type_.kind}_size")


def _has_key(mapping: dict[Any, Any], key: Any) -> bool:
    try:
        looked_up(mapping, key)
    except EvaluationError:
        return False
    # A device's domains answer for every key, but have only those that they have.
    return dict.__contains__(mapping, as_key(key))


def _inserted(mapping: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    return _merged(mapping, {as_key(key): value})


def _merged(mapping: dict[Any, Any], other: dict[Any, Any]) -> dict[Any, Any]:
    for key in other:
        if key in mapping:
            raise EvaluationError(f"insert failed: key {shown_key(of_key(key))} already exists")
    return {**mapping, **other}
