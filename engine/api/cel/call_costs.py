"""What calls cost when they run, beyond their arguments (interpreter/runtimecost.go, pkg/cel/library/cost.go)."""

from __future__ import annotations

import math
from typing import Any

from engine.api.cel.values import Opaque, size_of

TRAVERSAL = 0.1  # of a string, for each letter
REGEX = 0.25  # for each letter of the pattern
LIST_BASE, MAP_BASE, STRUCT_BASE = 10, 30, 40
CHECK = 350_000  # an authorization check: two of them fit in one expression

AUTHORIZATION = frozenset(
    ("serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed", "reason", "error",
     "errored")
)  # fmt: skip
TRAVERSING = frozenset(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"))
PARSING = frozenset(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"))
ONE_TRAVERSAL = PARSING | {"url", "lowerAscii", "upperAscii", "substring", "trim", "jsonpatch.escapeKey"}
NOMINAL = frozenset(
    ("masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast",
     "sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub")
)  # fmt: skip
_ORDERING = tuple(
    f"{name}_{type_}" for name in ("less", "less_equals", "greater", "greater_equals") for type_ in ("string", "bytes")
)
SET_FACTORS = {"list_sets_contains_list": 1, "list_sets_intersects_list": 1, "list_sets_equivalent_list": 2}
LISTS_BY_RESULT = frozenset(("list_slice", "lists_range", "list_reverse"))
LISTS_BY_DEPTH = frozenset(("list_flatten", "list_flatten_int"))
_ORDERED = ("int", "uint", "double", "bool", "string", "bytes", "google.protobuf.Duration", "google.protobuf.Timestamp")
LISTS_BY_PAIRS = frozenset(
    ("list_distinct", *(f"list_{type_}_{how}" for type_ in _ORDERED for how in ("sort", "sortByAssociatedKeys")))
)
LISTS_OF_TEXT = frozenset(each for each in LISTS_BY_PAIRS if each.startswith(("list_string_", "list_bytes_")))
COMPARED = 2.0  # for each pair of a list's elements
SELECTORS = frozenset(("fieldSelector", "labelSelector"))
REQUIREMENT = LIST_BASE + STRUCT_BASE  # of a selector; there may be one for every two letters
LONGEST_FORMAT, LONGEST_PATTERN = 64, 128  # of the names of formats, and of their patterns
BY_SIZES = frozenset((*_ORDERING, "equals", "not_equals"))


def _size(value: Any) -> int:
    found = size_of(value)
    if found is not None:
        return found
    ip = getattr(value, "ip", None) if isinstance(value, Opaque) else None
    return _up(getattr(value, "bits", ip.max_prefixlen) / 8) if ip is not None else 1


def _up(size: float) -> int:
    return math.ceil(size)


def _traversal(value: Any) -> int:
    if isinstance(value, str):
        return int(len(value.encode()) * TRAVERSAL)
    if isinstance(value, bytes):
        return int(len(value) * TRAVERSAL)
    if isinstance(value, list):
        return sum(map(_traversal, value))
    if isinstance(value, dict):
        return sum(_traversal(key) + _traversal(item) for key, item in value.items())
    return 1


def call_cost(function: str, overload: str, args: list[Any], result: Any) -> int:
    if function in _CONSTANT:
        return _CONSTANT[function]
    if function in TRAVERSING:
        return _traversal(args[0])
    if (cost := _of_list(overload, args, result)) is not None:
        return cost
    if function in ONE_TRAVERSAL or (function == "ip" and overload != "cidr_ip"):
        return _up(_size(args[0]) * TRAVERSAL)
    match function:
        case "replace" | "split" | "ip.isCanonical":
            return _up(_size(args[0]) * 2 * TRAVERSAL)
        case "join":
            return _up(_size(result) * 2 * TRAVERSAL)
        case "find" | "findAll":
            return _regex(args)
        case "fieldSelector" | "labelSelector":
            size = _size(args[1])
            return LIST_BASE + _up(size * TRAVERSAL) + _up(size / 2) * REQUIREMENT
        case "validate":
            return _up((1 + _size(args[1])) * TRAVERSAL) * _up(getattr(args[0], "pattern_size", 0) * REGEX)
        case "_==_" if isinstance(args[0], Opaque):
            return 1
        case "containsIP":
            return _up(2 * _size(args[0]) * TRAVERSAL) + _parsed(overload == "cidr_contains_ip_string", args)
        case "containsCIDR":
            base = _up(2 * _size(args[0]) * TRAVERSAL) + _up(_size(args[0]) * TRAVERSAL) + 1
            return base + _parsed(overload == "cidr_contains_cidr_string", args)
    return _standard(overload, args)


_CONSTANT = {"check": CHECK, **dict.fromkeys(AUTHORIZATION | NOMINAL, 1)}


def _parsed(is_text: bool, args: list[Any]) -> int:
    return _up(_size(args[1]) * TRAVERSAL) if is_text else 0


def _of_list(overload: str, args: list[Any], result: Any) -> int | None:
    """Of cel-go's functions of lists: what they make, or comparing each element with each (ext/lists.go)."""
    if overload in LISTS_BY_RESULT:
        return _allocated(_size(result))
    if overload in LISTS_BY_DEPTH:
        return _allocated(int(_size(args[0]) * float(args[1] if len(args) == 2 else 1)))
    if overload in LISTS_BY_PAIRS:
        items = args[-1]  # which may turn out to be no list
        text = isinstance(items, list) and items and isinstance(items[0], str | bytes)
        return _allocated(int(_size(items) ** 2 * (COMPARED + (TRAVERSAL if text else 0))))
    return None


def _allocated(size: int) -> int:
    return size + 1 + LIST_BASE


def _regex(args: list[Any]) -> int:
    return _up((1 + _size(args[0])) * TRAVERSAL) * _up(_size(args[1]) * REGEX)


def _standard(overload: str, args: list[Any]) -> int:
    if overload in BY_SIZES:
        return _up(min(_size(args[0]), _size(args[1])) * TRAVERSAL)
    match overload:
        case "starts_with_string" | "ends_with_string":
            return _up(_size(args[1]) * TRAVERSAL)
        case "string_to_bytes" | "bytes_to_string" | "string_format" | "strings_quote":
            return _up(_size(args[0]) * TRAVERSAL)
        case "in_list":
            return _size(args[1])
        case "list_sets_contains_list" | "list_sets_intersects_list" | "list_sets_equivalent_list":
            return 1 + _size(args[0]) * _size(args[1]) * SET_FACTORS[overload]
        case "add_string" | "add_bytes":
            return _up((_size(args[0]) + _size(args[1])) * TRAVERSAL)
        case "matches_string" | "matches":
            return _regex(args)
        case "contains_string":
            return _up(_size(args[0]) * TRAVERSAL) * _up(_size(args[1]) * TRAVERSAL)
    return 1
