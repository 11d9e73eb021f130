"""When something was made that was never stored, as Go writes metadata: null until 1.33, left out since (omitzero)."""

from __future__ import annotations

from engine.api.types import Object


def with_unset_creation(metadata: Object, version: str) -> Object:
    """The metadata as a server of `1.37`, or `1.37.0`, writes them."""
    major, minor = version.split(".")[:2]
    return metadata if (int(major), int(minor)) >= (1, 34) else {**metadata, "creationTimestamp": None}
