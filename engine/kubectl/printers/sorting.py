"""`--sort-by`: by a JSONPath, as kubectl compares values.

Source of the behaviour: kubectl pkg/cmd/get/sorter.go (natural order of text, quantities by size, missing ones first).
"""

from __future__ import annotations

import re
from functools import cmp_to_key
from typing import Any

from engine.api.errors import ApiError
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.kubectl.errors import CommandError
from engine.kubectl.printers.jsonpath import JsonPath, relaxed, text_of


def sort_objects(objects: list[Object], path: str) -> list[int]:
    """The order of the objects, as indices. Raises CommandError if no object has the field."""
    expression = JsonPath(relaxed(path))
    keys = [_first(expression, obj) for obj in objects]
    if objects and all(key is None for key in keys):
        raise CommandError(f'couldn\'t find any field with path "{relaxed(path)}" in the list of objects')
    compare = cmp_to_key(_compare)
    return sorted(range(len(objects)), key=lambda index: compare(keys[index]))


def sort_rows(rows: list[Object], path: str) -> list[Object]:
    """Table rows sorted by a field of their objects."""
    order = sort_objects([row.get("object") or {} for row in rows], path)
    return [rows[index] for index in order]


def _first(expression: JsonPath, obj: Object) -> Any:
    return next((value for values in expression.find(obj) for value in values), None)


def _compare(left: Any, right: Any) -> int:
    if left is None or right is None:
        return (left is not None) - (right is not None)
    if isinstance(left, int | float) and isinstance(right, int | float):
        return (left > right) - (left < right)
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
