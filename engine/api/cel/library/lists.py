"""Functions of lists and sets (pkg/cel/library/lists.go, cel-go ext/sets.go)."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any

from engine.api.cel.functions import Library
from engine.api.cel.operators import contains, duration, unsigned, whole
from engine.api.cel.types import BOOL, BYTES, DOUBLE, DURATION, INT, LIST, STRING, TIMESTAMP, UINT, A, Type, list_of
from engine.api.cel.values import Duration, EvaluationError, UInt, compare, equal

_SUMMED = {int, UInt, float, Duration}
ORDERED = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES)


def lists() -> Library:
    made = Library()
    for type_ in ORDERED:
        made.member("isSorted", (list_of(type_),), BOOL, _is_sorted, identity=f"list_{type_}_is_sorted_bool")
        made.member("min", (list_of(type_),), type_, lambda items: _best("min", items, -1))
        made.member("max", (list_of(type_),), type_, lambda items: _best("max", items, 1))
    for type_ in (INT, UINT, DOUBLE, DURATION):
        made.member("sum", (list_of(type_),), type_, _sum_of(type_))
    made.member("indexOf", (LIST, A), INT, _index_of)
    made.member("lastIndexOf", (LIST, A), INT, _last_index_of)
    return made


def sets() -> Library:
    made = Library()
    made.add("sets.contains", (LIST, LIST), BOOL, _holds_all, identity="list_sets_contains_list")
    made.add("sets.equivalent", (LIST, LIST), BOOL, _equivalent, identity="list_sets_equivalent_list")
    made.add("sets.intersects", (LIST, LIST), BOOL, lambda one, other: any(contains(one, item) for item in other),
             identity="list_sets_intersects_list")  # fmt: skip
    return made


def _order(one: Any, other: Any) -> int | None:
    """None for what has no order, or none with each other: upstream overlooks that its comparison has failed."""
    try:
        return compare(one, other)
    except EvaluationError:
        return None


def _is_sorted(items: list[Any]) -> bool:
    return all(_order(one, other) != 1 for one, other in pairwise(items))


def _best(name: str, items: list[Any], wanted: int) -> Any:
    if not items:
        raise EvaluationError(f"{name} called on empty list")
    best = items[0]
    for item in items[1:]:
        if _order(item, best) == wanted:
            best = item
    return best


def _sum_of(type_: Type) -> Any:
    """Of an empty list: zero of the type that the checker has chosen. What overflows on the way has overflown."""

    def total(items: list[Any]) -> Any:
        if {type(item) for item in items} - _SUMMED or len({type(item) for item in items}) > 1:
            raise EvaluationError("no such overload")  # of a list whose types nobody has checked
        if isinstance(items[0], Duration) if items else type_ == DURATION:
            return duration(reduce(lambda nanos, item: duration(nanos + item.nanos).nanos, items, 0))
        if not items:
            return 0.0 if type_ == DOUBLE else UInt(0) if type_ == UINT else 0
        if isinstance(items[0], float):
            return reduce(float.__add__, items, 0.0)  # rounded at each step, as Python's sum is not since 3.12
        step = unsigned if isinstance(items[0], UInt) else whole
        return reduce(lambda found, item: step(found + item), items, step(0))

    return total


def _index_of(items: list[Any], item: Any) -> int:
    return next((index for index, each in enumerate(items) if equal(each, item)), -1)


def _last_index_of(items: list[Any], item: Any) -> int:
    return next((index for index in range(len(items) - 1, -1, -1) if equal(items[index], item)), -1)


def _equivalent(one: list[Any], other: list[Any]) -> bool:
    return _holds_all(one, other) and _holds_all(other, one)


def _holds_all(one: list[Any], other: list[Any]) -> bool:
    return all(contains(one, item) for item in other)
