"""Dashboard: rates, depths and counts as sparklines, and the one under the cursor as a plot."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual.app import ComposeResult

from ktui.feeds import dashboard as dashboard_feed
from ktui.models.dashboard import (
    EVERY_SECONDS,
    FIGURES,
    LEAST_CELLS,
    MOST_CELLS,
    TITLES,
    figure_text,
    highest,
    newest,
    plot,
)
from ktui.screens.polled import PolledScreen
from ktui.widgets.detail_pane import DetailPane
from ktui.widgets.grid import Grid
from ktui.widgets.ground import Beside
from ktui.widgets.ink import inks
from ktui.widgets.table_pane import TablePane

TALLEST = 16
HINT = "request  ·  !p99  ·  now=0"
FIGURE_CELLS = 54  # what stands before a sparkline


class DashboardScreen(PolledScreen):
    mode = "dashboard"
    period = EVERY_SECONDS
    purpose = (
        "Dashboard: the cluster in figures, sampled once a second while this screen is looked at, and every five "
        "seconds else. Rates are per second of the model's clock, so that speed and pause do not bend them."
    )
    DEFAULT_CSS = """
    DashboardScreen #plot { width: 45%; }
    DashboardScreen.narrow #plot { width: 100%; height: 40%; }
    """

    def compose_body(self) -> ComposeResult:
        with Beside():
            yield TablePane("Figures", empty="The first sample is being taken …", hint=HINT, id="figures")
            yield DetailPane(id="plot")

    def focus_body(self) -> None:
        self.query_one(TablePane).grid.focus()

    async def ask(self) -> Any:
        session = self.ktui.session
        return await dashboard_feed.sample(session.client, session.world.clock)

    def take(self, value: Any) -> None:
        self.ktui.figures.take(value)

    def draw(self) -> None:
        pane, detail = self.query_one(TablePane), self.query_one(DetailPane)
        pane.problem = self.problem
        cells = max(LEAST_CELLS, min(MOST_CELLS, pane.size.width - FIGURE_CELLS))
        model = self.ktui.figures
        pane.show(TITLES, model.rows(cells))
        values = model.series.get(pane.key)
        if not values:
            detail.show([])
            return
        width = max(20, detail.scrollable_content_region.width - 2)
        height = max(4, min(TALLEST, detail.size.height - 6))
        colour = inks(self.app).get("lane-api-server", "")
        lines = [Text(line, colour) for line in plot(values, width=width, height=height)]
        head = Text.assemble((pane.key, "bold"), f"  now {figure_text(pane.key, newest(values))}")
        about = Text(FIGURES[pane.key][1], "dim")
        seconds = min(len(values), width) * EVERY_SECONDS
        foot = Text(
            f"the top is {figure_text(pane.key, highest(list(values)[-width:]))} · {seconds:.0f} s are shown", "dim"
        )
        detail.show(
            [head, about, *lines, foot],
            copied=f"{pane.key}\t" + "\t".join("" if value is None else f"{value:g}" for value in values),
        )

    def on_grid_chosen(self, _: Grid.Chosen) -> None:
        """Enter leads to where the figure comes from."""
        key = self.query_one(TablePane).key
        mode = next((mode for words, mode in SOURCES.items() if words in key), "")
        if mode:
            self.ktui.action_show_mode(mode)


SOURCES = {
    "pods in queue": "scheduler", "scheduling": "scheduler", "attempt": "scheduler",
    "request": "flow", "pods": "objects", "nodes": "nodes", "revisions": "store",
    "store": "store", "watch": "watches", "streams": "watches", "reconcile": "controllers", "keys": "controllers",
    "round trip": "flow",
}  # fmt: skip
