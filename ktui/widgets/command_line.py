"""The `:` line: kubectl's words, names of screens and of resources; with history."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

HISTORY = 200


class CommandLine(Input):
    """Hidden until it is opened; submits what was typed."""

    DEFAULT_CSS = """
    CommandLine { dock: bottom; height: 1; border: none; padding: 0 1; background: $panel; display: none; }
    CommandLine.-open { display: block; }
    CommandLine:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Back", show=False),
        Binding("up", "recall(-1)", show=False),
        Binding("down", "recall(1)", show=False),
    ]

    class Entered(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, history: list[str]) -> None:
        super().__init__(
            placeholder=":get pods · :apply -f FILE · :deploy · :store · Esc back", id="command", compact=True
        )
        self._history = history
        self._at = len(history)

    def open(self) -> None:
        self.value = ""
        self._at = len(self._history)
        self.add_class("-open")
        self.focus()

    def action_close(self) -> None:
        self.remove_class("-open")
        self.screen.focus_next()

    def action_recall(self, by: int) -> None:
        """Walk through what was typed before."""
        self._at = max(0, min(len(self._history), self._at + by))
        self.value = self._history[self._at] if self._at < len(self._history) else ""
        self.cursor_position = len(self.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = self.value.strip().removeprefix(":").strip()
        self.action_close()
        if not text:
            return
        if not self._history or self._history[-1] != text:
            self._history.append(text)
            del self._history[:-HISTORY]
        self.post_message(self.Entered(text))
