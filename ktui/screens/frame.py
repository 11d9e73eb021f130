"""What every main screen shares: the bar above, the names of the screens, the keys below, and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Footer, Static

from ktui.guard import Guarded
from ktui.models.summary import ClusterSummary
from ktui.widgets.cluster_bar import ClusterBar
from ktui.widgets.command_line import CommandLine

if TYPE_CHECKING:
    from ktui.app import KtuiApp

SCREENS = {"flow": "Flow", "objects": "Objects", "store": "Store"}
SMALLEST = (80, 24)
NARROW_BELOW = 110


class FrameScreen(Guarded, Screen[None]):
    """A main screen: subclasses give `mode`, `compose_body` and `focus_body`."""

    mode: ClassVar[str]
    purpose: ClassVar[str] = ""  # for the help

    @property
    def ktui(self) -> KtuiApp:
        from ktui.app import KtuiApp

        assert isinstance(self.app, KtuiApp)
        return self.app

    def compose(self) -> ComposeResult:
        yield ClusterBar(id="bar")
        yield Static(self._tabs(), id="tabs")
        with Container(id="body"):
            yield from self.compose_body()
        yield Static("", id="too-small")
        yield CommandLine(self.ktui.history)
        yield Footer(show_command_palette=False, compact=True)

    def compose_body(self) -> ComposeResult:
        raise NotImplementedError

    def focus_body(self) -> None:
        """Put the focus where it belongs while nothing else is open."""
        raise NotImplementedError

    def _tabs(self) -> Text:
        tabs = [
            Text(f" {number} {title} ", "reverse bold" if mode == self.mode else "")
            for number, (mode, title) in enumerate(SCREENS.items(), start=1)
        ]
        return Text(" ").join(tabs)

    def on_resize(self) -> None:
        width, height = self.app.size
        small = width < SMALLEST[0] or height < SMALLEST[1]
        self.set_class(small, "small")
        if small:
            self.query_one("#too-small", Static).update(
                f"This terminal is {width}×{height}; ktui needs {SMALLEST[0]}×{SMALLEST[1]}.\n"
                "Make it larger, or press q."
            )
        self.set_class(width < NARROW_BELOW, "narrow")
        self.show_summary(self.ktui.summary)

    def on_screen_resume(self) -> None:
        self.show_summary(self.ktui.summary)

    def show_summary(self, summary: ClusterSummary) -> None:
        for bar in self.query(ClusterBar):
            bar.show(summary)

    def open_command_line(self) -> None:
        self.query_one(CommandLine).open()

    def on_command_line_closed(self) -> None:
        self.focus_body()
