"""What a field without a pointer in Go gets."""

from __future__ import annotations

from engine.api.types import Object


def fill(obj: Object, field: str, value: object) -> None:
    """For what has no pointer in Go: nothing, zero and the empty string are the same."""
    if not obj.get(field):
        obj[field] = value
