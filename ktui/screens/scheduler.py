"""Scheduler: the Pods that wait, every attempt as a table of nodes by plugins, and how full the nodes are."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from ktui.feeds import scheduler as scheduler_feed
from ktui.models.link import Link
from ktui.models.scheduler import TITLES, WIDE_TITLES, SchedulerModel
from ktui.models.trouble import ASKING
from ktui.screens.polled import PolledScreen
from ktui.widgets.attempt_details import attempt_parts, waiting_parts
from ktui.widgets.detail_pane import DetailPane
from ktui.widgets.fill_bars import FillBars
from ktui.widgets.ground import Beside, Stack
from ktui.widgets.ink import inks
from ktui.widgets.table_pane import TablePane

WIDE_FROM = 150
HINT = "web  ·  !bound  ·  -l app=web  ·  node=node-2"
BARS_SHARE = 3  # the bars take at most one line of so many
OLDER, NEWER = "the attempt before", "the next attempt"
RAW = "show raw and normalised scores, or weighted ones alone"
ALL = "show every node that is told of, or only the first"
EMPTY = "No Pod has been scheduled yet. Apply some:  :apply -f samples/web.yaml"


class SchedulerScreen(PolledScreen):
    mode = "scheduler"
    purpose = (
        "Scheduler: it takes waiting Pods one by one, filters the nodes that may run each, scores those, and binds the "
        "Pod to the best. The table has the Pods that wait and the newest attempts; beside it stands why."
    )
    absent = "no scheduler in this process: it is starting, left out, or another process leads"
    DEFAULT_CSS = """
    SchedulerScreen #queues { height: 1; background: $surface; }
    SchedulerScreen #attempt { width: 60%; }
    SchedulerScreen.narrow #attempt { width: 100%; height: 52%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left_square_bracket", "older", "Older", key_display="[", id="scheduler.older", tooltip=OLDER),
        Binding("right_square_bracket", "newer", "Newer", key_display="]", id="scheduler.newer", tooltip=NEWER),
        Binding("r", "raw", "Raw scores", id="scheduler.raw", tooltip=RAW),
        Binding("a", "all_nodes", "All nodes", id="scheduler.nodes", tooltip=ALL),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.model = SchedulerModel()
        self._found: Any = None  # the attempts on the Pod under the cursor
        self._which = 0  # of the attempts, 0 the newest
        self._raw = True
        self.shows_all_nodes = False
        self._inside_problem = ""

    def compose_body(self) -> ComposeResult:
        yield Static("", id="queues")
        with Beside():
            with Stack():
                yield TablePane("Pods", empty=ASKING, hint=HINT, id="attempts")
                yield FillBars(id="bars")
            yield DetailPane(id="attempt")

    def focus_body(self) -> None:
        self.query_one(TablePane).grid.focus()

    # -- what is learnt

    async def ask(self) -> Any:
        return await scheduler_feed.overview(self.ktui.session.client)

    def take(self, value: Any) -> None:
        self.model.take(value)

    @property
    def subject(self) -> str:
        return self.query_one(TablePane).key

    async def ask_inside(self, subject: str) -> Any:
        return await scheduler_feed.decision(self.ktui.session.client, subject)

    def take_inside(self, subject: str, value: Any, problem: str) -> None:
        if self._found is None or self._found["pod"] != subject:
            self._which = 0
        self._found, self._inside_problem = value or self._found, problem

    # -- what is shown

    def draw(self) -> None:
        wide = self.size.width >= WIDE_FROM
        titles = WIDE_TITLES if wide else TITLES
        pane = self.query_one(TablePane)
        pane.problem, pane.left_out = self.problem, self.model.left_out
        pane.show(titles, self.model.rows(now=self.ktui.summary.now), empty=self.if_empty(EMPTY))
        self._draw_queues()
        self._draw_bars()
        self._draw_attempt()

    def _draw_queues(self) -> None:
        colours = inks(self.app)
        line = Text()
        for queue in self.model.queues:
            tone = colours.get("error" if queue.name == "unschedulable" else "warning", "")
            line.append(f" {queue.name} ").append(str(queue.pods), f"bold {tone}" if queue.pods else "dim").append("  ")
        attempts = self.model.attempts.get("total", 0)
        line.append(f" attempts {attempts}")
        profiles = sorted({attempt["profile"] for attempt in self.model.attempts.get("decisions") or ()})
        if profiles and self.size.width >= WIDE_FROM // 2 + 20:
            line.append(f"   profile {', '.join(profiles)}", "dim")
        self.query_one("#queues", Static).update(line, layout=False)

    def _draw_bars(self) -> None:
        bars = self.query_one(FillBars)
        if self.has_class("narrow"):
            total = self.model.total
            bars.show([total] if total is not None else [])
        else:
            bars.show(*self.model.fills(max(3, self.size.height // BARS_SHARE)))

    def _draw_attempt(self) -> None:
        detail = self.query_one(DetailPane)
        found = self._found
        if self.subject == "" or found is None or found["pod"] != self.subject:
            detail.show([Text(self._inside_problem or "", "dim")])
            return
        colours, width = inks(self.app), max(40, detail.scrollable_content_region.width)
        if found["decisions"]:
            parts = attempt_parts(
                found, self._which, width=width, colours=colours, raw=self._raw, all_nodes=self.shows_all_nodes
            )
        elif found["queue"] is not None:
            parts = waiting_parts(found, colours)
        else:
            parts = [Text("This attempt is kept no longer.", "dim")]
        copied = "\n".join(part.plain.rstrip() for part in parts)
        detail.show(parts, links=self._links(found), copied=copied, of=f"{self.subject} {self._which}")

    def _links(self, found: Any) -> list[Link]:
        namespace, _, name = found["pod"].partition("/")
        links = [Link("pods", name, namespace)]
        attempt = found["decisions"][min(self._which, len(found["decisions"]) - 1)] if found["decisions"] else {}
        node = attempt.get("node") or attempt.get("nominatedNode")
        return [*links, Link("nodes", node)] if node else links

    # -- keys

    def link_of(self, key: str) -> Link | None:
        namespace, _, name = key.partition("/")
        return Link("pods", name, namespace)

    def action_older(self) -> None:
        self._walk(1)

    def action_newer(self) -> None:
        self._walk(-1)

    def _walk(self, by: int) -> None:
        count = len(self._found["decisions"]) if self._found is not None else 0
        wanted = self._which + by
        if 0 <= wanted < count:
            self._which = wanted
            self.mark(at_once=True)
        else:
            self.notify("that is as far as it goes", timeout=1.5)

    def action_raw(self) -> None:
        self._raw = not self._raw
        self.mark(at_once=True)

    def action_all_nodes(self) -> None:
        self.shows_all_nodes = not self.shows_all_nodes
        self.mark(at_once=True)
