"""Making strategic merge patches: the two-way diff of kubectl edit, label and scale, and the three-way one of apply.

Source of the behaviour: apimachinery pkg/util/strategicpatch (CreateTwoWayMergePatch, CreateThreeWayMergePatch).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import yaml

from engine.api.patch.merge_patch import same
from engine.api.patch.strategic_common import (
    DELETE_FROM_LIST,
    DIRECTIVE,
    RETAIN_KEYS,
    SET_ORDER,
    element_kind,
    field_strategy,
    go_text,
    identity,
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
        super().__init__(
            f"patch:\n{yaml.safe_dump(patch)}\nconflicts with changes made from original to current:\n"
            f"{yaml.safe_dump(changed)}\n"
        )


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
        if isinstance(original, dict) and isinstance(modified, dict):
            self._map_field(patch, key, original, modified, schema)
        elif isinstance(original, list) and isinstance(modified, list):
            self._list_field(patch, key, original, modified, schema)
        elif self.changes and not same(original, modified):
            patch[key] = modified

    def _map_field(self, patch: Object, key: str, original: Object, modified: Object, schema: Schema | None) -> None:
        field = field_strategy(schema, key)
        if field.strategy == "replace":
            if self.changes and not same(original, modified):
                patch[key] = modified
            return
        nested = replace(self, retain_keys=field.retain_keys).maps(original, modified, field.schema)
        if nested:
            patch[key] = nested

    def _list_field(
        self, patch: Object, key: str, original: list[Any], modified: list[Any], schema: Schema | None
    ) -> None:
        field = field_strategy(schema, key)
        if field.strategy != "merge":
            if self.changes and not same(original, modified):
                patch[key] = modified
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
        before = {identity(item, merge_key): item for item in original}
        after = {identity(item, merge_key): item for item in modified}
        elements: list[Any] = []
        for value, item in after.items():
            if value in before:
                if nested := self.maps(before[value], item, items):
                    elements.append({**nested, merge_key: value})
            elif self.changes:
                elements.append(item)
        elements = ordered_by(elements, modified, merge_key)
        if self.deletions:
            gone = sorted((value for value in before if value not in after), key=go_text)
            elements += [{merge_key: value, DIRECTIVE: "delete"} for value in gone]
        if elements:
            patch[key] = elements
        reordered = self.changes and list(before) != list(after)
        if self.set_order and modified and (elements or reordered):
            patch[f"{SET_ORDER}/{key}"] = [{merge_key: item[merge_key]} for item in modified]

    def _list_of_scalars(self, patch: Object, key: str, original: list[Any], modified: list[Any]) -> None:
        added = [item for item in modified if item not in original] if self.changes else []
        gone = [item for item in original if item not in modified] if self.deletions else []
        if added:
            patch[key] = added
        if gone:
            patch[f"{DELETE_FROM_LIST}/{key}"] = sorted(without_duplicates(gone), key=go_text)
        # Upstream has sorted the original in place by now: an equal list that is not sorted says its order too.
        reordered = self.changes and not same(sorted(original, key=go_text), modified)
        if self.set_order and modified and (gone or reordered):
            patch[f"{SET_ORDER}/{key}"] = modified


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
        left, right = sorted(left, key=go_text), sorted(right, key=go_text)
    return any(_conflict(one, other, items) for one, other in zip(left, right, strict=True))
