"""Sets of field paths, kept in the form that managedFields has them in: FieldsV1 tries.

`{"f:spec": {"f:replicas": {}}}` holds one path, `.spec.replicas`. An empty node is a member; a node with children is a
member only if it holds `"."` too. What steps look like is in `steps.py`. Source: structured-merge-diff fieldpath (Set,
serialize.go).

Sets are never changed once made: operations share what they do not touch, and give back an operand itself where the
result is equal to it, so that `is` tells whether anything changed. Steps are in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.api.apply.steps import known, rank, valid_step, written

FieldSet = dict[str, Any]

SELF = "."
MEMBER: FieldSet = {}


def _is_member(node: FieldSet) -> bool:
    return not node or SELF in node


def _node(children: FieldSet, *, member: bool) -> FieldSet | None:
    """The node with these children (without `.`); None if nothing is left of it."""
    if not children:
        return MEMBER if member else None
    return {SELF: MEMBER, **children} if member else children


def _children(node: FieldSet) -> FieldSet:
    return {step: child for step, child in node.items() if step != SELF}


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """The paths of both, at the top of a set or below one of its steps."""
    if not right or left is right:
        return left
    if not left:
        return right
    merged = dict(left)
    grown = changed = False
    for step, node in right.items():
        present = left.get(step)
        if present is None:
            merged[step] = node
            grown = True
        elif step != SELF:
            merged[step] = both = _union_nodes(present, node)
            changed = changed or both is not present
    if grown:
        return in_order(merged)
    return merged if changed else left


def _union_nodes(left: FieldSet, right: FieldSet) -> FieldSet:
    if not left:
        if not right:
            return left
        return right if SELF in right else {SELF: MEMBER, **right}
    if not right:
        return left if SELF in left else {SELF: MEMBER, **left}
    return union(left, right)


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """The paths of `left` that are not in `right`; what lies below a path of `right` stays."""
    if not left or not right:
        return left
    kept: FieldSet = {}
    changed = False
    for step, node in left.items():
        other = right.get(step)
        if other is None:
            kept[step] = node
        elif step == SELF:
            changed = True
        else:
            rest = _difference_nodes(node, other)
            changed = changed or rest is not node
            if rest is not None:
                kept[step] = rest
    return kept if changed else left


def _difference_nodes(left: FieldSet, right: FieldSet) -> FieldSet | None:
    if not left:
        return None if _is_member(right) else left
    if not right:  # it alone is taken away, its children stay
        return _node(_children(left), member=False) if SELF in left else left
    rest = difference(left, right)
    if rest is left:
        return left
    return _node(_children(rest), member=SELF in rest)


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """The paths of both."""
    common: FieldSet = {}
    for step, node in left.items():
        other = right.get(step)
        if other is None:
            continue
        if step == SELF:
            common[SELF] = MEMBER
            continue
        both = intersection(node, other) if node and other else {}
        member = _is_member(node) and _is_member(other)
        found = _node(_children(both), member=member)
        if found is not None:
            common[step] = found
    return common


def has(fields: FieldSet, path: tuple[str, ...]) -> bool:
    """Whether a path of field names is in the set."""
    for name in path:
        node = fields.get(f"f:{name}")
        if node is None:
            return False
        fields = node
    return _is_member(fields)


def in_order(fields: FieldSet) -> FieldSet:
    """The steps as upstream sorts them: names by their letters, elements by the values of their keys."""
    if len(fields) < 2:
        return fields
    plain = all(step[0] in ".f" for step in fields)
    return {step: fields[step] for step in (sorted(fields) if plain else sorted(fields, key=rank))}


def paths(fields: FieldSet, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All paths: at every step first what is a member, then what lies below."""
    steps = [(step, node) for step, node in fields.items() if step != SELF]
    for step, node in steps:
        if _is_member(node):
            yield (*prefix, step)
    for step, node in steps:
        yield from paths(node, (*prefix, step))


def canonical(fields: FieldSet) -> FieldSet:
    """A valid set as it is written here: steps in order, keys sorted, members that hold nothing empty, and without
    steps of kinds that nobody knows yet."""
    return in_order({written(step): _canonical_node(node) for step, node in fields.items() if known(step)})


def _canonical_node(node: FieldSet | None) -> FieldSet:
    children = canonical(node) if node else MEMBER
    return {SELF: MEMBER, **children} if node and children and SELF in node else children or MEMBER


def valid(fields: Any) -> bool:
    """Whether a JSON value is a set in FieldsV1 form; nobody looks below `.` and steps of kinds unknown as yet, and a
    null is as good as nothing (serialize.go readIterV1)."""
    if fields is None:
        return True
    if not isinstance(fields, dict):
        return False
    for step, node in fields.items():
        if step == SELF:
            continue
        if not valid_step(step):
            return False
        if node != {} and known(step) and not valid(node):
            return False
    return True
