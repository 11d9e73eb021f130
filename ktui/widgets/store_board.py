"""The store as a whole beside its keys: commits as bars, comparisons, members, compaction, room."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Static

from ktui.models.store_figures import StoreFigures
from ktui.widgets.ink import inks


class StoreBoard(Static):
    DEFAULT_CSS = """
    StoreBoard {
        height: auto; max-height: 50%; width: 1fr; padding: 0 1; border-top: hkey $panel;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def show(self, figures: StoreFigures) -> None:
        self.update(Text("\n").join(self._lines(figures)))

    def _lines(self, figures: StoreFigures) -> list[Text]:
        """What stands dim behind the words only where there is room for it."""
        colours, width = inks(self.app), max(20, self.content_size.width)
        lines = []
        for line in figures.lines(width):
            text = Text(line.words, colours.get(line.tone, "") if line.tone else "")
            if line.rest and text.cell_len + len(line.rest) + 2 <= width:
                text.append(f"  {line.rest}", "dim")
            lines.append(text)
        return lines
