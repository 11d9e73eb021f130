"""A line of cells under construction, for widgets that draw themselves line by line."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size, split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ktui.visible import visible


class Line:
    """`width` cells; later puts cover earlier ones. Wide characters take the two cells that they show in."""

    def __init__(self, width: int) -> None:
        self._cells: list[tuple[str, Style | None]] = [(" ", None)] * width

    def put(self, column: int, text: str, style: Style | None, *, until: int | None = None) -> None:
        """Write `text` from a column on; what does not fit before `until` ends in an ellipsis."""
        limit = len(self._cells) if until is None else min(len(self._cells), until)
        room = limit - column
        if room <= 0 or column < 0:
            return
        for offset, cell in enumerate(_cells(fit(visible(text), room))):
            self._cells[column + offset] = (cell, style)

    def strip(self, ground: Style) -> Strip:
        segments: list[Segment] = []
        run, run_style = "", None
        for character, style in self._cells:
            if style is not run_style and run:
                segments.append(Segment(run, run_style or ground))
                run = ""
            run, run_style = run + character, style
        segments.append(Segment(run, run_style or ground))
        return Strip(segments, len(self._cells))


def _cells(text: str) -> list[str]:
    """The text cell by cell: what is wide and then an empty cell, combining characters with their base."""
    if text.isascii():
        return list(text)
    cells: list[str] = []
    for start, end, width in split_graphemes(text)[0]:
        if width:
            cells += [text[start:end], *[""] * (width - 1)]
    return cells


def fit(text: str, width: int) -> str:
    """The text in at most `width` cells, its end replaced by an ellipsis where it is longer."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip(" …") + "…" if width > 1 else "…"[:width]


def fit_middle(text: str, width: int) -> str:
    """The text in at most `width` cells; a long one loses its middle, since names differ at their ends."""
    if cell_len(text) <= width or width < 5:
        return fit(text, width)
    head = (width - 1) // 2
    if text.isascii():
        return text[:head] + "…" + text[-(width - 1 - head) :]
    spans, whole = split_graphemes(text)
    return _until(text, spans, head) + "…" + _from(text, spans, whole - (width - 1 - head))


def _until(text: str, spans: list[tuple[int, int, int]], cells: int) -> str:
    """The beginning of a text, at most so many cells of it."""
    taken, at = 0, 0
    for _, end, width in spans:
        taken += width
        if taken > cells:
            break
        at = end
    return text[:at]


def _from(text: str, spans: list[tuple[int, int, int]], cells: int) -> str:
    """The end of a text, without the first so many cells."""
    left = 0
    for start, _, width in spans:
        if left >= cells:
            return text[start:]
        left += width
    return ""
