"""Controllers: the work queue of each, and of the one under the cursor its reconciles, desired against actual."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from ktui.feeds import inside as inside_feed
from ktui.models.controllers import RECONCILE_TITLES, TITLES, WIDE_TITLES, ControllersModel
from ktui.models.link import Link
from ktui.models.trouble import ASKING
from ktui.screens.polled import PolledScreen
from ktui.widgets.detail_pane import DetailPane
from ktui.widgets.grid import Grid
from ktui.widgets.ground import Beside, Stack
from ktui.widgets.ink import inks
from ktui.widgets.reconcile_details import queue_parts, reconcile_parts
from ktui.widgets.table_pane import TablePane

WIDE_FROM = 150
HINT = "replica  ·  !idle  ·  busy=1"
RECONCILES_HINT = "web  ·  !done  ·  key=default/web"
EMPTY = "No controller runs here yet. They start with the cluster, or another process leads."
NOTHING = "It has reconciled nothing yet. Apply something:  :apply -f samples/web.yaml"


class ControllersScreen(PolledScreen):
    mode = "controllers"
    purpose = (
        "Controllers: each has a queue of keys, and for each key compares what is desired with what there is. The "
        "lower table has the newest reconciles of the controller under the cursor; Tab goes there, Enter to the object."
    )
    DEFAULT_CSS = """
    ControllersScreen #totals { height: 1; background: $surface; }
    ControllersScreen #all { height: 1fr; }
    ControllersScreen #reconciles { height: 1fr; border-top: hkey $panel; }
    ControllersScreen #inside { width: 42%; }
    ControllersScreen.narrow #inside { width: 100%; height: 38%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Next pane", id="controllers.next-pane", tooltip="queues, reconciles, detail"),
        Binding("shift+tab", "app.focus_previous", "Previous pane", show=False, id="controllers.previous-pane"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.model = ControllersModel()
        self._inside_problem = ""

    def compose_body(self) -> ComposeResult:
        yield Static("", id="totals")
        with Beside():
            with Stack():
                yield TablePane("Controllers", empty=ASKING, hint=HINT, id="all")
                yield TablePane("Reconciles", empty="…", hint=RECONCILES_HINT, id="reconciles")
            yield DetailPane(id="inside")

    @property
    def all(self) -> TablePane:
        return self.query_one("#all", TablePane)

    @property
    def reconciles(self) -> TablePane:
        return self.query_one("#reconciles", TablePane)

    def focus_body(self) -> None:
        self.all.grid.focus()

    # -- what is learnt

    async def ask(self) -> Any:
        return await inside_feed.controllers(self.ktui.session.client)

    def take(self, value: Any) -> None:
        self.model.controllers = value

    @property
    def subject(self) -> str:
        return self.all.key

    async def ask_inside(self, subject: str) -> Any:
        return await inside_feed.controller(self.ktui.session.client, subject)

    def take_inside(self, subject: str, value: Any, problem: str) -> None:
        self._inside_problem = problem
        if value is not None:
            self.model.inside = value

    # -- what is shown

    def draw(self) -> None:
        wide = self.size.width >= WIDE_FROM
        self.all.problem = self.problem
        rows = self.model.rows(wide=wide, now=self.ktui.summary.now)
        self.all.show(WIDE_TITLES if wide else TITLES, rows, empty=self.if_empty(EMPTY))
        self._draw_totals()
        is_known = self.model.inside.get("name") == self.subject and self.subject != ""
        self.reconciles.title = f"Reconciles of {self.subject}" if self.subject else "Reconciles"
        self.reconciles.problem = self._inside_problem
        self.reconciles.show(
            RECONCILE_TITLES, self.model.reconciles() if is_known else [], empty=NOTHING if is_known else "…"
        )
        self._draw_detail(is_known)

    def _draw_totals(self) -> None:
        colours, line = inks(self.app), Text()
        for name, count in self.model.totals.items():
            tone = colours.get("error" if name in ("errors", "to be retried") else "warning", "")
            is_telling = bool(count) and name != "reconciles"
            line.append(f" {name} ").append(str(count), f"bold {tone}" if is_telling else "").append("  ")
        self.query_one("#totals", Static).update(line, layout=False)

    def _draw_detail(self, is_known: bool) -> None:
        detail = self.query_one(DetailPane)
        if not is_known:
            detail.show([Text(self._inside_problem, "dim")])
            return
        colours, width = inks(self.app), max(30, detail.scrollable_content_region.width)
        parts = queue_parts(self.model.inside, width=width, colours=colours)
        last, link = self.model.reconcile(self.reconciles.key), None
        if last is not None:
            parts += reconcile_parts(last, colours=colours)
            link = Link.of_span(last.get("object", ""))
        copied = "\n".join(part.plain.rstrip() for part in parts)
        of = f"{self.subject} {self.reconciles.key}"
        detail.show(parts, links=[link] if link is not None else [], copied=copied, of=of)

    # -- keys

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        if message.grid is self.all.grid:
            self.reconciles.grid.focus()
            return
        last = self.model.reconcile(message.key)
        link = Link.of_span(last.get("object", "")) if last is not None else None
        if link is not None:
            self.ktui.go_to(link)
        else:
            self.query_one(DetailPane).focus()
