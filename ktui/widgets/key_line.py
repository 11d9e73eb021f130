"""The bottom line: the keys of what has the focus, in one widget.

Textual's own Footer is a widget for each key, made anew whenever the focus moves: that took longer than all else when a
screen comes up. This one is a line of text; a click on a word does what its key does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text
from textual import events
from textual.dom import DOMNode
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, TextArea

from ktui.guard import Guarded, drawn
from ktui.widgets.ink import inks

GAP = "  "
NOT_KNOWN = frozenset({"slash", "plus", "minus"})  # characters: Textual knows of all others that a text takes them
ALWAYS = ("command", "keys", "leave")  # at the end of the line, however short it is


@dataclass(frozen=True, slots=True)
class Key:
    key: str
    word: str
    action: str
    node: DOMNode

    @property
    def width(self) -> int:
        return len(self.key) + len(self.word) + 1


class KeyLine(Guarded, Widget):
    DEFAULT_CSS = """
    KeyLine { height: 1; dock: bottom; background: $surface; color: $foreground; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._shown: list[tuple[int, Key]] = []  # the column where each begins

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._again)

    def on_unmount(self) -> None:
        self.screen.bindings_updated_signal.unsubscribe(self)

    def _again(self, _: Screen[object]) -> None:
        self.refresh()

    def _keys(self) -> Iterator[Key]:
        seen = set()
        taken = NOT_KNOWN if isinstance(self.screen.focused, Input | TextArea) else frozenset()
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.key in taken:
                continue
            if binding.show and active.enabled and binding.action not in seen:
                seen.add(binding.action)
                yield Key(self.app.get_key_display(binding), binding.description, binding.action, active.node)

    def render_lines(self, crop: Region) -> list[Strip]:
        return drawn(self, crop, super().render_lines)

    def render(self) -> Text:
        keys = list(self._keys())
        last = [key for key in keys if key.action in ALWAYS]
        room = self.size.width - 1 - sum(key.width + len(GAP) for key in last)
        self._shown = []
        column = 1
        for key in [*_fitting([key for key in keys if key.action not in ALWAYS], room), *last]:
            self._shown.append((column, key))
            column += key.width + len(GAP)
        accent = f"bold {inks(self.app).get('accent', '')}"
        words = [Text.assemble((key.key, accent), " ", key.word) for _, key in self._shown]
        return Text.assemble(" ", Text(GAP).join(words), no_wrap=True)

    async def on_click(self, event: events.Click) -> None:
        for column, key in self._shown:
            if column <= event.x < column + key.width:
                event.stop()
                await self.app.run_action(key.action, key.node)


def _fitting(keys: list[Key], room: int) -> Iterator[Key]:
    for key in keys:
        room -= key.width + len(GAP)
        if room < 0:
            return
        yield key
