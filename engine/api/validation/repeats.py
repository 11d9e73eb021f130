"""Elements of lists that are there before."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def repeated(values: Iterable[Hashable]) -> set[int]:
    """The places of those that an earlier one equals."""
    seen: set[Hashable] = set()
    found = set()
    for index, value in enumerate(values):
        if value in seen:
            found.add(index)
        seen.add(value)
    return found
