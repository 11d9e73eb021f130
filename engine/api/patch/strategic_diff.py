"""Making strategic merge patches: the two-way diff of kubectl edit, label and scale, and the three-way one of apply.

Source of the behaviour: apimachinery pkg/util/strategicpatch (CreateTwoWayMergePatch, CreateThreeWayMergePatch).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from engine.api.errors import ApiError
from engine.api.patch.merge_patch import same
from engine.api.patch.strategic_common import (
    DELETE_FROM_LIST,
    DIRECTIVE,
    RETAIN_KEYS,
    SET_ORDER,
    FieldStrategy,
    element_kind,
    field_strategy,
    go_text,
    identity,
    key_of,
    nothing_in_slices,
    ordered_by,
    without_duplicates,
)
from engine.api.patch.strategic_merge import merge_patches
from engine.api.schema import Schema
from engine.api.types import Object

Precondition = Callable[[Object], bool]


class PreconditionFailedError(Exception):
    """The patch would change what must stay."""

    def __init__(self, patch: Object) -> None:
        super().__init__(f"precondition failed for: {go_text(patch)}")


class PatchConflictError(Exception):
    """Without `overwrite`: somebody else changed what the patch changes, and otherwise."""

    def __init__(self, patch: Object, changed: Object) -> None:
        super().__init__("the patch conflicts with changes made from original to current")
        self.patch = patch
        self.changed = changed


def key_unchanged(key: str) -> Precondition:
    """That the patch leaves a field of the object alone, as `kind`."""
    return lambda patch: key not in patch


def metadata_key_unchanged(key: str) -> Precondition:
    """That the patch leaves a field of the metadata alone, as `name`."""
    return lambda patch: key not in (patch.get("metadata") or {})


def two_way_strategic_patch(
    original: Object, modified: Object, schema: Schema | None, *, preconditions: Iterable[Precondition] = ()
) -> Object:
    """The patch that makes `modified` of `original`. Raises PreconditionFailedError."""
    patch = _Diff(set_order=True).maps(original, modified, schema)
    _check(patch, preconditions)
    return patch


def three_way_strategic_patch(
    original: Object,
    modified: Object,
    current: Object,
    schema: Schema | None,
    *,
    overwrite: bool = True,
    preconditions: Iterable[Precondition] = (),
) -> Object:
    """What kubectl apply sends: `original` is what was applied last, `modified` what is now, `current` the live object.

    Deleted is what `modified` lacks of `original`, changed what it has otherwise than `current`.
    Raises PreconditionFailedError and, without `overwrite`, PatchConflictError.
    """
    changes = _Diff(set_order=True, deletions=False).maps(current, modified, schema)
    deletions = _Diff(set_order=True, changes=False).maps(original, modified, schema)
    patch = merge_patches(deletions, changes, schema)
    _check(patch, preconditions)
    if not overwrite:
        changed = _Diff().maps(original, current, schema)
        if _conflict(patch, changed, schema):
            raise PatchConflictError(patch, changed)
    return patch


def _check(patch: Object, preconditions: Iterable[Precondition]) -> None:
    if not all(holds(patch) for holds in preconditions):
        raise PreconditionFailedError(patch)


@dataclass(frozen=True, slots=True)
class _Diff:
    """What of a difference goes into the patch."""

    set_order: bool = False
    changes: bool = True
    deletions: bool = True
    retain_keys: bool = False

    def maps(self, original: Object, modified: Object, schema: Schema | None) -> Object:
        patch: Object = {}
        for key, value in modified.items():
            if key not in original:
                if self.changes:
                    patch[key] = value
            else:
                self._field(patch, key, original[key], value, schema)
        if self.deletions:
            patch.update({key: None for key in original if key not in modified})
        retained = [key for key, value in modified.items() if value is not None] if self.retain_keys else []
        gone = any(value is not None and key not in modified for key, value in original.items())
        if retained and (patch or gone):
            patch[RETAIN_KEYS] = sorted(retained)
        return patch

    def _field(self, patch: Object, key: str, original: Any, modified: Any, schema: Schema | None) -> None:
        if type(original) is not type(modified) or not isinstance(original, dict | list):
            self._replaced(patch, key, original, modified)
            return
        try:
            field = field_strategy(schema, key)
        except ApiError:
            if same(original, modified):
                return  # there is nothing to merge, so that nothing need be known
            raise
        if isinstance(original, dict):
            self._map_field(patch, key, original, modified, field)
        else:
            self._list_field(patch, key, original, modified, field)

    def _replaced(self, patch: Object, key: str, original: Any, modified: Any) -> None:
        if self.changes and not same(original, modified):
            patch[key] = modified

    def _map_field(self, patch: Object, key: str, original: Object, modified: Object, field: FieldStrategy) -> None:
        if field.strategy == "replace":
            self._replaced(patch, key, original, modified)
            return
        nested = replace(self, retain_keys=field.retain_keys).maps(original, modified, field.schema)
        if nested:
            patch[key] = nested

    def _list_field(
        self, patch: Object, key: str, original: list[Any], modified: list[Any], field: FieldStrategy
    ) -> None:
        if field.strategy != "merge":
            self._replaced(patch, key, original, modified)
            return
        diff = replace(self, retain_keys=field.retain_keys)
        if not original:
            if modified and self.changes:
                patch[key] = modified
        elif element_kind(original, modified) is dict:
            diff._list_of_maps(patch, key, (original, modified), field.items, field.merge_key)
        else:
            diff._list_of_scalars(patch, key, original, modified)

    def _list_of_maps(
        self, patch: Object, key: str, lists: tuple[list[Any], list[Any]], items: Schema | None, merge_key: str
    ) -> None:
        original, modified = lists
        before, after = _by_key(original, merge_key), _by_key(modified, merge_key)
        elements: list[Any] = []
        gone: list[Any] = []
        for one, other in _joined(before, after):
            if one is not None and other is not None:
                if nested := self.maps(one, other, items):
                    elements.append({**nested, merge_key: other[merge_key]})
            elif other is not None and self.changes:
                elements.append(other)
            elif one is not None and self.deletions:
                gone.append({merge_key: one[merge_key], DIRECTIVE: "delete"})
        elements = ordered_by(elements, modified, merge_key) + gone
        if elements:
            patch[key] = elements
        order = [key_of(item, merge_key) for item in modified]
        reordered = self.changes and [key_of(item, merge_key) for item in original] != order
        if self.set_order and modified and (elements or reordered):
            patch[f"{SET_ORDER}/{key}"] = [{merge_key: item[merge_key]} for item in modified]

    def _list_of_scalars(self, patch: Object, key: str, original: list[Any], modified: list[Any]) -> None:
        before = sorted(original, key=go_text)
        pairs = list(_joined(_by_text(before), _by_text(sorted(modified, key=go_text))))
        added = [other for one, other in pairs if one is None] if self.changes else []
        gone = [one for one, other in pairs if other is None] if self.deletions else []
        if added:
            patch[key] = ordered_by(added, modified, "")
        if gone:
            patch[f"{DELETE_FROM_LIST}/{key}"] = _without_twins(gone)
        # Upstream has sorted the original in place by now: an equal list that is not sorted says its order too.
        reordered = self.changes and not same(before, modified)
        if self.set_order and modified and (gone or reordered):
            patch[f"{SET_ORDER}/{key}"] = modified


_Keyed = list[tuple[str, Any]]


def _by_key(items: list[Any], merge_key: str) -> _Keyed:
    """Elements in the order of their merge keys' texts, twins the other way round: upstream's comparison is not
    strict, so that its sort turns them about."""
    keyed = [(go_text(key_of(item, merge_key)), item) for item in reversed(items)]
    return sorted(keyed, key=lambda pair: pair[0])


def _by_text(items: list[Any]) -> _Keyed:
    return [(go_text(item), item) for item in items]


def _joined(before: _Keyed, after: _Keyed) -> Iterator[tuple[Any, Any]]:
    """Pairs with the same text, None beside what is alone: a twin too many is alone."""
    left = right = 0
    while left < len(before) or right < len(after):
        if left == len(before) or (right < len(after) and after[right][0] < before[left][0]):
            yield None, after[right][1]
            right += 1
        elif right == len(after) or before[left][0] < after[right][0]:
            yield before[left][1], None
            left += 1
        else:
            yield before[left][1], after[right][1]
            left, right = left + 1, right + 1


def _without_twins(items: list[Any]) -> list[Any]:
    """As upstream takes them out: the last one fills the gap."""
    kept = list(items)
    place = 0
    while place < len(kept):
        other = place + 1
        while other < len(kept):
            if kept[other] == kept[place]:
                kept[other] = kept[-1]
                kept.pop()
            else:
                other += 1
        place += 1
    return kept


def _conflict(left: Any, right: Any, schema: Schema | None, strategy: str = "", merge_key: str = "") -> bool:
    """Whether two patches of one object touch the same thing in different ways (MergingMapsHaveConflicts)."""
    if isinstance(left, dict):
        if not isinstance(right, dict) or left.get(DIRECTIVE) != right.get(DIRECTIVE):
            return True
        return strategy != "replace" and _maps_conflict(left, right, schema)
    if isinstance(left, list):
        return not isinstance(right, list) or _lists_conflict(left, right, schema, strategy, merge_key)
    return not same(left, right)


def _maps_conflict(left: Object, right: Object, schema: Schema | None) -> bool:
    for key, value in left.items():
        if key in (DIRECTIVE, RETAIN_KEYS) or key not in right:
            continue
        if not isinstance(value, dict | list):
            if _conflict(value, right[key], None):
                return True
            continue
        field = field_strategy(schema, key)
        if _conflict(value, right[key], field.schema, field.strategy, field.merge_key):
            return True
    return False


def _lists_conflict(left: list[Any], right: list[Any], schema: Schema | None, strategy: str, merge_key: str) -> bool:
    kind = element_kind(left, right)
    if kind is None:
        raise nothing_in_slices()
    items = schema.items if schema is not None else None
    if strategy == "merge":
        if kind is not dict:
            return False
        others = {identity(item, merge_key): item for item in right}
        return any(
            identity(item, merge_key) in others and _conflict(item, others[identity(item, merge_key)], items)
            for item in left
        )
    if len(left) != len(right):
        return True
    if kind is not dict:
        left, right = (sorted(without_duplicates(each), key=go_text) for each in (left, right))
    return any(_conflict(one, other, items) for one, other in zip(left, right, strict=False))
