"""Rows as a person wants to see them: filtered and sorted, by the rules that all tables share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ktui.models.ages import seconds
from ktui.models.grid_row import GridRow
from ktui.models.row_filter import RowFilter

_SIZES = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "K": 2**10, "M": 2**20, "G": 2**30, "ms": 1e-3}
_SIZED = re.compile(r"(-?\d+(?:\.\d+)?) ?(Ki|Mi|Gi|Ti|K|M|G|ms|%|×)~?")


@dataclass(slots=True)
class TableView:
    """`sort` is the title of a column, "" for the order in which the rows come."""

    text: str = ""
    sort: str = ""
    descending: bool = False

    def filter(self, titles: Sequence[str]) -> RowFilter:
        return RowFilter.parse(self.text, titles)

    def shown(self, titles: Sequence[str], rows: Sequence[GridRow]) -> Sequence[GridRow]:
        if self.text:
            wanted = self.filter(titles)
            rows = [row for row in rows if wanted.takes(row)]
        if self.sort in titles:
            column = titles.index(self.sort)
            rows = sorted(rows, key=lambda row: sort_key(_cell(row, column)), reverse=self.descending)
        elif self.descending:
            rows = rows[::-1]
        return rows

    def heads(self, titles: Sequence[str]) -> tuple[str, ...]:
        """The titles; that of the sorted column with an arrow."""
        arrow = "↓" if self.descending else "↑"
        return tuple(f"{title}{arrow}" if title == self.sort else title for title in titles)

    def sort_by_next(self, titles: Sequence[str]) -> None:
        """By the next column; after the last in the order in which the rows come."""
        names = ("", *titles)
        at = names.index(self.sort) if self.sort in names else 0
        self.sort = names[(at + 1) % len(names)]


def _cell(row: GridRow, column: int) -> str:
    return row.cells[column] if column < len(row.cells) else ""


def sort_key(cell: str) -> tuple[int, float, str]:
    """Numbers by size, also with a unit or something in brackets; ages by length; all else by letter."""
    if (age := seconds(cell)) is not None:
        return 0, float(age), ""
    if (sized := _SIZED.fullmatch(cell)) is not None:
        return 0, float(sized[1]) * _SIZES.get(sized[2], 1), cell
    try:
        return 0, float(cell.partition(" (")[0].partition("/")[0].replace(",", "")), cell
    except ValueError:
        return 1, 0.0, cell
