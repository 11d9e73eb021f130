"""JSON objects as they were read: the way to a field, and fields that are there twice.

Source of the behaviour: sigs.k8s.io/json (decode.go), whose strict errors stand in the order of the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from engine.api.types import Object

# The way to a value, innermost last: (the way to its parent, its key or index); () is the object itself.
Path = tuple[Any, ...]


DUPLICATE = "duplicate field"  # how a strict error starts


class DuplicatesDict(dict[str, Any]):
    """A JSON object in which fields came twice, with the last of each; `pairs` are all, in the document's order."""

    pairs: tuple[tuple[str, Any], ...] = ()


def path_text(path: Path) -> str:
    """The way to a field, as strict-decoding errors show it: `spec.containers[0].foo`."""
    text = ""
    for step in path_steps(path):
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def path_steps(path: Path) -> list[str | int]:
    steps: list[str | int] = []
    while path:
        path, step = path
        steps.append(step)
    return steps[::-1]


def read_in_turn(
    value: Object, path: Path, strict: list[str], known: Mapping[str, Any] | None = None, *, every: bool = False
) -> Iterator[tuple[str, Any]]:
    """The fields where the one that counts stands, or `every` one that is there. What is there again is told of where
    it is, but not of fields that are not known, which are no fields at all (sigs.k8s.io/json, decode.go)."""
    if not isinstance(value, DuplicatesDict):
        yield from value.items()
        return
    left, seen = Counter(key for key, _ in value.pairs), set[str]()
    for key, item in value.pairs:
        left[key] -= 1
        if known is not None and key not in known:
            if key not in seen:
                yield key, item
        else:
            if key in seen:
                strict.append(f'{DUPLICATE} "{path_text((path, key))}"')
            if every or not left[key]:
                yield key, item
        seen.add(key)


def duplicates(value: Any, path: Path, strict: list[str]) -> None:
    """What is there twice in a value of any form."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                duplicates(item, (path, index), strict)
    elif isinstance(value, dict):
        for key, item in read_in_turn(value, path, strict):
            if isinstance(item, dict | list):
                duplicates(item, (path, key), strict)


def last_of_each(value: Any) -> Any:
    """A value with each field once, as a map takes it."""
    if isinstance(value, dict):
        return {key: last_of_each(item) for key, item in value.items()}
    return [last_of_each(item) for item in value] if isinstance(value, list) else value


def in_key_order(value: Any) -> Any:
    """A value as Go writes it from maps, each object by its keys."""
    if isinstance(value, dict):
        return {key: in_key_order(value[key]) for key in sorted(value)}
    return [in_key_order(item) for item in value] if isinstance(value, list) else value
