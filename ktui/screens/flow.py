"""Flow: six lanes in which every request, watch event and internal step appears as it happens."""

from __future__ import annotations

from typing import ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from ktui.feeds import inspection
from ktui.models.exchange import Span
from ktui.models.flow import NOISES, FlowModel
from ktui.models.flow_rows import FlowRow, Kind
from ktui.screens.frame import FrameScreen
from ktui.widgets import hop_details
from ktui.widgets.flow_canvas import FlowCanvas
from ktui.widgets.ink import inks
from ktui.widgets.inspector import Inspector
from ktui.widgets.story_line import StoryLine

TICK_SECONDS = 0.2
SPANS_SHOWN = 12  # of a folded row


class FlowScreen(FrameScreen):
    mode = "flow"
    purpose = "Flow: each request, watch event and step of the control plane as it happens. One line is one thing."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "p", "pin", "Pin trace", tooltip="show the trace of the row alone, and again all of them", id="flow.pin"
        ),
        *(
            Binding(key, f"noise('{noise}')", title, show=False, tooltip=f"show or hide {what}", id=f"flow.{name}")
            for key, noise, title, what, name in (
                ("r", "reads", "Reads", "components' reads", "reads"),
                ("e", "events", "Events", "writes of Event objects", "events"),
                ("h", "heartbeats", "Heartbeats", "leases and node status", "heartbeats"),
                ("i", "idle reconciles", "Idle reconciles", "reconciles that wrote nothing", "idle"),
            )
        ),
        Binding(
            "C",
            "chains",
            "Chains",
            show=False,
            tooltip="show or hide hops 2 to 6 of components' requests",
            id="flow.chains",
        ),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.pinned = ""
        self._told: tuple[object, ...] = ()

    @property
    def live(self) -> FlowModel:
        return self.ktui.flow

    @property
    def canvas(self) -> FlowCanvas:
        return self.query_one(FlowCanvas)

    def compose_body(self) -> ComposeResult:
        yield StoryLine(id="story")
        with Horizontal():
            with Vertical():
                yield FlowCanvas(self.live, id="flow")
                yield Static("", id="following")
                yield Input(placeholder="pods  ·  web  ·  conflict  ·  !lease", id="flow-filter", compact=True)
            yield Inspector(id="inspector")

    def on_mount(self) -> None:
        self.query_one("#flow-filter").display = False
        self.focus_body()
        self.set_interval(TICK_SECONDS, self._tick)
        self.query_one(Inspector).show([])

    def focus_body(self) -> None:
        self.canvas.focus()

    # -- one row

    def on_flow_canvas_selected(self, message: FlowCanvas.Selected) -> None:
        self.inspect(message.row)

    def on_flow_canvas_inspected(self, message: FlowCanvas.Inspected) -> None:
        self.inspect(message.row)
        self.add_class("inspecting")
        if self.has_class("narrow"):
            self.query_one(Inspector).focus()

    @work(exclusive=True, group="inspect", exit_on_error=False)
    async def inspect(self, row: FlowRow | None) -> None:
        """Show what the spans tell at once, and what the engine has to be asked for when it comes."""
        inspector = self.query_one(Inspector)
        if row is None:
            inspector.show([])
            return
        spans = self.canvas.model.spans_of(row)[:SPANS_SHOWN]
        colours = inks(self.app)
        title = "the chain, hops 2 to 6" if row.kind is Kind.CHAIN else row.text
        parts: list[RenderableType] = [Text(title, "bold underline"), Text("")]
        parts += [part for span in spans for part in hop_details.describe(span, colours)]
        if row.count > len(spans):
            parts.append(Text(f"{row.count} times in all", "dim"))
        inspector.show(parts)
        more = await self._ask(row, spans)
        if more:
            inspector.show([*parts[:2], *more, Text(""), *parts[2:]] if row.kind is Kind.STEP else [*parts, *more])

    async def _ask(self, row: FlowRow, spans: list[Span]) -> list[RenderableType]:
        client, colours = self.ktui.session.client, inks(self.app)
        scheduled = next((span for span in spans if span["verb"] == "schedule"), None)
        if scheduled is not None:
            found = await inspection.decision(client, scheduled["object"])
            return list(hop_details.decision(found, colours)) if found else []
        stored = hop_details.first(spans, 7)
        if stored is not None and row.kind is Kind.STORE:
            key, revision = stored["detail"].get("key", ""), stored["revision"]
            before = (
                await inspection.value(client, key, stored["detail"].get("expected") or 0)
                if "expected" in stored["detail"]
                else None
            )
            after = await inspection.value(client, key, revision) if revision else None
            if after is None:
                return []
            return [hop_details.title(f"rev {revision} against before"), *hop_details.changes(before, after, colours)]
        asked = hop_details.first(spans, 2)
        if asked is not None and asked["detail"].get("payload"):
            found = await inspection.payload(client, asked["detail"]["payload"])
            return list(hop_details.payload(found, colours)) if found else []
        return []

    # -- one trace

    def action_pin(self) -> None:
        """Show the trace of the row under the cursor alone; again: all of them."""
        row = self.canvas.current
        trace = row.trace_id if row is not None and not self.canvas.following else self.live.story
        if self.pinned or not trace:
            self.action_escape()
            return
        self.pinned = trace
        model = FlowModel(show=self.live.show, chains=self.live.chains)
        model.filter = self.live.filter
        self.canvas.show(model)
        self._feed_pinned()

    def action_escape(self) -> None:
        """Close the detail, unpin, follow the end."""
        if self._close_filter():
            pass
        elif self.has_class("inspecting"):
            self.remove_class("inspecting")
        elif self.pinned:
            self.pinned = ""
            self.canvas.show(self.live)
        else:
            self.canvas.action_follow()
        self.focus_body()

    def _feed_pinned(self) -> None:
        """Give the pinned trace's model what has come since."""
        model = self.canvas.model
        trace = self.live.traces.get(self.pinned, [])
        if len(trace) > model.seen:
            model.add(trace[model.seen :])

    # -- the filter

    def action_filter(self) -> None:
        field = self.query_one("#flow-filter", Input)
        field.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.live.filter = event.value
        if self.pinned:
            self.canvas.model.filter = event.value

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.input.display = bool(event.value)
        self.focus_body()

    def _close_filter(self) -> bool:
        """Says whether it was open."""
        field = self.query_one("#flow-filter", Input)
        was_open, field.value, field.display = bool(field.display), "", False
        return was_open

    # -- what is hidden

    def action_noise(self, noise: str) -> None:
        self.live.toggle(noise)
        if self.pinned:
            self.canvas.model.toggle(noise)

    def action_chains(self) -> None:
        self.live.toggle_chains()
        if self.pinned:
            self.canvas.model.toggle_chains()

    def _tick(self) -> None:
        if not self.is_current:
            return
        if self.pinned:
            self._feed_pinned()
        canvas, model = self.canvas, self.canvas.model
        state = (model.version, self.live.version, self.pinned, canvas.following, canvas.missed, self.size)
        if state == self._told:
            return
        self._told = state
        self.query_one("#following", Static).update(self._status(canvas, model))
        tally = self.live.stories.get(self.pinned or self.live.story)
        story = tally.story() if tally is not None else None
        self.query_one(StoryLine).show(story, is_pinned=bool(self.pinned), width=self.size.width - 2)

    def _status(self, canvas: FlowCanvas, model: FlowModel) -> Text:
        accent = inks(self.app).get("accent", "")
        parts = []
        if not canvas.following:
            parts.append(Text(f"stopped at a line, {canvas.missed} newer · End to follow", f"bold {accent}"))
        if model.filter:
            parts.append(Text(f"/{model.filter}", accent))
        if self.pinned:
            parts.append(Text(f"trace {self.pinned[:8]} alone · p shows all", f"bold {accent}"))
        hidden = [f"{model.hidden[noise]} {noise} ({noise[0]})" for noise in NOISES if noise not in model.show]
        if hidden:
            parts.append(Text("hidden: " + " · ".join(hidden), "dim"))
        if model.dropped:
            parts.append(Text(f"{model.dropped} older lines gone", "dim"))
        if self.live.lost or self.live.skipped:
            parts.append(Text(f"{self.live.lost + self.live.skipped} spans skipped: they came too fast", "dim"))
        return Text.assemble(" ", Text("   ").join(parts))
