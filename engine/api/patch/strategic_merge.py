"""Strategic merge patch: applying one to an object, or (as kubectl does) to another patch.

Source of the behaviour: apimachinery pkg/util/strategicpatch (StrategicMergeMapPatch, mergeMap).
"""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.errors import bad_request
from engine.api.patch.list_places import first_places, slots, without
from engine.api.patch.merge_patch import not_a_map, same
from engine.api.patch.strategic_common import (
    DELETE_FROM_LIST,
    DIRECTIVE,
    GO_LIST,
    RETAIN_KEYS,
    SET_ORDER,
    bad_patch_type,
    bad_primitive_list,
    bad_retain_keys,
    bad_set_order,
    bad_type,
    element_kind,
    field_strategy,
    go_kind,
    go_text,
    identity,
    in_order,
    list_strategy,
    no_merge_key,
    nothing_in_slices,
    unnamed_error,
    without_duplicates,
)
from engine.api.schema import Schema
from engine.api.types import Object


def strategic_merge_patch(obj: Object, patch: Any, schema: Schema | None) -> Object:
    """The object with the patch applied. Raises ApiError for a patch that is malformed or does not fit."""
    if patch is None:  # decodes as an empty map
        patch = {}
    if not isinstance(patch, dict):
        raise bad_request(not_a_map(patch))
    return Merger(onto_object=True).merge_map(_copy(obj), _copy(patch), schema)


def merge_patches(first: Object, second: Object, schema: Schema | None) -> Object:
    """Two patches as one, the second over the first: directives and nulls stay, for they are still to be applied."""
    return Merger(onto_object=False).merge_map(_copy(first), _copy(second), schema)


def _copy(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value))


class Merger:
    """Merges in place: both sides of every call are ours to change.

    `onto_object` says that the left side is an object, so that directives are carried out and nulls delete; otherwise
    it is a patch itself, and they are handed on.
    """

    def __init__(self, *, onto_object: bool) -> None:
        self._onto_object = onto_object

    def merge_map(self, original: Object, patch: Object, schema: Schema | None) -> Object:
        if DIRECTIVE in patch:
            return _carry_out(patch)
        self._retain_keys(original, patch)
        self._set_orders(original, patch, schema)
        for key, value in patch.items():
            if key.startswith(DELETE_FROM_LIST):
                self._delete_from_list(original, key, value, schema)
            else:
                self._merge_field(original, key, value, schema)
        return original

    def _merge_field(self, original: Object, key: str, value: Any, schema: Schema | None) -> None:
        if value is None:
            original.pop(key, None)
            if not self._onto_object:
                original[key] = None
            return
        present = original.get(key)
        if not isinstance(value, dict | list) or type(value) is not type(present):
            self._take(original, key, value)
            return
        strategy = field_strategy(schema, key)
        if isinstance(value, dict) and isinstance(present, dict) and strategy.strategy != "replace":
            original[key] = self.merge_map(present, value, strategy.schema)
        elif isinstance(value, list) and isinstance(present, list) and strategy.strategy == "merge":
            original[key] = self._merge_list(present, value, strategy.items, strategy.merge_key)
        else:
            original[key] = value

    def _take(self, original: Object, key: str, value: Any) -> None:
        """Takes a value that has nothing to merge with, without what has $patch: of a map that has it nothing is left.

        Other directives stay, as upstream leaves them; decoding the object tells of them as unknown fields.
        """
        if self._onto_object:
            value = _without_nulls(value)
        if _directed(value):
            original.pop(key, None)
        else:
            original[key] = _without_directives(value)

    # -- directives

    def _retain_keys(self, original: Object, patch: Object) -> None:
        """$retainKeys: of the object, only what it names stays."""
        if RETAIN_KEYS not in patch:
            return
        retained = patch.pop(RETAIN_KEYS)
        if not self._onto_object:
            if not same(original.setdefault(RETAIN_KEYS, retained), retained):
                raise unnamed_error(
                    f"{go_text(original[RETAIN_KEYS])} and {go_text(retained)} are not deep equal: this may happen "
                    "when calculating the 3-way diff patch"
                )
            return
        if not isinstance(retained, list):
            raise bad_retain_keys()
        for key, value in patch.items():
            if value is not None and key not in retained and not key.startswith((DELETE_FROM_LIST, SET_ORDER)):
                raise bad_retain_keys()
        for key in [key for key in original if key not in retained]:
            del original[key]

    def _set_orders(self, original: Object, patch: Object, schema: Schema | None) -> None:
        for key in [key for key in patch if key.startswith(SET_ORDER)]:
            self._set_order(original, patch, key, schema)

    def _set_order(self, original: Object, patch: Object, directive: str, schema: Schema | None) -> None:
        """$setElementOrder/FIELD: merges the list if the patch has it, and puts its elements in this order."""
        order = patch.pop(directive)
        if not self._onto_object and not same(original.setdefault(directive, order), order):
            raise bad_set_order()
        if not isinstance(order, list):
            raise bad_type(GO_LIST, order)
        key = _field_of(directive, SET_ORDER)
        for items in [side[key] for side in (original, patch) if key in side]:
            if not isinstance(items, list):
                raise bad_type(GO_LIST, items)
        strategy = list_strategy(schema, key)
        changes: list[Any] | None = patch.pop(key, None)
        present: list[Any] | None = original.get(key)
        _check_order(changes or [], order, strategy.merge_key)
        if changes is not None and present is not None and strategy.strategy == "merge":
            merged = self._merge_list(list(present), changes, strategy.items, strategy.merge_key)
        elif changes is not None:
            merged = _without_directives(changes)
        elif present is not None:
            merged = present
        else:
            return
        if not changes and not present:
            raise nothing_in_slices()
        server_order = present or []
        if changes and strategy.merge_key:
            server_order = slots(server_order, changes, strategy.merge_key, DIRECTIVE)
        original[key] = in_order(merged, patch_order=order, server_order=server_order, merge_key=strategy.merge_key)

    def _delete_from_list(self, original: Object, directive: str, values: Any, schema: Schema | None) -> None:
        """$deleteFromPrimitiveList/FIELD: takes these values out of the list."""
        if not self._onto_object:
            original[directive] = values
            return
        key = _field_of(directive, DELETE_FROM_LIST)
        present = original.get(key)
        if isinstance(values, list) and isinstance(present, list) and element_kind(present, values) is not dict:
            original[key] = [item for item in present if item not in values]
            return
        if values is None or type(values) is type(present):  # upstream merges what is no list of primitives
            self._merge_field(original, key, values, schema)

    # -- lists

    def _merge_list(self, original: list[Any], patch: list[Any], items: Schema | None, merge_key: str) -> list[Any]:
        kind = element_kind(original, patch)
        if kind is None:
            return original
        if kind is not dict:
            merged = without_duplicates([*original, *patch])
            return in_order(merged, patch_order=patch, server_order=original, merge_key="")
        if not merge_key:
            raise unnamed_error(f"cannot merge lists without merge key for {go_kind(items)}")
        original, patch = _carry_out_in_list(original, patch, merge_key)
        server_order = list(original)
        merged = self._merge_elements(original, patch, items, merge_key)
        return in_order(merged, patch_order=patch, server_order=server_order, merge_key=merge_key)

    def _merge_elements(self, original: list[Any], patch: list[Any], items: Schema | None, merge_key: str) -> list[Any]:
        places = first_places(original, merge_key)
        for element in patch:
            value = identity(element, merge_key)
            place = places.get(value)
            if place is None:
                places[value] = len(original)
                original.append(element)
                continue
            merged = original[place] = self.merge_map(original[place], dict(element), items)
            if merge_key not in merged or merged[merge_key] != value:  # a null for the key
                places = first_places(original, merge_key)
        return original


def _field_of(directive: str, prefix: str) -> str:
    head, slash, key = directive.partition("/")
    if head != prefix or not slash:
        raise bad_primitive_list() if prefix == DELETE_FROM_LIST else bad_set_order()
    return key


def _carry_out(patch: Object) -> Object:
    """A map with $patch: `replace` takes the patch itself, `delete` leaves an empty map."""
    directive = patch[DIRECTIVE]
    if directive == "delete":
        return {}
    if directive != "replace":
        raise bad_patch_type(directive, patch)
    return {key: value for key, value in patch.items() if key != DIRECTIVE}


def _carry_out_in_list(original: list[Any], patch: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Carries out the elements with $patch; what is left of the list and of the patch."""
    plain: list[Any] = []
    gone: list[Any] = []
    replace = False
    for element in patch:
        directive = element.get(DIRECTIVE)
        if DIRECTIVE not in element:
            plain.append(element)
        elif directive == "delete":
            if merge_key not in element:
                raise no_merge_key(element, merge_key)
            gone.append(element[merge_key])
        elif directive == "replace":
            replace = True
        elif directive == "merge":
            raise unnamed_error("merging lists cannot yet be specified in the patch")
        else:
            raise bad_patch_type(directive, element)
    return (plain, []) if replace else (without(original, merge_key, gone), plain)


def _check_order(changes: list[Any], order: list[Any], merge_key: str) -> None:
    """Every element of the patch must be in the order, and they must not contradict it."""
    if not changes or not order:
        return
    kept = [change for change in changes if not (isinstance(change, dict) and change.get(DIRECTIVE) == "delete")]
    at = place = 0
    while at < len(kept) and place < len(order):
        if _directed(kept[at]):
            at += 1
            continue
        at += _same_element(kept[at], order[place], merge_key)
        place += 1
    if at < len(kept):
        raise unnamed_error(
            f"The order in patch list:\n{go_text(changes)}\n doesn't match {SET_ORDER} list:\n{go_text(order)}\n"
        )


def _same_element(left: Any, right: Any, merge_key: str) -> bool:
    if not merge_key and type(left) is not type(right):
        return False
    return bool(identity(left, merge_key) == identity(right, merge_key))


def _without_directives(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_directives(item) for key, item in value.items() if not _directed(item)}
    if isinstance(value, list):
        return [_without_directives(item) for item in value if not _directed(item)]
    return value


def _without_nulls(value: Any) -> Any:
    """Those in maps, at any depth."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _directed(value: Any) -> bool:
    return isinstance(value, dict) and DIRECTIVE in value
