"""Tree: workloads under their owners, down to the containers; asked again while it is looked at."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from engine.api.errors import ApiError
from engine.api.types import EVENTS, Object
from ktui.models.link import Link
from ktui.models.object_links import links_of
from ktui.models.owner_tree import KINDS, TITLES, OwnerTree
from ktui.models.trouble import ASKING
from ktui.screens.polled import PolledScreen
from ktui.widgets.detail_pane import DetailPane
from ktui.widgets.ground import Beside
from ktui.widgets.ink import inks
from ktui.widgets.owned_details import event_parts, owned_parts
from ktui.widgets.table_pane import TablePane

TITLE = "workloads by owner"
EMPTY = "No workloads here. Create some:  :apply -f samples/web.yaml"
MOST = 500  # objects of a kind; what is beyond is counted


class TreeScreen(PolledScreen):
    mode = "tree"
    period = 0.5
    purpose = (
        "Tree: Deployments, their ReplicaSets, their Pods, their containers; beside it why the object under the cursor "
        "is as it is. ↻3 is restarted three times. Enter shows the object."
    )
    DEFAULT_CSS = """
    TreeScreen #owned { width: 36%; }
    TreeScreen #owned > .detail-text { width: 1fr; }
    TreeScreen.narrow #owned { width: 100%; height: 38%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "app.show_mode('objects')", "Flat", tooltip="the objects as a flat table", id="tree.flat"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._tree = OwnerTree({})
        self._only = ""  # the kind whose objects alone are shown, with what they own
        self._links: dict[str, Link] = {}
        self._more = 0
        self._second = ""
        self._events: tuple[str, list[Object]] = ("", [])  # of the object under the cursor, by its uid

    def compose_body(self) -> ComposeResult:
        with Beside():
            yield TablePane(TITLE, empty=ASKING, id="tree")
            yield DetailPane(id="owned")

    def focus_body(self) -> None:
        self.query_one(TablePane).grid.focus()

    def namespace_changed(self) -> None:
        """What is known is of another one."""
        self._tree, self._links, self._more = OwnerTree({}), {}, 0
        self.hurry()

    def show_only(self, kind: str) -> None:
        """The tree below the objects of one kind; "" for all."""
        if kind and kind not in KINDS:
            self.notify(f"the tree shows {', '.join(KINDS)}", severity="warning", timeout=3)
        else:
            self._only = kind
            self.mark(at_once=True)

    def close_one(self) -> None:
        self.show_only("")

    def place(self) -> object:
        return self.ktui.namespace, self._only, super().place()

    def return_to(self, place: object) -> None:
        match place:
            case (str() as namespace, str() as only, key):
                self.ktui.use_namespace(namespace)
                self.show_only(only)
                super().return_to(key)

    async def ask(self) -> Any:
        """Kinds that this person may not list are left out; where that is all of them, it is said."""
        answers = await asyncio.gather(*(self._list(kind) for kind in KINDS))
        refused = [answer for answer in answers if isinstance(answer, ApiError)]
        if len(refused) == len(answers):
            raise refused[0]
        return [([], 0) if isinstance(answer, ApiError) else answer for answer in answers]

    async def _list(self, kind: str) -> tuple[list[Object], int] | ApiError:
        """The objects of a kind, and how many more there are; none of a kind that the server does not have.

        Where listing them is forbidden, the refusal.
        """
        from engine.kubectl.errors import CommandError

        client = self.ktui.session.client
        try:
            resource = await self.ktui.discovery.resolve(client, kind)
            query = {"limit": [str(MOST)]}
            listed = await client.request("GET", resource.gvr.path(self.ktui.namespace or None), query=query)
        except CommandError:
            return [], 0
        except ApiError as error:
            if error.code == 403:
                return error
            raise
        return listed.get("items") or [], listed.get("metadata", {}).get("remainingItemCount", 0)

    def take(self, value: Any) -> None:
        self._tree = OwnerTree({kind: objects for kind, (objects, _) in zip(KINDS, value, strict=True)})
        self._links = self._tree.links()
        self._more = sum(more for _, more in value)

    @property
    def subject(self) -> str:
        return self.query_one(TablePane).key.partition("/")[0]

    async def ask_inside(self, subject: str) -> Any:
        """The Events about one object."""
        found = self._tree.find(subject)
        if found is None:
            return []
        query = {"fieldSelector": [f"involvedObject.uid={subject}"], "limit": [str(MOST)]}
        namespace = found[1]["metadata"].get("namespace")
        listed = await self.ktui.session.client.request("GET", EVENTS.path(namespace), query=query)
        return listed.get("items") or []

    def take_inside(self, subject: str, value: Any, problem: str) -> None:
        if value is not None:
            self._events = subject, value

    def draw(self) -> None:
        pane = self.query_one(TablePane)
        pane.problem = self.problem
        pane.note = f"and {self._more} more: n chooses a namespace, t lists all" if self._more else ""
        place = f" in {self.ktui.namespace}" if self.ktui.namespace else ""
        pane.title = (f"{self._only} and what they own" if self._only else TITLE) + place
        rows = self._tree.rows(self.ktui.summary.now, self._only)
        pane.show(TITLES, rows, empty=self.if_empty(EMPTY))
        self._draw_detail(pane.key)

    def _draw_detail(self, key: str) -> None:
        detail, found = self.query_one(DetailPane), self._tree.find(key)
        if found is None:
            detail.show([])
            return
        kind, obj = found
        now, colours = self.ktui.summary.now, inks(self.app)
        parts = owned_parts(kind, obj, now, colours)
        of, events = self._events
        if of == self.subject:
            parts += event_parts(events, now, colours)
        detail.show(parts, links=links_of(obj), copied="\n".join(part.plain for part in parts), of=key)

    def show_summary(self, summary: Any) -> None:
        super().show_summary(summary)
        if summary.clock_now != self._second:  # ages tick
            self._second = summary.clock_now
            self.mark()

    def link_of(self, key: str) -> Link | None:
        return self._links.get(key.partition("/")[0])
