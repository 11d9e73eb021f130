"""Optional values (cel-go cel/library.go, OptionalTypes)."""

from __future__ import annotations

from typing import Any

from engine.api.cel.functions import Library
from engine.api.cel.library.formatting import shown
from engine.api.cel.operators import FIRST, indexed, looked_up, no_element
from engine.api.cel.types import BOOL, DYN, INT, LIST, MAP, OPTIONAL, STRING, A, B, list_of, optional_of
from engine.api.cel.values import NONE, Duration, EvaluationError, Optional, Timestamp, is_number


def optionals() -> Library:
    made = Library()
    made.add("optional.of", (A,), OPTIONAL, lambda value: Optional(True, value), identity="optional_of")
    made.add("optional.ofNonZeroValue", (A,), OPTIONAL, _non_zero, identity="optional_ofNonZeroValue")
    made.add("optional.none", (), OPTIONAL, lambda: NONE, identity="optional_none")
    made.add("optional.unwrap", (list_of(OPTIONAL),), LIST, _unwrapped, identity="optional_unwrap")
    made.member("unwrapOpt", (list_of(OPTIONAL),), LIST, _unwrapped)
    made.member("value", (OPTIONAL,), A, _value, identity="optional_value")
    made.member("hasValue", (OPTIONAL,), BOOL, _there, identity="optional_hasValue")
    made.member("or", (OPTIONAL, OPTIONAL), OPTIONAL, lambda one, other: one if _there(one) else other,
                identity="optional_or_optional")  # fmt: skip
    made.member("orValue", (OPTIONAL, A), A, lambda option, other: option.value if _there(option) else other,
                identity="optional_orValue_value")  # fmt: skip
    made.member("first", (LIST,), OPTIONAL, lambda items: optional_index(items, 0), identity="list_first")
    made.member("last", (LIST,), OPTIONAL, lambda items: optional_index(items, len(items) - 1), identity="list_last")
    made.add("_?._", (DYN, STRING), optional_of(DYN), optional_field, identity="select_optional_field")
    made.add("_[?_]", (LIST, INT), OPTIONAL, optional_index, identity="list_optindex_optional_int")
    made.add(
        "_[?_]", (optional_of(LIST), INT), OPTIONAL, optional_index, identity="optional_list_optindex_optional_int"
    )
    made.add("_[?_]", (MAP, A), optional_of(B), optional_index, identity="map_optindex_optional_value")
    made.add("_[?_]", (optional_of(MAP), A), optional_of(B), optional_index,
             identity="optional_map_optindex_optional_value")  # fmt: skip
    made.add("_[_]", (optional_of(LIST), INT), OPTIONAL, optional_index, identity="optional_list_index_int")
    made.add("_[_]", (optional_of(MAP), A), optional_of(B), optional_index, identity="optional_map_index_value")
    return made


def _there(option: Any) -> bool:
    """The message of a rule with an optional `oldSelf` is checked with that, and told with a plain one."""
    if not isinstance(option, Optional):
        raise EvaluationError("no such overload")
    return option.there


def _value(option: Any) -> Any:
    if not _there(option):
        raise EvaluationError("optional.none() dereference")
    return option.value


def _unwrapped(items: list[Any]) -> list[Any]:
    for item in items:
        if not isinstance(item, Optional):
            raise EvaluationError(f"value {shown(item)} is not optional")
    return [item.value for item in items if item.there]


def _non_zero(value: Any) -> Optional:
    return NONE if _is_zero(value) else Optional(True, value)


def _is_zero(value: Any) -> bool:
    if isinstance(value, Duration | Timestamp):
        return value in (Duration(0), Timestamp(FIRST))
    return value is None or (is_number(value) and value == 0) or value in (False, "", b"") or value in ([], {})


def optional_field(owner: Any, name: str) -> Optional:
    if isinstance(owner, Optional):
        return optional_field(owner.value, name) if owner.there else NONE
    if isinstance(owner, list):
        raise no_element(owner, name)
    return Optional(True, owner[name]) if isinstance(owner, dict) and name in owner else NONE


def optional_index(owner: Any, index: Any) -> Optional:
    if isinstance(owner, Optional):
        return optional_index(owner.value, index) if owner.there else NONE
    if isinstance(owner, list) and not is_number(index):
        raise no_element(owner, index)
    try:
        return Optional(True, element(owner, index))
    except EvaluationError:
        return NONE


def element(owner: Any, index: Any) -> Any:
    if isinstance(owner, dict):
        return looked_up(owner, index)
    if isinstance(owner, Optional):
        return optional_index(owner, index)
    if isinstance(owner, list) and is_number(index):
        return indexed(owner, index)
    raise no_element(owner, index)
