"""Flow: six lanes in which every request, watch event and internal step appears as it happens."""

from __future__ import annotations

from typing import ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from ktui.feeds.object_names import objects_with
from ktui.feeds.poll import Poll
from ktui.models.flow import NOISES, FlowModel
from ktui.models.flow_filter import FlowFilter
from ktui.models.flow_rows import FlowRow, Kind
from ktui.models.link import Link
from ktui.models.replay import Replay
from ktui.models.story import HOP_NAMES, Story, tell
from ktui.screens.flow_inspection import asked
from ktui.screens.frame import FrameScreen
from ktui.trace_tree import LAMPS, milliseconds
from ktui.widgets import hop_details
from ktui.widgets.filter_line import FilterLine
from ktui.widgets.flow_canvas import FlowCanvas
from ktui.widgets.ground import Beside, Stack
from ktui.widgets.ink import inks
from ktui.widgets.inspector import Inspector
from ktui.widgets.story_line import StoryLine

TICK_SECONDS = 0.2
NO_TRACE = "there is no trace yet: apply something"
GONE = "only the newest traces are kept, and that one has gone"
SPANS_SHOWN = 12  # of a folded row
GAP = "   "
HINT = "web  ·  !lease  ·  -l app=web  ·  verb=patch  ·  kind=pods  ·  conflict"
TYPING_SECONDS = 0.4  # no key for so long: it is typed to its end
LABELS_SECONDS = 1.0


class FlowScreen(FrameScreen):
    mode = "flow"
    newest_is_last = True
    purpose = "Flow: each request, watch event and step of the control plane as it happens. One line is one thing."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "pin", "Pin", tooltip="show the trace of the row alone, and again all of them", id="flow.pin"),
        Binding(
            "left_square_bracket",
            "replay(-1)",
            "Hop back",
            key_display="[",
            tooltip="pin the trace, and rewind it by one hop",
            id="flow.hop-back",
        ),
        Binding(
            "right_square_bracket",
            "replay(1)",
            "Hop on",
            key_display="]",
            tooltip="pin the trace, and go through it from its start, one hop at a time",
            id="flow.hop-on",
        ),
        Binding(
            "left_curly_bracket",
            "rewind",
            "Rewind",
            key_display="{",
            show=False,
            tooltip="back to the first hop of the pinned trace",
            id="flow.rewind",
        ),
        Binding("t", "go", "Object", show=False, tooltip="go to the object of the row", id="flow.object"),
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
        self.replay: Replay | None = None  # while one steps through the pinned trace
        self._told: tuple[object, ...] = ()

    @property
    def live(self) -> FlowModel:
        return self.ktui.flow

    @property
    def canvas(self) -> FlowCanvas:
        return self.query_one(FlowCanvas)

    def compose_body(self) -> ComposeResult:
        yield StoryLine(id="story")
        with Beside():
            with Stack():
                yield FlowCanvas(self.live, id="flow")
                yield Static("", id="following")
                yield FilterLine(placeholder=HINT, id="flow-filter", compact=True)
            yield Inspector(id="inspector")

    def on_mount(self) -> None:
        self.query_one("#flow-filter").display = False
        self.focus_body()
        self.set_interval(TICK_SECONDS, self._tick)
        self.query_one(Inspector).show([])

    def focus_body(self) -> None:
        self.canvas.focus()

    def redraw(self) -> None:
        super().redraw()
        self._told = ()
        self.inspect(None if self.canvas.following else self.canvas.current)

    # -- one row

    def on_flow_canvas_selected(self, message: FlowCanvas.Selected) -> None:
        self.inspect(message.row)

    def on_flow_canvas_inspected(self, message: FlowCanvas.Inspected) -> None:
        self.inspect(message.row)
        self.add_class("inspecting")
        self.query_one(Inspector).focus()

    @work(exclusive=True, group="inspect", exit_on_error=False)
    async def inspect(self, row: FlowRow | None) -> None:
        """Show what the spans tell at once, and what the engine has to be asked for when it comes."""
        inspector = self.query_one(Inspector)
        if row is None:
            inspector.show([])
            return
        spans = [self.replay.current] if self.replay is not None else self.canvas.model.spans_of(row)[:SPANS_SHOWN]
        colours = inks(self.app)
        title = "the chain, hops 2 to 6" if row.kind is Kind.CHAIN else row.text
        parts: list[RenderableType] = [Text(title, "bold underline"), Text("")]
        parts += [part for span in spans for part in hop_details.describe(span, colours)]
        if row.count > len(spans):
            parts.append(Text(f"{row.count} times in all", "dim"))
        inspector.show(parts)
        more = await asked(self.ktui.session.client, self.live, row, spans, colours)
        if more:
            inspector.show([*parts[:2], *more, Text(""), *parts[2:]] if row.kind is Kind.STEP else [*parts, *more])

    def action_go(self) -> None:
        """To the object that the row is about."""
        row = self.canvas.current
        spans = self.canvas.model.spans_of(row) if row is not None else []
        link = next((link for span in reversed(spans) if (link := Link.of_span(span["object"])) is not None), None)
        if link is not None:
            self.ktui.go_to(link)
        else:
            self.notify("this row names no object", timeout=1.5)

    # -- one trace

    def action_pin(self) -> None:
        """Show the trace of the row under the cursor alone; again: all of them."""
        if self.pinned:
            self._unpin()
        else:
            self._pin()
        self.focus_body()

    def _pin(self) -> None:
        row = self.canvas.current
        self.pinned = row.trace_id if row is not None and not self.canvas.following else self.live.story
        if self.live.traces.get(self.pinned):
            self._show_pinned()
        else:
            self.notify(GONE if self.pinned else NO_TRACE, timeout=1.5)
            self.pinned = ""

    def _unpin(self) -> None:
        self.pinned, self.replay = "", None
        self.canvas.show(self.live)

    def _show_pinned(self) -> None:
        """The whole of the pinned trace as far as it has come."""
        self.replay = None
        self.canvas.show(self._model(), is_pinned=True)
        self._feed_pinned()

    def _model(self) -> FlowModel:
        model = FlowModel(show=self.live.show, chains=self.live.chains)
        model.filter, model.labelled = self.live.filter, self.live.labelled
        return model

    def action_escape(self) -> None:
        """Close the detail, show the trace to its end, unpin, follow the end."""
        if self._close_filter():
            pass
        elif self.has_class("inspecting"):
            self.remove_class("inspecting")
        elif self.replay is not None:
            self._show_pinned()
        elif self.pinned:
            self._unpin()
        else:
            self.canvas.action_follow()
        self.focus_body()

    def leave_inside(self) -> None:
        self.remove_class("inspecting")

    def on_inspector_left(self) -> None:
        self.action_escape()

    # -- hop by hop

    def action_replay(self, by: int) -> None:
        """One hop on or back in the pinned trace; beyond its last hop it is shown as it goes on."""
        if not self.pinned:
            self._pin()
        trace = self.live.traces.get(self.pinned)
        if not self.pinned:
            return
        if not trace:
            self.notify(GONE, timeout=1.5)
        elif self.replay is None:
            self.replay = Replay.of(list(trace), self.canvas.model.rows, from_end=by < 0)
            self._show_replay()
        elif self.replay.move(by):
            self._show_replay()
        else:
            self._show_pinned()

    def action_rewind(self) -> None:
        if self.replay is not None:
            self.replay.move(-len(self.replay.stops))
            self._show_replay()
        else:
            self.action_replay(1)

    def _show_replay(self) -> None:
        """What had ended by then, and the hop that ended last under the cursor."""
        replay = self.replay
        assert replay is not None
        model = self._model()
        model.add(replay.shown)
        self.canvas.show(model, is_pinned=True)
        row = replay.row_of_current(model.rows)
        if row is not None:
            self.canvas.move_to(row)

    def _feed_pinned(self) -> None:
        """Give the pinned trace's model what has come since, unless it is replayed."""
        if self.replay is not None:
            return
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
        filter = FlowFilter.parse(event.value)
        asks_for_others = filter.labels != self.live.filter.labels
        for model in self._models():
            model.filter = filter
        if asks_for_others:
            self._follow_labels(filter.labels)

    def _models(self) -> set[FlowModel]:
        """The live one, and that of a pinned trace."""
        return {self.live, self.canvas.model}

    @work(exclusive=True, group="labels", exit_on_error=False)
    async def _follow_labels(self, selector: str) -> None:
        """Find which objects have the labels, for as long as the filter asks for them; one that goes stays found."""
        self._label(frozenset())
        if not selector:
            return
        session = self.ktui.session
        client, clock = session.client, session.world.clock
        await clock.sleep(TYPING_SECONDS)  # before it is typed to its end nobody is asked
        poll = Poll(
            clock,
            lambda: objects_with(selector, client, self.ktui.discovery, clock, self.ktui.command_namespace),
            wanted=lambda: self.is_current,
            period=LABELS_SECONDS,
        )
        async for answer in poll.answers():
            self._label(self.live.labelled | (answer.value or frozenset()))

    def _label(self, objects: frozenset[str]) -> None:
        for model in self._models():
            model.labelled = objects

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
        at = self.replay.at if self.replay is not None else -1
        foot = self.query_one("#following", Static)  # laid out later than the screen is resized
        sizes = (self.size, foot.size)
        state = (model.version, self.live.version, self.pinned, at, canvas.following, canvas.missed, sizes)
        if state == self._told:
            return
        self._told = state
        foot.update(self._status(canvas, model, foot.size.width), layout=False)
        story = self._story()
        if story is not None or self.live.is_told:
            self.query_one(StoryLine).show(story, is_pinned=bool(self.pinned), width=self.size.width - 2)

    def _story(self) -> Story | None:
        if self.replay is not None:
            return tell(self.replay.from_root)
        tally = self.live.stories.get(self.pinned or self.live.story)
        return tally.story(self.live.newest) if tally is not None else None

    def _status(self, canvas: FlowCanvas, model: FlowModel, width: int) -> Text:
        """What is not as one might think; of what has no room the last is left out."""
        accent = inks(self.app).get("accent", "")
        parts = []
        if model.filter.problem:
            parts.append(Text(model.filter.problem, inks(self.app).get("error", "")))
        if self.replay is not None:
            parts.append(self._step_text(self.replay, f"bold {accent}"))
        elif not canvas.following:
            parts.append(Text(f"stopped, {canvas.missed} newer · End follows", f"bold {accent}"))
        if model.filter.text:
            parts.append(Text(f"/{model.filter.text}", accent))
        if self.pinned and self.replay is None:
            parts.append(Text(f"trace {self.pinned[:8]} alone · p shows all", f"bold {accent}"))
        if self.live.lost or self.live.skipped:
            parts.append(Text(f"{self.live.lost + self.live.skipped} spans skipped: they came too fast", "dim"))
        hidden = [f"{noise[0]} {noise} {model.hidden[noise]}" for noise in NOISES if noise not in model.show]
        if hidden:
            parts.append(Text("hidden: " + " · ".join(hidden).replace("idle reconciles", "idle"), "dim"))
        if model.dropped:
            parts.append(Text(f"{model.dropped} older lines gone", "dim"))
        while len(parts) > 1 and len(Text(GAP).join(parts)) + 1 > width:
            parts.pop()
        return Text.assemble(" ", Text(GAP).join(parts))

    @staticmethod
    def _step_text(replay: Replay, style: str) -> Text:
        hop = replay.current["hop"]
        where = f"{LAMPS[hop - 1]} {HOP_NAMES[hop - 1]}"
        return Text(
            f"hop {replay.at + 1} of {len(replay.stops)}  {where}  +{milliseconds(replay.milliseconds)}"
            "  [ back  ] on  { first  Esc all",
            style,
        )
