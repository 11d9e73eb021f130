"""The names of the main screens below the bar: the one that is shown is marked, a click goes to another."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.widgets import Static

from ktui.guard import Guarded
from ktui.screens.catalogue import Entry


class TabLine(Guarded, Static):
    """`show` draws it; where there is little room names are shorter, and then the last ones are left out."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id)
        self._shown: list[tuple[int, int, str]] = []  # from which column to which, and the screen's name

    def show(self, tabs: Sequence[Entry], mode: str, *, width: int, is_narrow: bool) -> None:
        pad = "" if is_narrow else " "
        words = {
            entry.name: f"{pad}{entry.key} {(entry.short if is_narrow else '') or entry.title}{pad}" for entry in tabs
        }
        while len(words) > 1 and sum(len(word) + 1 for word in words.values()) - 1 > width:
            words.pop(next(name for name in reversed(words) if name != mode))
        self._shown, column = [], 0
        for name, word in words.items():
            self._shown.append((column, column + len(word), name))
            column += len(word) + 1
        drawn = [Text(word, "reverse bold" if name == mode else "") for name, word in words.items()]
        self.update(Text(" ").join(drawn), layout=False)

    async def on_click(self, event: events.Click) -> None:
        for begin, end, name in self._shown:
            if begin <= event.x < end:
                event.stop()
                await self.app.run_action(f"app.show_mode('{name}')")
