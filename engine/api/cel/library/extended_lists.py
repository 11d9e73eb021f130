"""Lists cut, flattened, ordered and made: cel-go's own functions of lists, which Kubernetes has on since 1.34.

Source: cel-go ext/lists.go (version 3), apiserver pkg/cel/environment/base.go.
"""

from __future__ import annotations

from typing import Any

from engine.api.cel.functions import Library
from engine.api.cel.library.lists import ORDERED
from engine.api.cel.operators import contains
from engine.api.cel.types import DYN, INT, LIST, list_of
from engine.api.cel.values import EvaluationError, compare, is_number, type_of

SORTED_BY = "@sortByAssociatedKeys"  # what the macro sortBy calls
_LONGEST_RANGE = 10_000_000


def extended_lists() -> Library:
    made = Library()
    made.member("slice", (LIST, INT, INT), LIST, _slice, identity="list_slice")
    made.member("flatten", (list_of(LIST),), LIST, lambda items: _flattened(items, 1), identity="list_flatten")
    made.member("flatten", (list_of(DYN), INT), list_of(DYN), _flattened, identity="list_flatten_int")
    for type_ in ORDERED:
        made.member("sort", (list_of(type_),), list_of(type_), lambda items: _sorted_by(items, items),
                    identity=f"list_{type_.type_name}_sort")  # fmt: skip
        made.member(SORTED_BY, (LIST, list_of(type_)), LIST, _sorted_by,
                    identity=f"list_{type_.type_name}_sortByAssociatedKeys")  # fmt: skip
    made.add("lists.range", (INT,), list_of(INT), _range, identity="lists_range")
    made.member("reverse", (LIST,), LIST, lambda items: items[::-1], identity="list_reverse")
    made.member("distinct", (LIST,), LIST, _distinct, identity="list_distinct")
    return made


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    wrong = ""
    if start < 0 or end < 0:
        wrong = "negative indexes not supported"
    elif start > end:
        wrong = "start index must be less than or equal to end index"
    elif len(items) < end:
        wrong = f"list is length {len(items)}"
    if wrong:
        raise EvaluationError(f"cannot slice({start}, {end}), {wrong}")
    return items[start:end]


def _flattened(items: list[Any], depth: int) -> list[Any]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    made: list[Any] = []
    for item in items:
        if isinstance(item, list) and depth > 0:
            made.extend(_flattened(item, depth - 1))
        else:
            made.append(item)
    return made


class _Key:
    """What an element is ordered by. A number that is none is no less than any."""

    __slots__ = ("kind", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.kind = type_of(value)

    def __lt__(self, other: _Key) -> bool:
        if self.kind != other.kind:
            raise EvaluationError("list elements must have the same type")
        if is_number(self.value):
            return bool(self.value < other.value)
        return compare(self.value, other.value) == -1


def _sorted_by(items: list[Any], keys: list[Any]) -> list[Any]:
    """Both are of one length: a macro makes the keys of the items."""
    if keys and _has_no_order(keys[0]):
        raise EvaluationError("list elements must be comparable")
    order = sorted(range(len(items)), key=[_Key(key) for key in keys].__getitem__)
    return [items[index] for index in order]


def _has_no_order(value: Any) -> bool:
    return not is_number(value) and compare(value, value) is None


def _range(count: int) -> list[int]:
    if count < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {count}")
    if count > _LONGEST_RANGE:
        raise EvaluationError(f"lists.range: size {count} exceeds maximum allowed ({_LONGEST_RANGE})")
    return list(range(count))


def _distinct(items: list[Any]) -> list[Any]:
    made: list[Any] = []
    for item in items:
        if not contains(made, item):
            made.append(item)
    return made
