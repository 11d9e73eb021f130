"""The schemas by which kubectl merges: those of the newest version that is known here, as kubectl has its own types."""

from __future__ import annotations

from engine.api.schema import Schema, load_definitions
from engine.api.types import GVK


def schema_of(gvk: GVK) -> Schema | None:
    """The schema of a built-in kind; None for others (custom resources), which merge as plain JSON."""
    return load_definitions().kind(gvk)
