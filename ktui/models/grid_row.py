"""A row of a table on the screen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GridRow:
    """`key` is what the row stands for, over changes of its cells; `tone` a theme variable for the whole row."""

    key: str
    cells: tuple[str, ...]
    tone: str = "foreground"
    is_lit: bool = False  # it changed a moment ago
