"""The guided tour: two minutes on the first sample, begun by itself the first time and again with `:tour`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.css.query import DOMQuery
from textual.screen import ModalScreen
from textual.widgets import Static

from ktui.widgets.flow_canvas import FlowCanvas
from ktui.widgets.ink import inks


@dataclass(frozen=True, slots=True)
class Stop:
    """`screen` is what is behind the words, "" for where one is; `line` what is done there, as if typed after `:`."""

    title: str
    text: str
    screen: str = "flow"
    line: str = ""


STOPS = (
    Stop(
        "Welcome",
        "This is a whole Kubernetes control plane, running on this machine. Everything on these screens is what it "
        "really does: only containers, images and packets are simulated.",
        screen="",
    ),
    Stop(
        "An apply, as it happens",
        "A Deployment and a Service have just been applied. Each line is one thing that happened, oldest first. "
        "Solid arrows are requests, dotted ones are watch events. The twelve lamps above show how far it has come.",
        line="apply -f samples/web.yaml",
    ),
    Stop(
        "Look inside",
        "↑ and ↓ choose a line; beside it stands what happened there: who asked, which authorizers and admission "
        "plugins had a say, how long it took. p shows one trace alone, Esc shows all again.",
    ),
    Stop(
        "The objects",
        "Every resource as kubectl lists it, live. Enter shows one, e edits it, d describes it, / filters, "
        "n chooses a namespace, space marks several. Enter on something that names an object goes there, Backspace "
        "comes back.",
        screen="objects",
    ),
    Stop(
        "What is stored",
        "The keys of etcd with their revisions. [ and ] go back and forth through what a key has been.",
        screen="store",
    ),
    Stop(
        "Yours to steer",
        "Space stops the time of the cluster (F9 among the objects), . makes one step, + and - change its speed. "
        "After : go all of kubectl's commands; Tab completes them. ? lists the keys of a screen, Ctrl+P finds "
        "everything. :tour comes back here.",
    ),
)


class TourGuide(ModalScreen[int]):
    """One stop; returns how many to go on: 1, -1, or 0 for leaving."""

    DEFAULT_CSS = """
    TourGuide { align: right bottom; background: $background 0%; }
    TourGuide > Vertical {
        width: 64; max-width: 90%; height: auto; padding: 1 2; margin: 0 2 2 0; background: $surface;
        border: round $accent;
    }
    TourGuide Static { width: 1fr; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,right,space", "go_on(1)", "Next"),
        Binding("left,backspace", "go_on(-1)", "Back"),
        Binding("escape,q", "go_on(0)", "Leave"),
        Binding("up", "choose(-1)", "The line above"),
        Binding("down", "choose(1)", "The line below"),
    ]

    def __init__(self, at: int) -> None:
        super().__init__()
        self._at = at
        self._chosen = False

    def compose(self) -> ComposeResult:
        stop, accent = STOPS[self._at], f"bold {inks(self.app).get('accent', '')}"
        words = Text.assemble(stop.text, "\n\n", ("Enter", accent), " next   ")
        if self._at:
            words.append_text(Text.assemble(("←", accent), " back   "))
        words.append_text(Text.assemble(("Esc", accent), " leaves the tour"))
        with Vertical() as box:
            box.border_title = f"{stop.title}  {self._at + 1}/{len(STOPS)}"
            yield Static(words)

    def action_go_on(self, by: int) -> None:
        if self._chosen:  # what comes next is shown as it comes
            for canvas in self._behind():
                canvas.action_follow()
        self.dismiss(by)

    def action_choose(self, by: int) -> None:
        """What the words say of these keys is so at once, behind them."""
        for canvas in self._behind():
            canvas.action_move(by)
            self._chosen = True

    def _behind(self) -> DOMQuery[FlowCanvas]:
        return self.app.screen_stack[-2].query(FlowCanvas)
