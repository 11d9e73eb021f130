"""What a command printed: a pane over the lower half, filled while the command runs."""

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
from textual.widgets import Footer, RichLog

Command = Callable[[TextIO, TextIO], Awaitable[int]]  # stdout, stderr → exit code


class _Lines(io.StringIO):
    """A stream into the pane, line by line."""

    def __init__(self, pane: RichLog, style: str) -> None:
        super().__init__()
        self._pane = pane
        self._style = style
        self._rest = ""

    def write(self, text: str, /) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._pane.write(Text(line.expandtabs(), self._style, no_wrap=True))
        return len(text)

    def finish(self) -> None:
        if self._rest:
            self.write("\n")


class Output(ModalScreen[int]):
    """Runs a command and shows what it prints; Escape leaves, and ends a command that still runs."""

    DEFAULT_CSS = """
    Output { align: center bottom; }
    Output > Vertical { height: 50%; border: round $primary; background: $surface; }
    Output RichLog { height: 1fr; padding: 0 1; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", "Close")]

    def __init__(self, title: str, command: Command) -> None:
        super().__init__()
        self._title = title
        self._command = command

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = f":{self._title}"
            yield RichLog(id="lines", max_lines=10_000, wrap=False, auto_scroll=True)
            yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(RichLog).focus()
        self.run_command()

    @work(exclusive=True, exit_on_error=False)
    async def run_command(self) -> None:
        pane = self.query_one(RichLog)
        out, err = _Lines(pane, ""), _Lines(pane, "red")
        code = await self._command(out, err)
        out.finish()
        err.finish()
        self.query_one(Vertical).border_subtitle = "done ✓" if code == 0 else f"exit code {code} ✖"

    def action_leave(self) -> None:
        self.workers.cancel_node(self)
        self.dismiss(0)
