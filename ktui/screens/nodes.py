"""Nodes: each with its Pods as tiles; of the one under the cursor the kubelet and its Pod workers, as they work."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from ktui.feeds import nodes as nodes_feed
from ktui.models.link import Link
from ktui.models.nodes import LEGEND, TITLES, WIDE_TITLES, WORKER_TITLES, NodesModel
from ktui.models.summary import ClusterSummary
from ktui.models.trouble import ASKING
from ktui.screens.polled import PolledScreen
from ktui.widgets.detail_pane import DetailPane
from ktui.widgets.grid import Grid
from ktui.widgets.ground import Beside, Stack
from ktui.widgets.ink import inks
from ktui.widgets.kubelet_details import node_parts, pod_parts
from ktui.widgets.table_pane import TablePane

WIDE_FROM = 150
NODES_HINT = "node-1  ·  !disabled  ·  -l topology.kubernetes.io/zone=zone-a"
WORKERS_HINT = "web  ·  back-off  ·  -l app=web  ·  !idle"
EMPTY = "No node here. The cluster was started without any: ktui up --nodes 3"
NO_NODE = "No node is under the cursor."
NO_PODS = "No Pod runs here. Apply some:  :apply -f samples/web.yaml"


class NodesScreen(PolledScreen):
    mode = "nodes"
    purpose = (
        "Nodes: each node with its Pods as tiles. Of the node under the cursor: its kubelet, whose SyncLoop hands Pods "
        "to workers, and what the workers have the container runtime do. Tab goes to the workers, and to the detail."
    )
    DEFAULT_CSS = """
    NodesScreen #map { height: 40%; }
    NodesScreen #workers { height: 1fr; border-top: hkey $panel; }
    NodesScreen #tiles { height: 1; color: $foreground 60%; padding: 0 1; }
    NodesScreen #kubelet { width: 50%; }
    NodesScreen.narrow #kubelet { width: 100%; height: 42%; }
    NodesScreen.narrow #tiles { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Next pane", id="nodes.next-pane", tooltip="nodes, workers, detail"),
        Binding("shift+tab", "app.focus_previous", "Previous pane", show=False, id="nodes.previous-pane"),
        Binding(
            "n", "to_node", "Node", show=False, id="nodes.node", tooltip="show the node again, not one of its Pods"
        ),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.model = NodesModel()
        self._inside_problem = ""
        self._of_pod = False  # the detail is that of a Pod
        self._second = ""

    def compose_body(self) -> ComposeResult:
        with Beside():
            with Stack():
                yield TablePane("Nodes", empty=ASKING, hint=NODES_HINT, id="map")
                yield Static(LEGEND, id="tiles")
                yield TablePane("Pod workers", empty="…", hint=WORKERS_HINT, id="workers")
            yield DetailPane(id="kubelet")

    @property
    def nodes(self) -> TablePane:
        return self.query_one("#map", TablePane)

    @property
    def pod_workers(self) -> TablePane:
        return self.query_one("#workers", TablePane)

    def focus_body(self) -> None:
        (self.pod_workers if self._of_pod else self.nodes).grid.focus()

    # -- what is learnt

    async def ask(self) -> Any:
        return await nodes_feed.node_map(self.ktui.session.client)

    def take(self, value: Any) -> None:
        self.model.nodes = value

    @property
    def subject(self) -> str:
        return self.nodes.key

    async def ask_inside(self, subject: str) -> Any:
        return await nodes_feed.kubelet(self.ktui.session.client, subject)

    def take_inside(self, subject: str, value: Any, problem: str) -> None:
        self._inside_problem = problem
        if value is not None:
            self.model.take_inside(subject, value)

    def show_summary(self, summary: ClusterSummary) -> None:
        super().show_summary(summary)
        if summary.clock_now != self._second:  # heartbeats and calls under way grow older
            self._second = summary.clock_now
            self.mark()

    # -- what is shown

    def draw(self) -> None:
        wide = self.size.width >= WIDE_FROM
        self.nodes.problem = self.problem
        titles = WIDE_TITLES if wide else TITLES
        self.nodes.show(titles, self.model.rows(wide=wide), empty=self.if_empty(EMPTY))
        is_known = self.model.name == self.subject and self.subject != ""
        self.pod_workers.title = f"Pod workers of {self.subject}" if self.subject else "Pod workers"
        self.pod_workers.problem = self._inside_problem
        rows = self.model.workers(self.ktui.summary.now) if is_known else []
        self.pod_workers.show(WORKER_TITLES, rows, empty=NO_PODS if is_known else ASKING if self.subject else NO_NODE)
        self._draw_detail(is_known)

    def _draw_detail(self, is_known: bool) -> None:
        detail = self.query_one(DetailPane)
        if not is_known:
            detail.show([Text(self._inside_problem, "dim")])
            return
        width, now = max(40, detail.scrollable_content_region.width), self.ktui.summary.now
        colours, pod = inks(self.app), self.pod_workers.key
        if self._of_pod and pod:
            parts, links = pod_parts(self.model, pod, now, width=width, colours=colours), [_pod_link(pod)]
        else:
            parts, links = node_parts(self.model, now, width=width, colours=colours), []
        links.append(Link("nodes", self.model.name))
        of = f"{self.model.name} {pod if self._of_pod else ''}"
        detail.show(parts, links=links, copied="\n".join(part.plain.rstrip() for part in parts), of=of)

    # -- keys

    def on_descendant_focus(self) -> None:
        """The detail is of what has the focus: a node, or one of its Pods."""
        if self.screen.focused is self.nodes.grid or self.screen.focused is self.pod_workers.grid:
            self._of_pod = self.screen.focused is self.pod_workers.grid
            self.mark(at_once=True)

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        is_node = message.grid is self.nodes.grid
        self.ktui.go_to(Link("nodes", message.key) if is_node else _pod_link(message.key))

    def action_to_node(self) -> None:
        self.nodes.grid.focus()

    def close_one(self) -> None:
        self._of_pod = False


def _pod_link(key: str) -> Link:
    namespace, _, name = key.partition("/")
    return Link("pods", name, namespace)
