"""Questions that must be answered before anything else: small modal screens."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Label


class Question(ModalScreen[str]):
    """Asks one thing; each answer has a key, a word and what it returns. Escape returns ""."""

    DEFAULT_CSS = """
    Question { align: center middle; }
    Question > Vertical {
        width: auto; max-width: 76; height: auto; padding: 1 2; background: $surface; border: round $primary;
    }
    Question Label { width: auto; max-width: 70; margin-bottom: 1; }
    Question Horizontal { width: auto; height: auto; }
    Question Button { margin-right: 2; min-width: 10; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "answer('')", "Back"),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    def __init__(self, text: str, answers: dict[str, str], *, focus: str = "") -> None:
        """`answers` maps a key to its word, such as `{"y": "Yes", "n": "No"}`; the answer is the key. Enter gives
        `focus`, the first by default."""
        super().__init__()
        self._text = text
        self._answers = answers
        self._focus = focus or next(iter(answers))

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Label(self._text, markup=False)
            with Horizontal():
                for key, word in self._answers.items():
                    yield Button(f"{key}  {word}", id=f"answer-{key}", compact=True)

    def on_mount(self) -> None:
        self.query_one(f"#answer-{self._focus}").focus()

    def on_key(self, event: events.Key) -> None:
        if event.key in self._answers:
            event.stop()
            self.dismiss(event.key)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss((event.button.id or "").removeprefix("answer-"))

    def action_answer(self, answer: str) -> None:
        self.dismiss(answer)
