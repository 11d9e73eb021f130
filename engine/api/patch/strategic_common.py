"""What applying and making strategic merge patches have in common: directives, schema look-ups, order and errors.

Source of the behaviour: apimachinery pkg/util/strategicpatch and pkg/util/mergepatch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from engine.api.errors import ApiError, bad_request
from engine.api.golang.floats import shown_float
from engine.api.patch.json_patch import unprocessable
from engine.api.schema import Schema

DIRECTIVE = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_FROM_LIST = "$deleteFromPrimitiveList"
SET_ORDER = "$setElementOrder"


class FieldStrategy(NamedTuple):
    """How a field merges. `strategy` is `merge`, `replace` or ""; without a schema nothing is known."""

    schema: Schema | None
    strategy: str
    merge_key: str
    retain_keys: bool

    @property
    def items(self) -> Schema | None:
        return self.schema.items if self.schema is not None else None


GO_LIST = "[]interface {}"
GO_MAP = "map[string]interface {}"
_GO_TYPES = {dict: GO_MAP, list: GO_LIST, str: "string", bool: "bool", int: "int64", float: "float64"}

_UNKNOWN = FieldStrategy(None, "", "", False)


def field_strategy(schema: Schema | None, key: str) -> FieldStrategy:
    """The strategy of a field of a struct. Raises ApiError for what is none, and for a field that it does not have:
    upstream asks the Go type, which knows nothing of maps and of what an opaque value holds."""
    if schema is None:
        return _UNKNOWN
    field = schema.properties.get(key)
    if field is None:
        raise _no_struct_field(schema, key)
    strategies = field.patch_strategies
    strategy = "merge" if "merge" in strategies else "replace" if "replace" in strategies else ""
    return FieldStrategy(field, strategy, field.patch_merge_key, "retainKeys" in strategies)


def list_strategy(schema: Schema | None, key: str) -> FieldStrategy:
    """The strategy of a field that must be a list. Raises ApiError as `field_strategy`, and for what is none."""
    found = field_strategy(schema, key)
    if found.schema is not None and found.schema.type != "array":
        raise unnamed_error("expected slice or array type, but got: struct")  # as upstream: what the field is in
    return found


def go_kind(schema: Schema | None) -> str:
    """What reflect calls a type: `struct`, `map`, `string`."""
    if schema is None or schema.int_or_string or schema.quantity:
        return "struct"
    if schema.type == "object":
        return "map" if schema.values is not None and not schema.properties else "struct"
    return {"integer": schema.format or "int64", "boolean": "bool", "number": "float64"}.get(schema.type, schema.type)


def _no_struct_field(schema: Schema, key: str) -> ApiError:
    if schema.values is not None:
        return unnamed_error("merging an object in json but data type is not struct, instead is: map")
    name = schema.definition.rpartition(".")[2]
    return unnamed_error(f"unable to find api field in struct {name} for the json field {orjson.dumps(key).decode()}")


# -- errors. Upstream answers 500 with no reason for those that it has no name for.


def unnamed_error(message: str) -> ApiError:
    return ApiError(500, "", message)


def no_merge_key(item: Any, merge_key: str) -> ApiError:
    return unnamed_error(f"map: {go_text(item)} does not contain declared merge key: {merge_key}")


def bad_patch_type(directive: Any, item: Any) -> ApiError:
    return unnamed_error(f"unknown patch type: {_as_string(directive)} in map: {go_text(item)}")


def bad_type(expected: str, actual: Any) -> ApiError:
    return unnamed_error(f"expected a {expected}, but received a {_GO_TYPES.get(type(actual), '%!s(<nil>)')}")


def bad_primitive_list() -> ApiError:
    return bad_request("invalid patch format of primitive list")


def bad_retain_keys() -> ApiError:
    return bad_request("invalid patch format of retainKeys")


def bad_set_order() -> ApiError:
    return bad_request("invalid patch format of setElementOrder list")


def nothing_in_slices() -> ApiError:
    return unnamed_error("no elements in any of the given slices")


def go_text(value: Any) -> str:
    """A JSON value as Go's %v prints it."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return shown_float(value)
    return "<nil>" if value is None else str(value)


def _as_string(value: Any) -> str:
    """A JSON value as Go's %s prints it, which tells of each that is no string."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{_within(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_within, value))}]"
    if isinstance(value, str):
        return value
    return "%!s(<nil>)" if value is None else f"%!s({_GO_TYPES[type(value)]}={go_text(value)})"


def _within(value: Any) -> str:
    return "<nil>" if value is None else _as_string(value)


# -- lists


def element_kind(*lists: Iterable[Any]) -> type | None:
    """The one type of all elements; None where there are none. Raises ApiError for mixed ones and lists of lists."""
    kind: type | None = None
    for items in lists:
        for item in items:
            if kind is None:
                kind = type(item)
                if kind is list:
                    raise unprocessable()
            elif type(item) is not kind:
                shown = " ".join(go_text(list(each)) for each in lists)
                raise unnamed_error(f"list element types are not identical: [{shown}]")
    return kind


def key_of(item: Any, merge_key: str) -> Any:
    """What an element is found by: its merge key's value, or itself for a primitive. Raises ApiError without one."""
    if not merge_key:
        return item
    if not isinstance(item, dict):
        raise bad_type(GO_MAP, item)
    if merge_key not in item:
        raise no_merge_key(item, merge_key)
    return item[merge_key]


def identity(item: Any, merge_key: str) -> Any:
    """As `key_of`, to be looked up by: a map or list for a key is like no other."""
    try:
        value = item[merge_key] if merge_key else item
    except (KeyError, TypeError, IndexError):
        value = key_of(item, merge_key)  # which says what is wrong
    return object() if isinstance(value, dict | list) else value


def ordered_by(items: list[Any], order: list[Any], merge_key: str) -> list[Any]:
    """Sorted as `order` has them, what is to be deleted last."""
    places = {identity(item, merge_key): place for place, item in reversed(list(enumerate(order)))}
    kept = [item for item in items if not _is_deletion(item)]
    deleted = [item for item in items if _is_deletion(item)]
    kept.sort(key=lambda item: places.get(identity(item, merge_key), len(places)))
    return kept + deleted


def _is_deletion(item: Any) -> bool:
    return isinstance(item, dict) and item.get(DIRECTIVE) == "delete"


def interleaved(server_only: list[Any], patched: list[Any], server_order: list[Any], merge_key: str) -> list[Any]:
    """Both lists as one: each keeps its order; one goes before the other where the server's order says so."""
    places = {identity(item, merge_key): place for place, item in reversed(list(enumerate(server_order)))}
    merged: list[Any] = []
    left, right = 0, 0
    while left < len(server_only) and right < len(patched):
        place = places.get(identity(server_only[left], merge_key))
        other = places.get(identity(patched[right], merge_key))
        if place is not None and other is not None and place < other:
            merged.append(server_only[left])
            left += 1
        else:
            merged.append(patched[right])
            right += 1
    return [*merged, *server_only[left:], *patched[right:]]


def in_order(merged: list[Any], *, patch_order: list[Any], server_order: list[Any], merge_key: str) -> list[Any]:
    """A merged list in its final order: what the patch names as it has them, the rest where the server had it."""
    _check_maps(merged, patch_order, merge_key)
    named = {identity(item, merge_key) for item in patch_order}
    patched = [item for item in merged if identity(item, merge_key) in named]
    server_only = [item for item in merged if identity(item, merge_key) not in named]
    return interleaved(
        ordered_by(server_only, server_order, merge_key),
        ordered_by(patched, patch_order, merge_key),
        server_order,
        merge_key,
    )


def _check_maps(merged: list[Any], order: list[Any], merge_key: str) -> None:
    """Each element is looked for in the order, and what is no map there is told of who comes by it."""
    if not merge_key:
        return
    wrong = next((place for place, item in enumerate(order) if not isinstance(item, dict)), None)
    if wrong is None:
        return
    before = [item[merge_key] for item in order[:wrong] if merge_key in item]
    if any(identity(item, merge_key) not in before for item in merged):
        raise unnamed_error(f"value for key {wrong} is not a map")


def without_duplicates(items: list[Any]) -> list[Any]:
    return list(dict.fromkeys(items))
