"""The bottom line: the keys of what has the focus, in one widget.

Textual's own Footer is a widget for each key, made anew whenever the focus moves: that took longer than all else when a
screen comes up. This one draws a line; a click on a word does what its key does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.dom import DOMNode
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, TextArea

from ktui.guard import Guarded, drawn
from ktui.line_filter import filtered
from ktui.widgets.ink import inks, style
from ktui.widgets.line import Line

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
        for node, binding in self._active():
            if binding.key not in taken and binding.action not in seen:
                seen.add(binding.action)
                yield Key(self.app.get_key_display(binding), binding.description, binding.action, node)

    def _active(self) -> Iterator[tuple[DOMNode, Binding]]:
        """What Textual's `active_bindings` says of the keys that are shown anywhere: nine in ten are not, and whether
        each of those would do something was half of this line's time."""
        chain = self.screen._modal_binding_chain
        shown = {key for _, bindings in chain for key, binding in bindings if binding.show}
        found: dict[str, tuple[DOMNode, Binding, bool | None]] = {}
        for node, bindings in chain:
            for key, binding in bindings:
                if key not in shown or (key in found and (found[key][1].priority or not binding.priority)):
                    continue
                state = self.app._check_action_state(binding.action, node)
                if state is not False:
                    found[key] = (node, binding, state)
        return ((node, binding) for node, binding, state in found.values() if binding.show and state)

    def render_lines(self, crop: Region) -> list[Strip]:
        return drawn(self, crop, self._lines)

    def _lines(self, crop: Region) -> list[Strip]:
        (strip,) = filtered(self, [self._line().strip(self._style("foreground"))])
        return [strip.crop(crop.x, crop.right)] * crop.height

    def _line(self) -> Line:
        keys = list(self._keys())
        last = [key for key in keys if key.action in ALWAYS]
        room = self.size.width - 1 - sum(key.width + len(GAP) for key in last)
        line, self._shown = Line(self.size.width), []
        column = 1
        for key in [*_fitting([key for key in keys if key.action not in ALWAYS], room), *last]:
            self._shown.append((column, key))
            line.put(column, key.key, self._style("accent", bold=True))
            line.put(column + len(key.key) + 1, key.word, None)
            column += key.width + len(GAP)
        return line

    def _style(self, variable: str, *, bold: bool = False) -> Style:
        colours = inks(self.app)
        return style(colours.get(variable, "default"), colours.get("surface", "default"), bold)

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
