"""Ten thousand rows that change all the time, filtered and sorted as they come.

A table that is made anew for each frame costs its length twenty times a second. Here a row finds its place when it
changes, and only what is on the screen is looked at to draw it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload
from unicodedata import east_asian_width

from sortedcontainers import SortedList

from ktui.models.grid_row import GridRow
from ktui.models.row_filter import RowFilter
from ktui.models.table_view import TableView, sort_key

Place = tuple[Any, str]  # what it is sorted by, and its key


class LiveRows(Sequence[GridRow]):
    """What is shown, in its order; `finish` does what has to be done to a row when it is looked at, such as its age.

    `value` is what a row is sorted by in a column, where its cell does not say it.
    """

    def __init__(
        self,
        *,
        finish: Callable[[GridRow], GridRow] = lambda row: row,
        value: Callable[[GridRow, int], Any] = lambda row, column: sort_key(row.cells[column]),
    ) -> None:
        self.widths: list[int] = []  # of the widest cells that were seen
        self.at_least: dict[int, int] = {}  # of columns whose cells are finished later
        self._finish = finish
        self._value = value
        self._all: dict[str, GridRow] = {}
        self._places: dict[str, Place] = {}
        self._order: Any = SortedList()
        self._filter = RowFilter()
        self._column = -1
        self._descending = False
        self._arranged: tuple[Any, ...] = ()

    # -- rows in

    def put(self, row: GridRow) -> None:
        self._all[row.key] = row
        self._widen(row)
        place = self._place(row) if self._filter.takes(row) else None
        old = self._places.get(row.key)
        if place == old:
            return
        if old is not None:
            self._order.remove(old)
            del self._places[row.key]
        if place is not None:
            self._places[row.key] = place
            self._order.add(place)

    def drop(self, key: str) -> None:
        self._all.pop(key, None)
        if (place := self._places.pop(key, None)) is not None:
            self._order.remove(place)

    def clear(self) -> None:
        self._all, self._places, self._order, self.widths = {}, {}, SortedList(), []

    def reserve(self, column: int, width: int) -> None:
        """Room for what the cells of a column are going to be when they are finished."""
        if column < len(self.widths):
            self.widths[column] = max(self.widths[column], width)

    def _widen(self, row: GridRow) -> None:
        widths = self.widths
        if len(widths) < len(row.cells):
            widths.extend(self.at_least.get(index, 0) for index in range(len(widths), len(row.cells)))
        for index, cell in enumerate(row.cells):
            if (width := _width(cell)) > widths[index]:
                widths[index] = width

    # -- the arrangement

    def arrange(self, view: TableView, titles: Sequence[str]) -> None:
        """Filter and sort as `view` says; nothing to do where it says what it said."""
        wanted = (view.text, view.sort, view.descending, tuple(titles))
        if wanted == self._arranged:
            return
        self._arranged = wanted
        self._filter = view.filter(titles)
        self._column = list(titles).index(view.sort) if view.sort in titles else -1
        self._descending = view.descending
        takes = self._filter.takes
        self._places = {key: self._place(row) for key, row in self._all.items() if takes(row)}
        self._order = SortedList(self._places.values())

    def _place(self, row: GridRow) -> Place:
        return (self._value(row, self._column) if 0 <= self._column < len(row.cells) else 0), row.key

    # -- what is shown

    @property
    def total(self) -> int:
        """How many rows there are, shown or not."""
        return len(self._all)

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> GridRow: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[GridRow]: ...
    def __getitem__(self, index: int | slice) -> GridRow | Sequence[GridRow]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._finish(self._all[self._order[~index if self._descending else index][1]])

    def __iter__(self) -> Iterator[GridRow]:
        places = reversed(self._order) if self._descending else self._order
        return (self._finish(self._all[key]) for _, key in places)

    def key_at(self, index: int) -> str:
        key: str = self._order[~index if self._descending else index][1]
        return key

    def index_of(self, key: str) -> int | None:
        """Where the row of a key is; None where it is not shown."""
        place = self._places.get(key)
        if place is None:
            return None
        index: int = self._order.index(place)
        return len(self) - 1 - index if self._descending else index


def _width(text: str) -> int:
    """In cells of a terminal, at most: what combines with the letter before it has none of its own."""
    return len(text) if text.isascii() else sum(1 + (east_asian_width(letter) in "WF") for letter in text)
