"""Flow: six lanes in which every request, watch event and internal step appears as it happens."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from ktui.models.flow import FlowModel, FlowRow
from ktui.screens.frame import FrameScreen
from ktui.widgets.flow_canvas import FlowCanvas
from ktui.widgets.inspector import Inspector


class FlowScreen(FrameScreen):
    mode = "flow"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "pin", "Pin trace"),
        Binding("escape", "unpin", "Unpin", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.pinned = ""

    @property
    def live(self) -> FlowModel:
        return self.ktui.flow

    def compose_body(self) -> ComposeResult:
        with Horizontal():
            with Vertical():
                yield FlowCanvas(self.live, id="flow")
                yield Static("", id="following")
            yield Inspector(id="inspector")

    def on_mount(self) -> None:
        self.query_one(FlowCanvas).focus()
        self.set_interval(0.25, self._tick)
        self.query_one(Inspector).show([])

    def on_flow_canvas_selected(self, message: FlowCanvas.Selected) -> None:
        self._inspect(message.row)

    def on_flow_canvas_inspected(self, message: FlowCanvas.Inspected) -> None:
        self._inspect(message.row)
        self.add_class("inspecting")
        self.query_one(Inspector).focus()

    def _inspect(self, row: FlowRow | None) -> None:
        spans = [self.live.spans[id] for id in row.spans if id in self.live.spans] if row else []
        self.query_one(Inspector).show(spans[:12])

    def action_pin(self) -> None:
        """Show the trace of the row under the cursor alone; again: all of them."""
        canvas = self.query_one(FlowCanvas)
        row = canvas.current
        if self.pinned or row is None:
            self.action_unpin()
            return
        self.pinned = row.trace_id
        canvas.show(FlowModel())
        self._feed_pinned()

    def action_unpin(self) -> None:
        self.remove_class("inspecting")
        canvas = self.query_one(FlowCanvas)
        self.pinned = ""
        canvas.show(self.live)
        canvas.focus()

    def _feed_pinned(self) -> None:
        """Give the pinned trace's model what has come since."""
        model = self.query_one(FlowCanvas).model
        mine = [
            span
            for span in self.live.spans.values()
            if span["traceId"] == self.pinned and span["id"] not in model.spans
        ]
        model.add(mine)

    def _tick(self) -> None:
        canvas = self.query_one(FlowCanvas)
        if self.pinned:
            self._feed_pinned()
            text = f" pinned on trace {self.pinned[:8]} · p or Esc to unpin"
        elif canvas.following:
            text = ""
        else:
            text = f" paused · {canvas.missed} newer · End to follow"
        self.query_one("#following", Static).update(text)
