"""A row of a table on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

NO_LABELS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class GridRow:
    """`key` is what the row stands for, over changes of its cells; `tone` a theme variable for the whole row."""

    key: str
    cells: tuple[str, ...]
    tone: str = "foreground"
    is_lit: bool = False  # it changed a moment ago
    labels: Mapping[str, str] = field(default_factory=lambda: NO_LABELS)  # of its object: what `-l` asks
    is_marked: bool = False  # chosen, with others, for what is to be done next
