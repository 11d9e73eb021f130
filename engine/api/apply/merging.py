"""Merging what is applied into the live object, and taking out what its manager has given up.

Source of the behaviour: structured-merge-diff typed (merge.go, remove.go) and merge/update.go (prune).
"""

from __future__ import annotations

from typing import Any

from engine.api.apply.field_sets import MEMBER, SELF, FieldSet
from engine.api.apply.field_types import FieldType, ListType, MapType


def merge(kind: FieldType, live: Any, applied: Any) -> Any:
    """The applied value over the live one. Shares what does not change; neither side is changed.

    A null sets a leaf to null, but takes nothing out of a map or list that is owned piece by piece.
    """
    if isinstance(kind, MapType):
        if isinstance(live, dict) and live and (applied is None or isinstance(applied, dict)):
            return _merge_map(kind, live, applied or {})
    elif isinstance(kind, ListType) and isinstance(live, list) and live and isinstance(applied, list | None):
        return _merge_list(kind, live, applied) if applied else live
    return applied


def _merge_map(kind: MapType, live: dict[str, Any], applied: dict[str, Any]) -> dict[str, Any]:
    if not applied:
        return live
    merged = dict(live)
    for key, value in applied.items():
        merged[key] = merge(kind.field(key)[1], live[key], value) if key in live else value
    return merged


def _merge_list(kind: ListType, live: list[Any], applied: list[Any]) -> list[Any]:
    """Applied elements come in the order they are applied in; each live one stays before what it was before.

    Live elements that cannot be told apart stay as they are, or give way together to an applied one.
    """
    left, right = [kind.step(item) for item in live], [kind.step(item) for item in applied]
    present, wanted = kind.index(live), kind.index(applied)
    shared = [step for step in wanted if step in present]
    taken: set[str] = set()
    merged: list[Any] = []
    i = j = 0
    while i < len(left) or j < len(right):
        both = i < len(left) and j < len(right)
        if both and left[i] != right[j] and left[i] in wanted and shared and left[i] != shared[0]:
            i += 1  # it comes where it is applied
            continue
        if i < len(left) and left[i] not in wanted:
            merged.append(live[i])
            i += 1
            continue
        if i < len(left) and (left[i] in taken or (j < len(right) and left[i] == right[j])):
            i += 1
        if j < len(right):
            step = right[j]
            taken.add(step)
            merged.append(_merge_item(kind, present.get(step, []), applied[j]))
            j += 1
            if shared and shared[0] == step:
                shared.pop(0)
    return merged


def _merge_item(kind: ListType, live: list[Any], applied: Any) -> Any:
    return merge(kind.items, live[0], applied) if len(live) == 1 else applied


def with_structs(kind: FieldType, fields: FieldSet) -> FieldSet:
    """The set with every struct field that has members below it a member too (EnsureNamedFieldsAreMembers), so that a
    struct goes when nobody owns anything in it."""
    found: FieldSet = {}
    for step, node in fields.items():
        if step == SELF or not node:
            found[step] = node
            continue
        below, named = below_step(kind, step)
        inner = with_structs(below, node)
        found[step] = {SELF: MEMBER, **inner} if named and SELF not in inner else inner
    return found


def below_step(kind: FieldType, step: str) -> tuple[FieldType, bool]:
    """The type below a step, and whether the step is a declared field of a struct."""
    if isinstance(kind, MapType) and step.startswith("f:"):
        key = step[2:]
        return kind.field(key)[1], kind.declares(key)
    return (kind.items if isinstance(kind, ListType) else FieldType(None)), False


def remove(kind: FieldType, value: Any, gone: FieldSet) -> Any:
    """The value without these fields; null where nothing is left of a map or list that lost all it had.

    A map or list that is owned as a whole goes with anything in it (another schema once told its parts apart).
    """
    if not gone:
        return value
    if isinstance(kind, MapType) and isinstance(value, dict):
        return _remove_keys(kind, value, gone)
    if isinstance(kind, ListType) and isinstance(value, list):
        return _remove_items(kind, value, gone)
    return None if isinstance(value, dict | list) else value


def _remove_keys(kind: MapType, value: dict[str, Any], gone: FieldSet) -> dict[str, Any] | None:
    kept: dict[str, Any] = {}
    for key, item in value.items():
        step, below, there = kind.field(key)
        node = gone.get(step)
        if node is None:
            kept[key] = item
        elif node and SELF not in node:
            rest = remove(below, item, node)
            if rest is None and there:  # emptied, but upstream's objects always have it
                born = kind.born[key]
                rest = [] if isinstance(item, list) else {**born} if isinstance(born, dict) else born
            kept[key] = rest
    return kept or None


def _remove_items(kind: ListType, value: list[Any], gone: FieldSet) -> list[Any] | None:
    kept: list[Any] = []
    for item in value:
        node = gone.get(kind.step(item))
        if node is None:
            kept.append(item)
        elif node and SELF not in node:
            rest = remove(kind.items, item, node)
            kept.append({} if rest is None else rest)
    return kept or None
