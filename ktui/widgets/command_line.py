"""The `:` line: kubectl's words, names of screens and of resources; with history."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

HISTORY = 200
HINT = "get pods -o wide · apply -f samples/web.yaml · scale deploy/web --replicas=5 · deploy · store · Esc"


class CommandLine(Horizontal):
    """Hidden until it is opened; tells what was typed."""

    DEFAULT_CSS = """
    CommandLine { height: 1; background: $panel; display: none; }
    CommandLine.-open { display: block; }
    CommandLine Static { width: 2; text-style: bold; color: $accent; }
    CommandLine Input { width: 1fr; background: $panel; }
    """

    class Entered(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Closed(Message):
        """The focus is free again."""

    def __init__(self, history: list[str]) -> None:
        super().__init__(id="command-line")
        self._history = history
        self._at = len(history)

    def compose(self) -> ComposeResult:
        yield Static(" :")
        yield Input(placeholder=HINT, id="command", compact=True)

    @property
    def _line(self) -> Input:
        return self.query_one("#command", Input)

    def open(self) -> None:
        self._line.value = ""
        self._at = len(self._history)
        self.add_class("-open")
        self._line.focus()

    def _close(self) -> None:
        self.remove_class("-open")
        self.post_message(self.Closed())

    def on_key(self, event: events.Key) -> None:
        match event.key:
            case "escape":
                self._close()
            case "up":
                self._recall(-1)
            case "down":
                self._recall(1)
            case _:
                return
        event.stop()
        event.prevent_default()

    def _recall(self, by: int) -> None:
        """Walk through what was typed before."""
        self._at = max(0, min(len(self._history), self._at + by))
        line = self._line
        line.value = self._history[self._at] if self._at < len(self._history) else ""
        line.cursor_position = len(line.value)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip().removeprefix(":").strip()
        self._close()
        if not text:
            return
        if not self._history or self._history[-1] != text:
            self._history.append(text)
            del self._history[:-HISTORY]
        self.post_message(self.Entered(text))
