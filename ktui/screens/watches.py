"""Watches: every open stream with its cursor in the ring that it reads from, and the informer behind it."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from ktui.feeds import inside as inside_feed
from ktui.models.trouble import ASKING
from ktui.models.watches import TITLES, WIDE_TITLES, WatchesModel, links_of
from ktui.screens.polled import PolledScreen
from ktui.widgets.detail_pane import DetailPane
from ktui.widgets.ground import Beside
from ktui.widgets.ink import inks
from ktui.widgets.stream_details import stream_parts
from ktui.widgets.table_pane import TablePane
from ktui.widgets.watch_ring import WatchRing

WIDE_FROM = 150
HINT = "pods  ·  !kubelet  ·  resource=pods  ·  buf=0"
EMPTY = "Nobody watches. Try:  :get pods -w"


class WatchesScreen(PolledScreen):
    mode = "watches"
    purpose = (
        "Watches: the API server keeps the newest changes of each resource in a ring, and sends them to every open "
        "stream. A stream has a cursor, the last revision that it was sent, and a buffer: one that is too slow is cut "
        "off when that is full. Who comes back with a revision from before the ring gets a 410, and lists again."
    )
    DEFAULT_CSS = """
    WatchesScreen #streams-head { height: 1; background: $surface; }
    WatchesScreen #stream { width: 40%; }
    WatchesScreen.narrow #stream { width: 100%; height: 40%; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.model = WatchesModel()

    def compose_body(self) -> ComposeResult:
        yield Static("", id="streams-head")
        yield WatchRing(id="ring")
        with Beside():
            yield TablePane("Streams", empty=ASKING, hint=HINT, id="streams")
            yield DetailPane(id="stream")

    def focus_body(self) -> None:
        self.query_one(TablePane).grid.focus()

    async def ask(self) -> Any:
        return await inside_feed.watches(self.ktui.session.client)

    def take(self, value: Any) -> None:
        self.model.take(value, now=self.ktui.summary.clock_now)

    # -- what is shown

    def draw(self) -> None:
        wide = self.size.width >= WIDE_FROM
        pane = self.query_one(TablePane)
        pane.problem = self.problem
        pane.show(WIDE_TITLES if wide else TITLES, self.model.rows(wide=wide), empty=self.if_empty(EMPTY))
        self._draw_head()
        found = self.model.find(pane.key)
        self.query_one(WatchRing).show(self.model.ring(found[0]) if found is not None else None)
        detail, colours = self.query_one(DetailPane), inks(self.app)
        parts = stream_parts(self.model, *found, colours=colours) if found is not None else []
        links = links_of(*found) if found is not None else ()
        detail.show(parts, links=links, copied="\n".join(part.plain.rstrip() for part in parts), of=pane.key)

    def _draw_head(self) -> None:
        colours = inks(self.app)
        streams, waiting, cut_off = self.model.totals
        line = Text(f" streams {streams}   events that wait ").append(
            str(waiting), f"bold {colours.get('warning', '')}" if waiting else ""
        )
        line.append("   cut off ").append(str(cut_off), f"bold {colours.get('error', '')}" if cut_off else "")
        line.append("   410s ").append(
            str(self.model.expired), colours.get("warning", "") if self.model.expired else ""
        )
        if self.model.told:
            line.append(f"   {self.model.told[0]}", colours.get("warning", ""))
        line.truncate(self.size.width - 1, overflow="ellipsis")  # the detail pane has it whole
        self.query_one("#streams-head", Static).update(line, layout=False)
