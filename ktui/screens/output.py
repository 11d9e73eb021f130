"""What a command printed: a pane at the bottom, filled while the command runs.

It is no higher than what it holds, and at most half of the screen: what the command sets off is seen above it.
"""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable
from typing import ClassVar, TextIO

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from ktui.guard import Guarded
from ktui.models.printed import Printed, PrintedLine
from ktui.screens.catalogue import CATALOGUE
from ktui.stopped_time import PATIENCE_SECONDS, WAITING
from ktui.widgets.key_line import KeyLine
from ktui.widgets.printed_lines import PrintedLines

BESIDE_LINES = 4  # border, footer, and the bar below lines that are too long
FOLLOWING = frozenset({"-w", "--watch", "--watch=true", "--follow"})
Command = Callable[[TextIO, TextIO], Awaitable[int]]  # stdout, stderr → exit code


class _Lines(io.StringIO):
    """A stream into the pane, line by line."""

    def __init__(self, tell: Callable[[list[PrintedLine]], None], stream: str) -> None:
        super().__init__()
        self._tell = tell
        self._stream = stream
        self._rest = ""

    def write(self, text: str, /) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        if lines:
            self._tell([PrintedLine(line.expandtabs(), self._stream) for line in lines])
        return len(text)

    def finish(self) -> None:
        if self._rest:
            self.write("\n")


class Output(Guarded, ModalScreen[int]):
    """Runs a command and shows what it prints; Escape leaves, and ends a command that still runs."""

    DEFAULT_CSS = """
    Output { align: center bottom; }
    Output > Vertical { height: 6; max-height: 50%; border: round $primary; background: $surface; }
    Output #output-filter { height: 1; border: none; background: $panel; padding: 0 1; display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close"),
        Binding("colon", "another", "Command", key_display=":", tooltip="close this and give another command"),
        Binding("slash", "filter", "Filter", key_display="/", tooltip="show only some lines"),
        Binding("f", "follow", "Follow", tooltip="stay at the end, or where one is"),
        Binding("c", "copy", "Copy", show=False, tooltip="copy the lines that are shown"),
        Binding("space,f9", "app.toggle_pause", "Pause", show=False, id="clock.pause"),
        *(
            Binding(entry.key, f"go('{entry.name}')", f"{entry.title} screen", show=False, id=f"screen.{entry.name}")
            for entry in CATALOGUE
        ),
    ]

    def __init__(self, title: str, command: Command) -> None:
        super().__init__()
        self._title = title
        self._command = command
        self._beside = BESIDE_LINES
        self._height = 0  # that was asked for last
        self._printed = Printed()
        self._fresh: list[PrintedLine] = []  # printed, and not shown yet
        self._state = "◐ running · Esc ends it"
        self._is_over = False
        self._waits_for = ""  # why it takes so long

    @property
    def goes_on(self) -> bool:
        """Whether the end is what one looks at: a watch, a followed log."""
        words = self._title.split()
        return bool(FOLLOWING & set(words)) or words[:1] in (["logs"], ["rollout"], ["wait"])

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = f":{self._title}"
            yield PrintedLines(id="lines", follows=self.goes_on)
            yield Input(placeholder="error  ·  !GET", id="output-filter", compact=True)
            yield KeyLine()

    def on_mount(self) -> None:
        self.focus_body()
        self.run_command()

    @property
    def lines(self) -> PrintedLines:
        return self.query_one("#lines", PrintedLines)

    def focus_body(self) -> None:
        self.lines.focus()

    @work(exclusive=True, exit_on_error=False)
    async def run_command(self) -> None:
        self._say_state()
        self.set_interval(PATIENCE_SECONDS, self._mind_time)
        out, err = _Lines(self.take, "out"), _Lines(self.take, "err")
        try:
            code = await self._command(out, err)
        except Exception as error:
            err.write(f"{type(error).__name__}: {error}\n")
            code = 1
        out.finish()
        err.finish()
        self._is_over, self._waits_for = True, ""
        self._state = "✓ done" if code == 0 else f"✖ exit code {code}"
        self._say_state()
        self.ended()

    def ended(self) -> None:
        """For panes that have something to do when the command is over."""

    # -- lines

    def take(self, lines: list[PrintedLine]) -> None:
        """What is printed at once is shown at once: a table of 12,000 events comes line by line."""
        if not self._fresh:
            self.call_later(self._show_fresh)
        self._fresh += lines

    def _show_fresh(self) -> None:
        lines, self._fresh = self._fresh, []
        fresh, dropped = self._printed.add(lines)
        self.lines.show(self._printed.shown, fresh=fresh, dropped=dropped)
        if self._printed.left_out:
            self._say_state()
        self._fit()

    def _fit(self) -> None:
        """As high as what was printed; all that is higher than the terminal looks the same and is laid out once."""
        height = min(self._beside + self._printed.count, self.app.size.height)
        if height != self._height:
            self._height = height
            self.query_one(Vertical).styles.height = height

    def on_resize(self) -> None:
        self._fit()

    def _mind_time(self) -> None:
        """What waits for the cluster's time says so, for as long as it is paused."""
        from ktui.app import KtuiApp

        if not self._is_over and isinstance(self.app, KtuiApp) and self._title.partition(" ")[0] in WAITING:
            self._waits_for = self.app.waits_for_time
            self._say_state()

    def _say_state(self) -> None:
        parts = [f"/{self._printed.filter}"] if self._printed.filter else []
        if self._printed.left_out:
            parts.append(f"{self._printed.left_out:,} older lines left out")
        if self.goes_on and not self.lines.follows:
            parts.append("f follows the end")
        state = f"⏸ {self._waits_for}" if self._waits_for else self._state
        self.query_one(Vertical).border_subtitle = " · ".join([*parts, state])

    # -- filter, follow, copy

    def action_filter(self) -> None:
        line = self.query_one("#output-filter", Input)
        line.display = True
        line.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id != "output-filter":
            return
        self._printed.filter = event.value
        self.lines.show(self._printed.shown)
        self._say_state()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "output-filter":
            event.input.display = bool(event.value)
            self.focus_body()

    def action_follow(self) -> None:
        self.lines.follow(not self.lines.follows)

    def on_printed_lines_follow_changed(self) -> None:
        self._say_state()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._printed.text)
        self.notify("copied what is shown", timeout=1.5)

    # -- leaving

    def action_leave(self) -> None:
        """Take the filter away first, then leave."""
        line = self.query_one("#output-filter", Input)
        if line.display:
            line.value, line.display = "", False
            self.focus_body()
            return
        self.leave()

    def leave(self) -> None:
        self.workers.cancel_node(self)
        self.dismiss(0)

    async def action_another(self) -> None:
        """Leave for the next command."""
        self.leave()
        await self.app.run_action("app.command")

    async def action_go(self, mode: str) -> None:
        """Leave for another screen."""
        self.leave()
        await self.app.run_action(f"app.show_mode('{mode}')")
