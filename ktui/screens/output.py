"""What a command printed: a pane at the bottom, filled while the command runs.

It is no higher than what it holds, and at most half of the screen: what the command sets off is seen above it.
"""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable
from typing import ClassVar, TextIO

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import RichLog

from ktui.guard import Guarded
from ktui.screens.catalogue import CATALOGUE
from ktui.widgets.ink import inks
from ktui.widgets.key_line import KeyLine

LINES_KEPT = 10_000
BESIDE_LINES = 4  # border, footer, and the bar below lines that are too long
FOLLOWING = frozenset({"-w", "--watch", "--watch=true", "--follow"})
Command = Callable[[TextIO, TextIO], Awaitable[int]]  # stdout, stderr → exit code


class _Lines(io.StringIO):
    """A stream into the pane, line by line."""

    def __init__(self, pane: RichLog, style: str, grow: Callable[[int], None]) -> None:
        super().__init__()
        self._pane = pane
        self._grow = grow
        self._style = style
        self._rest = ""

    def write(self, text: str, /) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._pane.write(Text(line.expandtabs(), self._style, no_wrap=True))
        self._grow(len(lines))
        return len(text)

    def finish(self) -> None:
        if self._rest:
            self.write("\n")


class Output(Guarded, ModalScreen[int]):
    """Runs a command and shows what it prints; Escape leaves, and ends a command that still runs."""

    DEFAULT_CSS = """
    Output { align: center bottom; }
    Output > Vertical { height: 6; max-height: 50%; border: round $primary; background: $surface; }
    Output RichLog { height: 1fr; padding: 0 1; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close"),
        *(
            Binding(entry.key, f"go('{entry.name}')", f"{entry.title} screen", show=False, id=f"screen.{entry.name}")
            for entry in CATALOGUE
        ),
    ]

    def __init__(self, title: str, command: Command) -> None:
        super().__init__()
        self._title = title
        self._command = command
        self._height = BESIDE_LINES

    @property
    def _goes_on(self) -> bool:
        """Whether the end is what one looks at: a watch, a followed log."""
        words = self._title.split()
        return bool(FOLLOWING & set(words)) or words[:1] in (["logs"], ["rollout"], ["wait"])

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = f":{self._title}"
            yield RichLog(id="lines", max_lines=LINES_KEPT, wrap=False, auto_scroll=self._goes_on)
            yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(RichLog).focus()
        self.run_command()

    @work(exclusive=True, exit_on_error=False)
    async def run_command(self) -> None:
        pane = self.query_one(RichLog)
        box = self.query_one(Vertical)
        box.border_subtitle = "◐ running · Esc ends it"
        out = _Lines(pane, "", self._grow)
        err = _Lines(pane, inks(self.app).get("error", ""), self._grow)
        try:
            code = await self._command(out, err)
        except Exception as error:
            err.write(f"{type(error).__name__}: {error}\n")
            code = 1
        out.finish()
        err.finish()
        box.border_subtitle = "✓ done" if code == 0 else f"✖ exit code {code}"

    def _grow(self, lines: int) -> None:
        self._height += lines
        self.query_one(Vertical).styles.height = self._height

    def action_leave(self) -> None:
        self.workers.cancel_node(self)
        self.dismiss(0)

    async def action_go(self, mode: str) -> None:
        """Leave for another screen."""
        self.action_leave()
        await self.app.run_action(f"app.show_mode('{mode}')")
