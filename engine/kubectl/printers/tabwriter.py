"""Elastic tab stops: a column is as wide as its widest cell among adjacent lines that have it.

Source of the behaviour: Go's text/tabwriter, with spaces for padding and left alignment (kubectl uses no other).
"""

from __future__ import annotations

import re

_OTHER_ENDS = re.compile("[\v\f]")


def escaped(text: str) -> str:
    """What a terminal would obey, written out (cli-runtime pkg/printers/terminal.go)."""
    return text.replace("\x1b", "^[").replace("\r", "\\r")


def width(text: str) -> int:
    """Columns of a terminal that a text takes, as kubectl counts them: one a rune."""
    return len(text)


class TabWriter:
    """Collects text with tabs; `flush` gives it back aligned."""

    def __init__(self, *, minimum: int = 0, padding: int = 2) -> None:
        self._minimum = minimum
        self._padding = padding
        self._parts: list[str] = []

    def write(self, text: str) -> None:
        self._parts.append(text)

    def raw(self) -> str:
        """What was written, tabs and all."""
        return "".join(self._parts)

    def flush(self) -> str:
        text = "".join(self._parts)
        self._parts.clear()
        if not text:
            return ""
        if _OTHER_ENDS.search(text) is None:
            return self._aligned(text)
        # A form feed ends the line and all columns, and becomes a line's end itself; a vertical tab ends a cell.
        return "\n".join(map(self._aligned, text.replace("\v", "\t").split("\f")))

    def _aligned(self, text: str) -> str:
        lines = [line.split("\t") for line in text.split("\n")]
        widths: list[list[int]] = [[0] * (len(cells) - 1) for cells in lines]
        self._measure(lines, widths, 0, len(lines), 0)
        return "\n".join(_join(cells, wide) for cells, wide in zip(lines, widths, strict=True))

    def _measure(self, lines: list[list[str]], widths: list[list[int]], start: int, end: int, column: int) -> None:
        """Find the blocks of adjacent lines that have a cell ended by a tab in this column, and size them."""
        row = start
        while row < end:
            if len(lines[row]) - 1 <= column:
                row += 1
                continue
            stop = row
            while stop < end and len(lines[stop]) - 1 > column:
                stop += 1
            cells = [width(line[column]) for line in lines[row:stop]]
            wide = max(self._minimum, *(size + self._padding for size in cells))
            if not any(cells) and self._minimum == 0:
                wide = self._padding
            for line in widths[row:stop]:
                line[column] = wide
            self._measure(lines, widths, row, stop, column + 1)
            row = stop


def _join(cells: list[str], widths: list[int]) -> str:
    padded = [cell + " " * (wide - width(cell)) for cell, wide in zip(cells, widths, strict=False)]
    return "".join([*padded, cells[-1]])


class ColumnWriter:
    """Rows under one another in columns that only ever grow, so that later rows (of a watch) keep in line."""

    def __init__(self, *, minimum: int = 6, padding: int = 3) -> None:
        self._minimum = minimum
        self._padding = padding
        self._widths: list[int] = []

    def lines(self, rows: list[list[str]]) -> list[str]:
        rows = [[escaped(cell) for cell in row] for row in rows]
        columns = max((len(row) for row in rows), default=0)
        self._widths += [self._minimum] * (columns - 1 - len(self._widths))
        for row in rows:
            for index, cell in enumerate(row[:-1]):
                self._widths[index] = max(self._widths[index], width(cell) + self._padding)
        return [_join(row, self._widths) if row else "" for row in rows]
