"""What a call costs at most and how large its result is (cel-go checker/cost.go, pkg/cel/library/cost.go)."""

from __future__ import annotations

import math

from engine.api.cel.call_costs import (
    AUTHORIZATION,
    BY_SIZES,
    CHECK,
    COMPARED,
    LIST_BASE,
    LISTS_BY_PAIRS,
    LISTS_OF_TEXT,
    LONGEST_FORMAT,
    LONGEST_PATTERN,
    NOMINAL,
    PARSING,
    REGEX,
    REQUIREMENT,
    SELECTORS,
    SET_FACTORS,
    TRAVERSAL,
    TRAVERSING,
)  # fmt: skip
from engine.api.cel.costs import MAX, NOTHING, ONE, UNKNOWN, Estimate, Estimator, Range
from engine.api.cel.syntax import Node
from engine.api.cel.values import UInt

_ADDRESS = Range(4, 16)  # in bytes


def call_estimate(estimator: Estimator, node: Node, overload: str, costs: list[Range]) -> Estimate:
    arguments = NOTHING
    for cost in costs:
        arguments = arguments.plus(cost)
    found = _of_library(estimator, node, overload)
    if found is None:
        found = _of_standard(estimator, node, overload, costs)
        if overload in ("logical_and", "logical_or", "conditional"):
            return found
    return Estimate(found.cost.plus(arguments), found.result)


def _of_library(estimator: Estimator, node: Node, overload: str) -> Estimate | None:
    name, target, args = node.name, node.target, node.args
    if (found := _of_list(estimator, node, overload)) is not None:
        factor, size = found
        return Estimate(size.by(factor).plus(Range(LIST_BASE + 1, LIST_BASE + 1)), size)
    if name == "check":
        return Estimate(Range(CHECK, CHECK))
    if name in AUTHORIZATION or name in NOMINAL:
        return Estimate(ONE)
    if target is None:
        return _of_global(estimator, node, overload)
    size = estimator.size_or_unknown(target)
    if name in TRAVERSING:
        return Estimate(_traversed(estimator, target, size))
    match name:
        case "lowerAscii" | "upperAscii" | "substring" | "trim":
            return Estimate(size.by(TRAVERSAL), size)
        case "replace" if len(args) >= 2:
            return Estimate(size.by(2 * TRAVERSAL), _replaced(estimator, size, args))
        case "split":
            return Estimate(size.by(2 * TRAVERSAL), Range(0, _most_parts(size, args)))
        case "join":
            joined = _joined(estimator, target, size, args)
            return Estimate(joined.by(TRAVERSAL), joined)
        case "find" | "findAll":
            return Estimate(_regex(estimator, size, args[0]), Range(0, size.most))
        case "ip":
            return Estimate(ONE)
        case "validate":
            return Estimate(estimator.size_or_unknown(args[0]).by(TRAVERSAL).by(LONGEST_PATTERN * REGEX))
        case name if name in SELECTORS:
            return Estimate(_selector(estimator.size_or_unknown(args[0])))
        case "containsIP" | "containsCIDR":
            return Estimate(_contained(estimator, overload, args))
    return None


def _of_list(estimator: Estimator, node: Node, overload: str) -> tuple[float, Range] | None:
    """Of cel-go's functions of lists: what each element that they go through costs, and how many these are, which
    counts as the size of what they make (ext/lists.go)."""
    args, target = node.args, node.target
    if overload == "lists_range":
        most = _literal(args[0], MAX)
        return 1, Range(most, most)
    if target is None:
        return None
    if overload in LISTS_BY_PAIRS:
        size = estimator.size_or_unknown(args[0] if args else target)
        items = estimator.type_of(target).params
        text = overload in LISTS_OF_TEXT or (not args and items and items[0].kind in ("string", "bytes"))
        return COMPARED + (TRAVERSAL if text else 0), size.times(size)
    size = estimator.size_or_unknown(target)
    match overload:
        case "list_slice":
            made = (_literal(args[1], size.most) - _literal(args[0], 0)) % (MAX + 1)
            return 1, Range(made, made)
        case "list_reverse":
            return 1, size
        case "list_flatten" | "list_flatten_int":
            return _literal(args[0], MAX) if args else 1, size
    return None


def _literal(node: Node, otherwise: int) -> int:
    is_whole = node.kind == "const" and isinstance(node.value, int) and not isinstance(node.value, bool | UInt)
    return max(node.value, 0) if is_whole else otherwise


def _of_global(estimator: Estimator, node: Node, overload: str) -> Estimate | None:
    if not node.args:
        return None
    size = estimator.size_or_unknown(node.args[0])
    if node.name in PARSING or node.name == "ip":
        return Estimate(size.by(TRAVERSAL))
    if overload in SET_FACTORS:
        pairs = size.times(estimator.size_or_unknown(node.args[1]))
        return Estimate(pairs.by(SET_FACTORS[overload]).plus(ONE))
    match node.name:
        case "url" | "jsonpatch.escapeKey":
            return Estimate(size.by(TRAVERSAL), size)
        case "ip.isCanonical":
            return Estimate(size.by(2 * TRAVERSAL))
        case "_==_":
            return _comparison(estimator, *node.args)
    return None


def _comparison(estimator: Estimator, one: Node, other: Node) -> Estimate | None:
    """Of values of a library's own type."""
    type_ = estimator.type_of(one)
    if type_ != estimator.type_of(other) or not type_.name.startswith(("kubernetes.", "net.")):
        return None
    most = 1
    if type_.name == "kubernetes.NamedFormat":
        most = LONGEST_FORMAT
    elif type_.name == "kubernetes.URL" and (size := estimator.size(other)) is not None:
        most = size.most
    return Estimate(Range(1, most).by(TRAVERSAL))


def _selector(size: Range) -> Range:
    return Range(LIST_BASE, LIST_BASE).plus(size.by(TRAVERSAL)).plus(size.by(0.5).by(REQUIREMENT))


def _item_size(estimator: Estimator, node: Node) -> Range:
    path = estimator.path(node)
    found = estimator.size_at((*path, "@items")) if path else None
    return found if found is not None else UNKNOWN


def _traversed(estimator: Estimator, target: Node, size: Range) -> Range:
    params = estimator.type_of(target).params
    if not params:  # indexOf and lastIndexOf of a string
        return size.by(TRAVERSAL)
    each = ONE
    if params[0].kind in ("string", "bytes"):
        each = each.plus(_item_size(estimator, target).by(TRAVERSAL))
    return size.times(each)


def _replaced(estimator: Estimator, size: Range, args: list[Node]) -> Range:
    """The shortest replacement and the longest."""
    old, new = estimator.size_or_unknown(args[0]), estimator.size_or_unknown(args[1])
    least_count = most_count = least_kept = most_kept = 0
    if old.least == 0:
        most_count, most_kept = min(size.most + 1, MAX), size.most
    elif new.most <= old.least:
        most_kept = size.most
    else:
        most_count = math.ceil(size.most / old.least)
    if old.most == 0:
        least_count, least_kept = min(size.least + 1, MAX), size.least
    elif old.most <= new.least:
        least_kept = size.least
    else:
        least_count = math.ceil(size.least / old.most)
    return Range(least_count, most_count).times(new).plus(Range(least_kept, most_kept))


def _most_parts(size: Range, args: list[Node]) -> int:
    limit = args[1].value if len(args) > 1 and args[1].kind == "const" else None
    return limit % (MAX + 1) if isinstance(limit, int) else size.most


def _joined(estimator: Estimator, target: Node, size: Range, args: list[Node]) -> Range:
    total = NOTHING
    if estimator.type_of(target).params:
        total = size.times(_item_size(estimator, target))
    if args:
        between = Range(max(size.least - 1, 0), max(size.most - 1, 0))
        total = total.plus(estimator.size_or_unknown(args[0]).times(between))
    return total


def _regex(estimator: Estimator, size: Range, pattern: Node) -> Range:
    return size.plus(ONE).by(TRAVERSAL).times(estimator.size_or_unknown(pattern).by(REGEX))


def _contained(estimator: Estimator, overload: str, args: list[Node]) -> Range:
    total = _ADDRESS.plus(_ADDRESS).by(TRAVERSAL)
    if overload.startswith("cidr_contains_cidr"):
        total = total.plus(_ADDRESS.by(TRAVERSAL)).plus(ONE)
    if overload.endswith("_string"):
        total = total.plus(estimator.size_or_unknown(args[0]).by(TRAVERSAL))
    return total


def _of_standard(estimator: Estimator, node: Node, overload: str, costs: list[Range]) -> Estimate:
    args, target = node.args, node.target
    sizes = [estimator.size_or_unknown(each) for each in args]
    if overload in BY_SIZES:
        most = min(sizes[0].most, sizes[1].most)
        return Estimate(Range(1 if most else 0, most).by(TRAVERSAL))
    match overload:
        case "string_format" if target is not None:
            return Estimate(estimator.size_or_unknown(target).by(TRAVERSAL))
        case "string_to_bytes":
            return Estimate(sizes[0].by(TRAVERSAL), Range(sizes[0].least, min(sizes[0].most * 4, MAX)))
        case "bytes_to_string":
            return Estimate(sizes[0].by(TRAVERSAL), Range(sizes[0].least // 4, sizes[0].most))
        case "strings_quote":
            return Estimate(sizes[0].by(TRAVERSAL), Range(sizes[0].least + 2, min(sizes[0].most * 2 + 2, MAX)))
        case "starts_with_string" | "ends_with_string":
            return Estimate(sizes[0].by(TRAVERSAL))
        case "in_list":
            return Estimate(sizes[1])
        case "matches_string" if target is not None:
            return Estimate(_regex(estimator, estimator.size_or_unknown(target), args[0]))
        case "contains_string" if target is not None:
            return Estimate(estimator.size_or_unknown(target).by(TRAVERSAL).times(sizes[0].by(TRAVERSAL)))
        case "logical_and" | "logical_or":
            return Estimate(Range(costs[0].least, costs[0].plus(costs[1]).most))
        case "conditional":
            return _conditional(estimator, node, sizes, costs)
        case "add_string" | "add_bytes" | "add_list":
            return _added(estimator, node, overload, sizes)
    return Estimate(ONE)


def _conditional(estimator: Estimator, node: Node, sizes: list[Range], costs: list[Range]) -> Estimate:
    one, other = estimator.entries(node.args[1]), estimator.entries(node.args[2])
    estimator.set_entries(node, one.union(other) if one is not None else None)
    return Estimate(costs[0].plus(costs[1].union(costs[2])), sizes[1].union(sizes[2]))


def _added(estimator: Estimator, node: Node, overload: str, sizes: list[Range]) -> Estimate:
    result = sizes[0].plus(sizes[1])
    one, other = estimator.entries(node.args[0]), estimator.entries(node.args[1])
    estimator.set_entries(node, one.union(other) if one is not None else None)
    return Estimate(ONE if overload == "add_list" else result.by(TRAVERSAL), result)
