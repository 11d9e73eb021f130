"""The detail of one Flow row; while none is chosen, how to read the picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static

from ktui.models.story import HOP_NAMES
from ktui.trace_tree import LAMPS
from ktui.widgets.ink import inks
from ktui.widgets.scrolled import Scrolled

HOP_LANES = ("client", *("api-server",) * 5, "etcd", "api-server", "controllers", "scheduler", "nodes", "nodes")


class Inspector(Scrolled):
    DEFAULT_CSS = """
    Inspector { width: 30%; min-width: 36; max-width: 72; padding: 0 1; scrollbar-size-vertical: 1; }
    Inspector > Static { width: 1fr; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close", id="frame.close")]

    class Left(Message):
        """Whoever looked into it has had enough."""

    def action_close(self) -> None:
        self.post_message(self.Left())

    def compose(self) -> Iterable[Static]:
        yield Static("", id="inspected")

    def show(self, parts: Sequence[RenderableType]) -> None:
        """Show the parts of a hop from its top; none: the legend."""
        self.query_one("#inspected", Static).update(Group(*(parts or self._legend())))
        if parts:
            self.scroll_home(animate=False)

    def _legend(self) -> list[RenderableType]:
        colours = inks(self.app)
        lines = [Text("From keystroke to Ready: 12 hops", "bold"), Text("")]
        for hop, (name, lane) in enumerate(zip(HOP_NAMES, HOP_LANES, strict=True)):
            lines.append(Text.assemble((f" {LAMPS[hop]} ", "bold"), (name, colours.get(f"lane-{lane}", ""))))
        lines += [
            Text(""),
            Text.assemble(("├───► ", "bold"), "a request, a write to etcd"),
            Text.assemble(("├┄┄┄► ", "bold"), "a watch event"),
            Text.assemble(("│ word ", "bold"), "a step inside"),
            Text.assemble(("✓ ◐ ✖ ·", "bold"), " done waiting failed past"),
            Text.assemble(("model~", "bold"), " simulated time"),
            Text.assemble(("wall  ", "bold"), " time of this machine"),
            Text(""),
            Text.assemble(("↑ ↓", "bold"), " choose a line, see its inside"),
            Text.assemble((" p ", "bold"), " follow one trace alone"),
            Text.assemble((" ? ", "bold"), " all keys"),
        ]
        return list(lines)
