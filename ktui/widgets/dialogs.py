"""Questions that must be answered before anything else: small modal screens."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, OptionList
from textual.widgets.option_list import Option

LEAVING = "Enter takes it · Esc leaves"


class Question(ModalScreen[str]):
    """Asks one thing; each answer has a key, a word and what it returns. Escape returns ""."""

    DEFAULT_CSS = """
    Question { align: center middle; }
    Question > Vertical {
        width: auto; max-width: 76; height: auto; padding: 1 2; background: $surface; border: round $primary;
    }
    Question Label { width: auto; max-width: 70; margin-bottom: 1; }
    Question Horizontal { width: auto; height: auto; }
    Question Button { margin-right: 1; min-width: 8; padding: 0 1; }
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
        with Vertical() as box:
            box.border_subtitle = "Esc goes back"
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


class Choice(ModalScreen[str | None]):
    """One of a list, found by typing; Escape returns None."""

    DEFAULT_CSS = """
    Choice { align: center middle; }
    Choice > Vertical {
        width: 60; max-width: 96%; height: auto; max-height: 70%; background: $surface; border: round $primary;
    }
    Choice Input { border: none; height: 1; padding: 0 1; background: $panel; }
    Choice OptionList {
        height: auto; max-height: 18; border: none; background: $surface; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, title: str, options: dict[str, str], *, width: int = 60) -> None:
        """`options` maps what is returned to what is shown, in a line each."""
        super().__init__()
        self._title = title
        self._options = options
        self._width = width
        self._shown: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = self._title
            box.border_subtitle = LEAVING
            box.styles.width = self._width
            yield Input(placeholder="type to find", compact=True)
            yield OptionList()

    def on_mount(self) -> None:
        self._list("")
        self.query_one(Input).focus()

    def _list(self, typed: str) -> None:
        options = self.query_one(OptionList)
        options.clear_options()
        wanted = typed.lower()
        found = [key for key, shown in self._options.items() if wanted in shown.lower()]
        self._shown = sorted(found, key=lambda key: _distance(wanted, self._options[key]))
        options.add_options(
            [Option(Text(self._options[key], no_wrap=True, overflow="ellipsis")) for key in self._shown]
        )
        options.highlighted = 0 if self._shown else None

    def on_input_changed(self, event: Input.Changed) -> None:
        self._list(event.value)

    def on_input_submitted(self, _: Input.Submitted) -> None:
        index = self.query_one(OptionList).highlighted
        if index is not None:
            self.dismiss(self._shown[index])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown[event.option_index])

    def on_key(self, event: events.Key) -> None:
        options = self.query_one(OptionList)
        if event.key == "down":
            options.action_cursor_down()
        elif event.key == "up":
            options.action_cursor_up()
        else:
            return
        event.stop()
        event.prevent_default()


def _distance(wanted: str, shown: str) -> int:
    """0 where it is one of the words, 1 where one begins so, 2 where it is in the midst of one."""
    words = shown.lower().replace(",", " ").split()
    return 0 if wanted in words else 1 if any(word.startswith(wanted) for word in words) else 2


class Prompt(ModalScreen[str]):
    """Asks for a word, which `value` suggests; Escape returns ""."""

    DEFAULT_CSS = """
    Prompt { align: center middle; }
    Prompt > Vertical { width: 60; height: auto; padding: 1 2; background: $surface; border: round $primary; }
    Prompt Label { width: 1fr; margin-bottom: 1; }
    Prompt Input { border: none; height: 1; padding: 0 1; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss('')", "Back")]

    def __init__(self, text: str, value: str = "") -> None:
        super().__init__()
        self._text = text
        self._value = value

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_subtitle = LEAVING
            yield Label(self._text, markup=False)
            yield Input(self._value, compact=True)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())
