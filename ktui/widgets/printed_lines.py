"""What a command printed, line by line: any number of lines, of which only the visible ones are drawn.

Textual's log lays each line out as it is written, seen or not: five thousand lines kept the screen for seconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from ktui.models.printed import PrintedLine
from ktui.widgets.ink import inks
from ktui.widgets.scrolled import SCROLL_KEYS
from ktui.widgets.self_drawn import SelfDrawn

TONES = {"err": "error", "in": "accent"}  # by the line's stream
MARGIN = 1  # cell on the left
DRAWN_KEPT = 1_000  # lines
_STEERING = re.compile(r"\x1b\[[0-9;:]*[A-Za-z]")


class PrintedLines(SelfDrawn, can_focus=True):
    """`follows` is whether it stays at the end as lines come; who scrolls up stays where he is, until End."""

    DEFAULT_CSS = """
    PrintedLines { height: 1fr; width: 1fr; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = SCROLL_KEYS

    class FollowChanged(Message):
        """It stays at the end from now on, or no longer."""

    def __init__(self, *, follows: bool, id: str | None = None) -> None:
        super().__init__(id=id)
        self.follows = follows
        self._goes_on = follows
        self._lines_shown: Sequence[PrintedLine] = ()
        self._widest = 0
        self._drawn: dict[PrintedLine, Strip] = {}

    # -- lines in

    def show(
        self, lines: Sequence[PrintedLine], *, fresh: Sequence[PrintedLine] | None = None, dropped: int = 0
    ) -> None:
        """Of `lines` those in `fresh` have come since (None: all are others); `dropped` have gone before them."""
        self._lines_shown = lines
        if fresh is None:
            fresh, self._widest = lines, 0
        self._widest = max(self._widest, max(map(_width, fresh), default=0))
        self._measure()
        if self.follows:
            self._to_end()
        elif dropped:
            self.scroll_to(y=self.scroll_offset.y - dropped, animate=False)
        self.refresh()

    def _measure(self) -> None:
        self.reach(Size(self._widest + 2 * MARGIN, len(self._lines_shown)))

    def _to_end(self) -> None:
        self.scroll_to(y=self.max_scroll_y, animate=False)

    # -- where one is

    def follow(self, follows: bool) -> None:
        if follows != self.follows:
            self.follows = follows
            self.post_message(self.FollowChanged())
        if follows:
            self._to_end()

    def on_resize(self) -> None:
        """Who looks at the end still does in a lower place."""
        self._measure()
        if self.follows:
            self._to_end()

    def _stay(self) -> None:
        if self.max_scroll_y:
            self.follow(False)

    def action_scroll_up(self) -> None:
        self._stay()
        super().action_scroll_up()

    def action_page_up(self) -> None:
        self._stay()
        super().action_page_up()

    def action_scroll_home(self) -> None:
        self._stay()
        super().action_scroll_home()

    def action_scroll_end(self) -> None:
        if self._goes_on:
            self.follow(True)
        super().action_scroll_end()

    def on_mouse_scroll_up(self, _: events.MouseScrollUp) -> None:
        self._stay()

    # -- drawing

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._drawn.clear()

    def render_line(self, y: int) -> Strip:
        (left, top), width = self.scroll_offset, self.scrollable_content_region.width
        if top + y >= len(self._lines_shown):
            return Strip.blank(width, self.rich_style)
        return self._strip(self._lines_shown[top + y]).crop_extend(left, left + width, self.rich_style)

    def _strip(self, line: PrintedLine) -> Strip:
        strip = self._drawn.get(line)
        if strip is None:
            if len(self._drawn) >= DRAWN_KEPT:
                self._drawn.clear()
            tone = TONES.get(line.stream, "")
            text = _text(line.text, inks(self.app).get(tone, "") if tone else "")
            segments = [Segment(" " * MARGIN), *text.render(self.app.console)]
            strip = self._drawn[line] = Strip(segments).apply_style(self.rich_style)
        return strip


def _text(words: str, style: str) -> Text:
    """With the colours that a log has; what else would steer a terminal is left out."""
    return Text(words, style, end="") if words.isprintable() else Text.from_ansi(words, style=style, end="")


def _width(line: PrintedLine) -> int:
    text = line.text
    if text.isascii() and text.isprintable():
        return len(text)
    return cell_len(_STEERING.sub("", text))
