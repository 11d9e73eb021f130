"""The `:` line: kubectl's words, names of screens and of resources; with history and completion."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from ktui.guard import Guarded
from ktui.models.completion import common

HISTORY = 500
MARGIN, GAP = 2, 2  # cells beside the candidates, and between them
_CONTINUED = re.compile(r"[ \t]*\\\r?\n[ \t]*")
HINT = "get pods -o wide · apply -f samples/web.yaml · scale deploy/web --replicas=5 · deploy · store"
Complete = Callable[[str], Awaitable[list[str]]]


class _Typed(Input):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "Run")]

    def on_paste(self, event: events.Paste) -> None:
        """Lines that end with a backslash go on in the next, as for a shell; of several commands the first is taken."""
        event.prevent_default()
        event.stop()
        lines = [line for line in _CONTINUED.sub(" ", event.text).splitlines() if line.strip()]
        if not lines:
            return
        if len(lines) > 1:
            told = f"the first of {len(lines)} pasted lines was taken: one command at a time"
            self.app.notify(told, severity="warning", markup=False)
        self.replace(lines[0], *self.selection)


class CommandLine(Guarded, Vertical):
    """Hidden until it is opened; tells what was typed."""

    DEFAULT_CSS = """
    CommandLine { height: auto; background: $panel; display: none; }
    CommandLine.-open { display: block; }
    CommandLine > #candidates { height: 1; color: $foreground 70%; display: none; padding: 0 2; }
    CommandLine > #candidates { text-wrap: nowrap; text-overflow: ellipsis; }
    CommandLine.-completing > #candidates { display: block; }
    CommandLine Horizontal { height: 1; }
    CommandLine Horizontal Static { width: auto; padding: 0 0 0 1; text-style: bold; color: $accent; }
    CommandLine Horizontal #place { text-style: none; color: $foreground 70%; }
    CommandLine Input { width: 1fr; background: $panel; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "tab(1)", "Complete"),
        Binding("shift+tab", "tab(-1)", "Complete backwards", show=False),
        Binding("up", "recall(-1)", "Earlier", priority=True),  # before the Input's own, which scrolls
        Binding("down", "recall(1)", "Later", show=False),
        Binding("escape", "close", "Close"),
    ]

    class Entered(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Closed(Message):
        """The focus is free again."""

    def __init__(self, history: list[str], complete: Complete) -> None:
        super().__init__(id="command-line")
        self._history = history
        self._complete = complete
        self._at = len(history)
        self._candidates: list[str] = []
        self._candidate = -1  # the one that Tab has put in last

    def compose(self) -> ComposeResult:
        yield Static("", id="candidates")
        with Horizontal():
            yield Static("", id="place", markup=False)
            yield Static(":")
            yield _Typed(placeholder=HINT, id="command", compact=True)

    @property
    def _line(self) -> Input:
        return self.query_one("#command", Input)

    def open(self, text: str = "", *, place: str = "") -> None:
        """`place` is the namespace in which a command works that names none."""
        self._forget_candidates()
        self.query_one("#place", Static).update(place)
        self._line.value = text
        self._line.cursor_position = len(text)
        self._at = len(self._history)
        self.add_class("-open")
        self._line.focus()

    def _close(self) -> None:
        self.remove_class("-open")
        self.post_message(self.Closed())

    def action_close(self) -> None:
        self._close()

    def action_recall(self, by: int) -> None:
        """Walk through what was typed before."""
        self._at = max(0, min(len(self._history), self._at + by))
        self._put(self._history[self._at] if self._at < len(self._history) else "")
        self._forget_candidates()

    def _put(self, text: str) -> None:
        line = self._line
        with line.prevent(Input.Changed):
            line.value = text
        line.cursor_position = len(text)

    # -- completion

    def action_tab(self, by: int) -> None:
        """Once: what is sure, and what it may be; again: one after the other."""
        if self._candidates:
            before_all = self._candidate < 0 and by < 0  # backwards from none is the last
            self._candidate = -1 if before_all else self._candidate + by
            self._candidate %= len(self._candidates)
            self._put_word(self._candidates[self._candidate])
            self._show_candidates()
        else:
            self.find_candidates(self._line.value)

    @work(exclusive=True, group="complete", exit_on_error=False)
    async def find_candidates(self, text: str) -> None:
        found = await self._complete(text)
        if self._line.value != text:
            return  # typed on meanwhile
        if len(found) == 1:
            self._put_word(found[0] if found[0].endswith("/") else f"{found[0]} ")
            return
        if found:
            self._put_word(common(found))
        self._candidates, self._candidate = found, -1
        self._show_candidates("nothing begins so" if not found else "")

    def _put_word(self, word: str) -> None:
        head, space, _ = self._line.value.rpartition(" ")
        self._put(f"{head}{space}{word}")

    def _show_candidates(self, problem: str = "") -> None:
        self.add_class("-completing")
        words = Text(problem, "dim")
        shown = [candidate.removeprefix(self._folder) for candidate in self._candidates]
        room = self.size.width - 2 * MARGIN
        for index in range(max(0, self._candidate - 3), len(shown)):
            left = f"and {len(shown) - index} more"
            is_last = index == len(shown) - 1
            if words.cell_len + cell_len(shown[index]) + (0 if is_last else GAP + len(left)) > room and words:
                words.append(left, "dim")
                break
            words.append(shown[index], "reverse bold" if index == self._candidate else "").append(" " * GAP)
        self.query_one("#candidates", Static).update(words)

    @property
    def _folder(self) -> str:
        """What all candidates have in common as a folder, which is typed already."""
        start, slash, _ = common(self._candidates).rpartition("/") if len(self._candidates) > 1 else ("", "", "")
        return start + slash

    def _forget_candidates(self) -> None:
        self._candidates, self._candidate = [], -1
        self.remove_class("-completing")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._forget_candidates()

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
