"""JSON Merge Patch, RFC 7386, and the three-way patch that kubectl apply makes of it for custom resources.

Source of the behaviour: evanphx/json-patch (MergePatch, CreateMergePatch) and apimachinery pkg/util/jsonmergepatch.
"""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.errors import bad_request
from engine.api.types import Object


def merge_patch(obj: Object, patch: Any) -> Object:
    """The object with the patch merged in: null deletes, lists are replaced. Raises ApiError 400."""
    if patch is None:
        raise bad_request("Invalid JSON Patch")
    if not isinstance(patch, dict):
        raise bad_request(f"error decoding patch: {not_a_map(patch)}")
    return _merge(orjson.loads(orjson.dumps(obj)), orjson.loads(orjson.dumps(patch)))


def merge_patched(obj: Object, patch: Any) -> Any:
    """What a patch makes of the object, also one that is no map: then it is what comes out. Raises ApiError 400."""
    return merge_patch(obj, patch) if patch is None or isinstance(patch, dict) else _pruned(patch)


def _merge(target: Object, patch: Object) -> Object:
    """Both are ours to change. What was merged has its fields in order, as upstream writes them anew; so has a value
    that is new."""
    for key, value in patch.items():
        present = target.get(key)
        if value is None:
            target.pop(key, None)
        elif isinstance(present, dict):
            target[key] = _merge(present, value) if isinstance(value, dict) else value
        else:
            target[key] = _pruned(value)
    return {key: target[key] for key in sorted(target)}


def _pruned(value: Any) -> Any:
    """A value that has nothing to merge with, without the nulls in its maps, those inside lists too."""
    if isinstance(value, dict):
        return {key: _pruned(value[key]) for key in sorted(value) if value[key] is not None}
    return [_pruned(item) for item in value] if isinstance(value, list) else value


def two_way_merge_patch(original: Object, modified: Object) -> Object:
    """The merge patch that makes `modified` of `original`."""
    patch: Object = {}
    for key, value in modified.items():
        if key not in original:
            patch[key] = value
        elif isinstance(value, dict) and isinstance(original[key], dict):
            if nested := two_way_merge_patch(original[key], value):
                patch[key] = nested
        elif not same(value, original[key]):
            patch[key] = value
    for key in original:
        if key not in modified:
            patch[key] = None
    return patch


def three_way_merge_patch(original: Object, modified: Object, current: Object) -> Object:
    """What kubectl apply sends for a kind without strategic merge: deletions are what `modified` lacks of `original`,
    changes what it has otherwise than `current`."""
    changes = _without_nulls(two_way_merge_patch(current, modified))
    deletions = _only_nulls(two_way_merge_patch(original, modified))
    return merge_patch(deletions, changes)  # no deletion meets another, so that all of them stay


def _without_nulls(patch: Object) -> Object:
    """The patch without its deletions; maps that had nothing else go too."""
    kept: Object = {}
    for key, value in patch.items():
        if isinstance(value, dict) and value:
            if nested := _without_nulls(value):
                kept[key] = nested
        elif value is not None:
            kept[key] = value
    return kept


def _only_nulls(patch: Object) -> Object:
    kept: Object = {}
    for key, value in patch.items():
        if value is None:
            kept[key] = None
        elif isinstance(value, dict) and (nested := _only_nulls(value)):
            kept[key] = nested
    return kept


def json_kind(value: Any) -> str:
    """What encoding/json calls a value of this kind."""
    kinds = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}
    return kinds.get(type(value), "null")


def not_a_map(value: Any) -> str:
    """What encoding/json says of a value where a map must be."""
    return f"json: cannot unmarshal {json_kind(value)} into Go value of type map[string]interface {{}}"


def same(left: Any, right: Any) -> bool:
    """JSON equality, in which true is not 1."""
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same(value, right[key]) for key, value in left.items())
        )
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)
