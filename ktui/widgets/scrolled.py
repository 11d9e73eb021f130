"""Text that is longer than its place, under vi's keys: j and k by lines, ^F and ^B by pages, g and G to its ends."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

SCROLL_KEYS: list[BindingType] = [
    Binding("up,k", "scroll_up", "Up", show=False),
    Binding("down,j", "scroll_down", "Down", show=False),
    Binding("pageup,ctrl+b", "page_up", "Page up", show=False),
    Binding("pagedown,ctrl+f", "page_down", "Page down", show=False),
    Binding("home,g", "scroll_home", "Top", show=False),
    Binding("end,G", "scroll_end", "End", show=False),
]


class Scrolled(VerticalScroll):
    BINDINGS: ClassVar[list[BindingType]] = SCROLL_KEYS
