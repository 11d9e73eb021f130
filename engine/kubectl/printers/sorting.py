"""`--sort-by`: by a JSONPath, as kubectl compares values.

Source of the behaviour: kubectl pkg/cmd/get/sorter.go (natural order of text, quantities by size, missing ones first).
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cmp_to_key
from typing import Any

from engine.api.errors import ApiError
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.kubectl.errors import CommandError, FatalError
from engine.kubectl.printers.jsonpath import JsonPath, relaxed, text_of

_GO_TYPES = {bool: "bool", dict: "map[string]interface {}", list: "[]interface {}"}


def sort_objects(objects: list[Object], path: str) -> list[int]:
    """The order of the objects, as indices. Raises CommandError if no object has the field or the path is none,
    FatalError if two values have no order: kubectl ends with that, whatever else there is to print."""
    return _order(objects, relaxed(path), of="*unstructured.Unstructured", place="sorter.go:329")


def sort_rows(rows: list[Object], path: str) -> list[Object]:
    """Table rows sorted by a field of their objects; any template will do. Raises as `sort_objects` does."""
    with suppress(CommandError):
        path = relaxed(path)
    objects = [row.get("object") or {} for row in rows]
    return [rows[index] for index in _order(objects, path, of="[][][]reflect.Value", place="sorter.go:375")]


def _order(objects: list[Object], path: str, *, of: str, place: str) -> list[int]:
    """`of` is what kubectl's Go code has the values in, `place` where it gives up."""
    expression = JsonPath(path)
    keys = [_first(expression, obj) for obj in objects]
    if objects and all(key is None for key in keys):
        raise CommandError(f'couldn\'t find any field with path "{path}" in the list of objects')
    compare = cmp_to_key(_compare)
    # What lacks the field is less than anything, than what lacks it as well too: the last of them comes first.
    missing = [index for index, key in reversed(list(enumerate(keys))) if key is None]
    try:
        return missing + sorted(
            (index for index, key in enumerate(keys) if key is not None), key=lambda index: compare(keys[index])
        )
    except TypeError as error:
        raise FatalError(f"Field {path} in {of} is an unsortable type: interface, err: {error}", place) from error


def _first(expression: JsonPath, obj: Object) -> Any:
    """What the first part of a template finds: others have no say."""
    return next((value for values in expression.find(obj)[:1] for value in values), None)


def _compare(left: Any, right: Any) -> int:
    """Raises TypeError for what has no order: an int and a float have none either."""
    if kind := _GO_TYPES.get(type(left)):
        raise TypeError(f"unsortable type: {kind}")
    if type(left) is not type(right):
        raise TypeError("unsortable interface: interface")
    if isinstance(left, int | float):
        return int(left > right) - int(left < right)
    ours, theirs = _quantity(left), _quantity(right)
    if ours is not None and theirs is not None:
        return (ours > theirs) - (ours < theirs)
    a, b = _natural(text_of(left)), _natural(text_of(right))
    return (a > b) - (a < b)


def _quantity(value: Any) -> Quantity | None:
    if not isinstance(value, str) or not re.match(r"[0-9.]", value):
        return None
    try:
        return Quantity.parse(value)
    except (ApiError, ValueError):
        return None


def _natural(text: str) -> list[tuple[int, int, str]]:
    return [(1, int(part), "") if part.isdigit() else (2, 0, part) for part in re.findall(r"\d+|\D+", text)]
