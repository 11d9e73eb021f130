"""Talking to a container: what it prints, and a line that goes to its input. The container is a simulated one, and the
pane says so.

The input of the command is a pipe, as it would be behind `kubectl exec -i`: nothing reads the terminal besides the app.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import ClassVar, TextIO

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from ktui.models.printed import PrintedLine
from ktui.screens.output import Output
from ktui.widgets.key_line import KeyLine
from ktui.widgets.printed_lines import PrintedLines

Talk = Callable[[TextIO, TextIO, TextIO], Awaitable[int]]  # stdin, stdout, stderr → exit code
LOWEST = 12


class Shell(Output):
    """A line at a time; ↑ and ↓ bring back what was typed, Ctrl+D ends the input, Escape the session."""

    DEFAULT_CSS = """
    Shell > Vertical { max-height: 70%; }
    Shell Horizontal { height: 1; background: $panel; }
    Shell Horizontal Static { width: 3; color: $accent; text-style: bold; padding: 0 0 0 1; }
    Shell #shell-line { width: 1fr; border: none; height: 1; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "End"),
        Binding("ctrl+d", "end_input", "End of input", priority=True),
    ]

    def __init__(self, title: str, talk: Talk) -> None:
        reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        self._reading = os.fdopen(reading)
        self._typed: list[str] = []
        self._at = 0
        super().__init__(title, self._talking(talk))
        self._beside = LOWEST
        self._state = "◐ simulated container · Esc ends it"

    def _talking(self, talk: Talk) -> Callable[[TextIO, TextIO], Awaitable[int]]:
        async def command(stdout: TextIO, stderr: TextIO) -> int:
            return await talk(self._reading, stdout, stderr)

        return command

    @property
    def goes_on(self) -> bool:
        return True

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = f":{self._title}"
            yield PrintedLines(id="lines", follows=True)
            yield Input(id="output-filter", compact=True)
            with Horizontal():
                yield Static("$")
                yield Input(placeholder="ls /   env   cat /etc/hostname   exit", id="shell-line", compact=True)
            yield KeyLine()

    def focus_body(self) -> None:
        self.line.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is typed goes to the container, not to the keys of an output; after its end there is no input to end."""
        if action == "end_input":
            return not self._is_over
        is_typing = self.is_mounted and self.line.has_focus
        return not (is_typing and action in ("filter", "follow", "copy", "go"))

    @property
    def line(self) -> Input:
        return self.query_one("#shell-line", Input)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input is not self.line:
            super().on_input_submitted(event)
            return
        text = event.value
        event.input.value = ""
        self.take([PrintedLine(f"$ {text}", "in")])
        if text:
            self._typed.append(text)
        self._at = len(self._typed)
        self._send(f"{text}\n".encode())

    def _send(self, data: bytes) -> None:
        try:
            os.write(self._writing, data)
        except (BlockingIOError, OSError) as error:
            self.notify(f"the container does not read: {error}", severity="warning", markup=False)

    def on_key(self, event: events.Key) -> None:
        """Walk through what was typed before."""
        if event.key not in ("up", "down") or not self.line.has_focus:
            return
        event.stop()
        self._at = max(0, min(len(self._typed), self._at + (-1 if event.key == "up" else 1)))
        self.line.value = self._typed[self._at] if self._at < len(self._typed) else ""
        self.line.cursor_position = len(self.line.value)

    def action_end_input(self) -> None:
        """As Ctrl+D at a prompt: a shell exits."""
        if self._writing >= 0:
            os.close(self._writing)
            self._writing = -1

    def ended(self) -> None:
        """Nothing reads what would be typed."""
        self.query_one(Horizontal).display = False
        self.line.disabled = True
        self.lines.focus()

    def on_unmount(self) -> None:
        self.action_end_input()
        self._reading.close()
