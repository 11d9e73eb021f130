"""Rows that hang below one another, with the lines of the tree before their names: sorted among their siblings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

from ktui.models.grid_row import NO_LABELS, GridRow
from ktui.models.table_view import TableView, sort_key


@dataclass(frozen=True, slots=True)
class Branch:
    """A row with what hangs below it; the first of `cells` is its name, without a line or a sign."""

    key: str
    sign: str
    cells: tuple[str, ...]
    tone: str
    below: Sequence[Branch] = ()
    labels: Mapping[str, str] = field(default_factory=lambda: NO_LABELS)


class Branches(Sequence[GridRow]):
    """All rows, each followed by what hangs below it."""

    def __init__(self, roots: Sequence[Branch]) -> None:
        self._roots = roots
        self._rows = list(_rows(roots))

    def arranged(self, view: TableView, titles: Sequence[str]) -> Sequence[GridRow]:
        """In the order that the view asks for, within each parent, and those alone that its filter takes."""
        rows = self._rows
        if view.sort in titles or view.descending:
            column = titles.index(view.sort) if view.sort in titles else None
            rows = list(_rows(_sorted(self._roots, column, descending=view.descending)))
        return replace(view, sort="", descending=False).shown(titles, rows)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> GridRow: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[GridRow]: ...
    def __getitem__(self, index: int | slice) -> GridRow | Sequence[GridRow]:
        return self._rows[index]


def _sorted(siblings: Iterable[Branch], column: int | None, *, descending: bool) -> list[Branch]:
    """By the cells of a column; where it is None in the order in which they come, or the other way round."""
    found = [replace(each, below=_sorted(each.below, column, descending=descending)) for each in siblings]
    if column is None:
        return found[::-1] if descending else found
    return sorted(found, key=lambda each: sort_key(each.cells[column]), reverse=descending)


def _rows(roots: Iterable[Branch]) -> Iterator[GridRow]:
    for root in roots:
        yield from _branch(root, "", "")


def _branch(branch: Branch, head: str, below: str) -> Iterator[GridRow]:
    """Its row and those below it; `head` and `below` are the lines of the tree before them."""
    name, *rest = branch.cells
    yield GridRow(branch.key, (f"{head}{branch.sign} {name}", *rest), branch.tone, labels=branch.labels)
    for child in branch.below:
        lines = ("└─ ", "   ") if child is branch.below[-1] else ("├─ ", "│  ")
        yield from _branch(child, below + lines[0], below + lines[1])
