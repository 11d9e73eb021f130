"""Where the elements of a list are, by the values of their merge key: upstream goes through the list for each element
of a patch (strategicpatch, findMapInSliceBasedOnKeyValue), which in lists of thousands is what a patch costs."""

from __future__ import annotations

from typing import Any

from engine.api.types import Object


def _key(item: Object, merge_key: str) -> Any:
    """None where there is none, and for what is no key: a map or list."""
    value = item.get(merge_key)
    return None if isinstance(value, dict | list) else value


def first_places(items: list[Object], merge_key: str) -> dict[Any, int]:
    """The first place of each value."""
    places: dict[Any, int] = {}
    for index, item in enumerate(items):
        if merge_key in item and not isinstance(item[merge_key], dict | list):
            places.setdefault(item[merge_key], index)
    return places


def without(items: list[Object], merge_key: str, gone: list[Any]) -> list[Object]:
    """The elements that have none of these values; one that has no key has the value None."""
    if not gone:
        return items
    keys = {value for value in gone if not isinstance(value, dict | list)}
    others = [value for value in gone if isinstance(value, dict | list)]

    def stays(item: Object) -> bool:
        value = item.get(merge_key)
        return value not in others if isinstance(value, dict | list) else value not in keys

    return [item for item in items if stays(item)]


def slots(present: list[Object], changes: list[Object], merge_key: str, directive: str) -> list[Object]:
    """The order that the server's list counts as having had when $setElementOrder is applied.

    Upstream merges in place, so that deletions move elements up in the old list and additions take the slots that
    become free; with them a new element comes where that leaves it. A free slot has what was last before that deletion.
    """
    places: dict[Any, list[int]] = {}
    for index, item in enumerate(present):
        if merge_key in item and not isinstance(item[merge_key], dict | list):
            places.setdefault(item[merge_key], []).append(index)
    gone: set[int] = set()
    free: list[Object] = []
    last = len(present) - 1
    for change in changes:
        if change.get(directive) != "delete":
            continue
        for index in places.pop(_key(change, merge_key), ()):
            while last in gone:
                last -= 1
            free.append(present[last])
            gone.add(index)
    kept = [item for index, item in enumerate(present) if index not in gone]
    free.reverse()
    for change in changes:
        if not free:
            break
        value = _key(change, merge_key)
        if directive not in change and value not in places:
            places[value] = []
            kept.append(change)
            free.pop(0)
    return [*kept, *free]
