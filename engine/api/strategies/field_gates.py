"""Feature gates as the API server sees them: which fields of an object they are about, and where those are.

The tables of the kinds (disabled_fields.py for Pods and volumes, device_gates.py for devices, kind_gates.py for others)
are made of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from engine.api.types import Object

# A field as the object that holds it and its name there.
Place = tuple[Object, str]
Places = Callable[[Object], Iterable[Place]]
NEVER = (99, 0)


class Gate(NamedTuple):
    since: tuple[int, int]  # the first release that has it on by default
    names: frozenset[str]  # where no object has a field of these names, there is nothing to drop
    places: Places


def gate(since: tuple[int, int], places: Places, *names: str) -> Gate:
    return Gate(since, frozenset(names), places)


def named(holders: Iterable[Object | None], *fields: str) -> Iterator[Place]:
    for holder in holders:
        if holder:
            yield from ((holder, field) for field in fields if field in holder)
