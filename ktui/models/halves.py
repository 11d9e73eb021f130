"""How two screens share a terminal."""

from __future__ import annotations

from enum import Enum, auto

BESIDE_FROM = 160  # columns: two of the narrowest terminals that a screen is made for
STACKED_FROM = 40  # rows: as much as two screens need to show a table and a detail each
REFUSED = (
    "two screens need {columns} columns to stand side by side, or {rows} rows to stand one above the other; "
    "this terminal is {width}×{height}"
)


class Layout(Enum):
    BESIDE = auto()
    STACKED = auto()
    ALONE = auto()  # there is room for one


def layout_for(width: int, height: int) -> Layout:
    if width >= BESIDE_FROM:
        return Layout.BESIDE
    return Layout.STACKED if height >= STACKED_FROM else Layout.ALONE


def refusal(width: int, height: int) -> str:
    """Why two screens cannot be shown; "" where they can."""
    if layout_for(width, height) is not Layout.ALONE:
        return ""
    return REFUSED.format(columns=BESIDE_FROM, rows=STACKED_FROM, width=width, height=height)
