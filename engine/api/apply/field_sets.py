"""Sets of field paths, kept in the form that managedFields has them in: FieldsV1 tries.

`{"f:spec": {"f:replicas": {}}}` holds one path, `.spec.replicas`. An empty node is a member; a node with children is a
member only if it holds `"."` too. Steps are `f:NAME` (a field or a key of a map), `k:{...}` (an element of a list by
its keys) and `v:VALUE` (an element of a set). Source: structured-merge-diff fieldpath (Set, serialize.go).

Sets are never changed once made: operations share what they do not touch, and give back an operand itself where the
result is equal to it, so that `is` tells whether anything changed. Steps are in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import orjson

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
    return {step: fields[step] for step in (sorted(fields) if plain else sorted(fields, key=_rank))}


@lru_cache(maxsize=16384)
def _rank(step: str) -> tuple[str, Any]:
    """PathElement.Compare: fields before elements, of those a set's values after keys."""
    kind, _, rest = step.partition(":")
    if kind == "k":
        keys = orjson.loads(rest)
        return kind, [(key, _value_rank(keys[key])) for key in sorted(keys)]
    if kind in "vi" and rest:
        return ("v" if kind == "v" else "w"), _value_rank(orjson.loads(rest))
    return kind, rest


def _value_rank(value: Any) -> tuple[int, Any]:
    """value.Compare: numbers, then texts, truths, lists, maps and null."""
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, int | float):
        return 0, value
    if isinstance(value, str):
        return 1, value
    return 5 if value is None else 3 if isinstance(value, list) else 4, orjson.dumps(value)


def paths(fields: FieldSet, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All paths: at every step first what is a member, then what lies below."""
    steps = [(step, node) for step, node in fields.items() if step != SELF]
    for step, node in steps:
        if _is_member(node):
            yield (*prefix, step)
    for step, node in steps:
        yield from paths(node, (*prefix, step))


def path_text(path: tuple[str, ...]) -> str:
    """A path as messages show it: `.spec.ports[port=80,protocol="TCP"].name`."""
    return "".join(map(_step_text, path))


def _step_text(step: str) -> str:
    kind, _, rest = step.partition(":")
    if kind == "k":
        keys = orjson.loads(rest)
        return f"[{','.join(f'{key}={orjson.dumps(keys[key]).decode()}' for key in sorted(keys))}]"
    if kind == "v":
        return f"[={rest}]"
    return f"[{rest}]" if kind == "i" else f".{rest}"


def canonical(fields: FieldSet) -> FieldSet:
    """A valid set as it is written here: steps in order, keys sorted, members that hold nothing empty, and without
    steps of kinds that nobody knows yet."""
    return in_order({_written(step): _canonical_node(node) for step, node in fields.items() if step[:1] in "fkvi"})


def _canonical_node(node: FieldSet | None) -> FieldSet:
    children = canonical(node) if node else MEMBER
    return {SELF: MEMBER, **children} if node and children and SELF in node else children or MEMBER


def _written(step: str) -> str:
    kind, _, rest = step.partition(":")
    if kind == "i":
        return f"i:{int(rest)}"
    if kind == "f":
        return step
    value = orjson.loads(rest)
    if value is None and kind == "k":  # no keys at all
        value = {}
    return f"{kind}:{orjson.dumps(_as_go_writes(value), option=orjson.OPT_SORT_KEYS).decode()}"


def _as_go_writes(value: Any) -> Any:
    """A value without the floats that are whole numbers, which Go writes as such."""
    if isinstance(value, dict):
        return {key: _as_go_writes(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_go_writes(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**63 else value


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
        if not _valid_step(step):
            return False
        if node != {} and step[0] in "fkvi" and not valid(node):
            return False
    return True


def _valid_step(step: str) -> bool:
    """Steps of kinds that nobody knows yet are let be (DeserializePathElement)."""
    kind, colon, rest = step[:1], step[1:2], step[2:]
    if colon != ":":
        return False
    if kind not in "kvi":
        return True
    if kind == "i":
        return re.fullmatch(r"[-+]?[0-9]+", rest) is not None and -(2**63) <= int(rest) < 2**63
    try:
        value = orjson.loads(rest)
    except orjson.JSONDecodeError:
        return False
    return value is None or isinstance(value, dict) if kind == "k" else True
