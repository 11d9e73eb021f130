"""Store: every etcd key with its revisions, and the value under the cursor, now or at any revision before."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.console import Group, RenderableType
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Static

from engine.api.errors import ApiError
from ktui.feeds import store as store_feed
from ktui.models.keys import ROOT, TITLES, key_line, key_rows, key_tree, newer, older
from ktui.models.link import Link
from ktui.models.summary import ClusterSummary
from ktui.screens.frame import FrameScreen
from ktui.widgets import hop_details
from ktui.widgets.grid import Grid
from ktui.widgets.ink import inks
from ktui.widgets.syntax import yaml_text

LOOK_SECONDS = 0.5  # how often the list is read again while the store changes


class StoreScreen(FrameScreen):
    mode = "store"
    purpose = "Store: the keys of etcd as the API server writes them, each with its revisions and its value."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left_square_bracket",
            "older",
            "Older",
            key_display="[",
            tooltip="the value one revision before",
            id="store.older",
        ),
        Binding("right_square_bracket", "newer", "Newer", key_display="]", tooltip="one revision on", id="store.newer"),
        Binding("z", "fold_all", "Fold", tooltip="fold all keys, or unfold them", id="store.fold"),
        Binding("t", "go", "Object", tooltip="go to the object of the key", id="store.object"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._prefix = ROOT
        self._revision = 0  # of the list that is shown
        self._newest = 0
        self._by_change = False
        self._keys: list[Any] = []
        self._folded: set[str] = set()
        self._link: Link | None = None  # to the object of the key that is looked at
        self._shown_at = 0  # the revision of the value that is looked at; 0: the newest

    def compose_body(self) -> ComposeResult:
        with Horizontal():
            with Vertical():
                yield Static("", id="store-head")
                yield Grid(empty="No key begins with this.", id="keys")
                yield Input(placeholder="what keys begin with, such as pods/default", id="prefix", compact=True)
            with VerticalScroll(id="detail"):
                yield Static("", id="value")

    def on_mount(self) -> None:
        self.query_one("#prefix").display = False
        self.focus_body()
        self.refresh_keys()
        self.set_interval(LOOK_SECONDS, self._look)

    def focus_body(self) -> None:
        self.query_one(Grid).focus()

    # -- the keys

    def show_summary(self, summary: ClusterSummary) -> None:
        super().show_summary(summary)
        self._newest = summary.revision

    def _look(self) -> None:
        if self._newest != self._revision and self.is_current:
            self.refresh_keys()

    def resume(self) -> None:
        super().resume()
        self.refresh_keys()

    @work(exclusive=True, group="keys", exit_on_error=False)
    async def refresh_keys(self) -> None:
        try:
            answer = await store_feed.keys(self.ktui.session.client, self._prefix)
        except (ApiError, ConnectionError) as error:
            self._say_problem(error)
            return
        keys = answer["keys"]
        if self._by_change:
            keys = sorted(keys, key=lambda key: -key["modRevision"])
        self._revision = answer["revision"]
        self._keys = keys
        self._show_keys()
        more = f" of {answer['count']}" if answer.get("count", 0) > len(keys) else ""
        self.query_one("#store-head", Static).update(
            Text.assemble((f" {self._prefix}", "bold"), f"  {len(keys)}{more} keys at rev {self._revision}")
        )
        if not self._shown_at:
            self.show_value(self.query_one(Grid).key)

    def _show_keys(self) -> None:
        """As a tree; in the order of their changes, as a list."""
        if self._by_change:
            rows = key_rows(self._keys, self._revision)
        else:
            rows = key_tree(self._keys, self._revision, self._folded)
        self.query_one(Grid).show(TITLES, rows)

    def _say_problem(self, error: Exception) -> None:
        colour = inks(self.app).get("error", "")
        self.query_one("#store-head", Static).update(Text(f" ✖ {error}", colour))

    # -- the value

    def on_grid_moved(self, message: Grid.Moved) -> None:
        self._shown_at = 0
        self.show_value(message.key)

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        """Fold or unfold what has keys below it; a key's value gets the focus."""
        if message.key.endswith("/"):
            self._folded ^= {message.key}
            self._show_keys()
        else:
            self.query_one("#detail").focus()

    def action_fold_all(self) -> None:
        groups = {key["key"].rpartition("/")[0] + "/" for key in self._keys}
        self._folded = set() if self._folded >= groups else groups
        self._show_keys()

    def action_go(self) -> None:
        """To the object that the key holds."""
        link = self._link
        if link is not None:
            self.ktui.go_to(link)

    def action_sort(self) -> None:
        """By key, or the newest change first."""
        self._by_change = not self._by_change
        self.refresh_keys()

    def action_older(self) -> None:
        self.walk(older)

    def action_newer(self) -> None:
        self.walk(newer)

    @work(exclusive=True, group="value", exit_on_error=False)
    async def walk(self, where: Any) -> None:
        """Go to the value at another of the key's revisions."""
        client, key = self.ktui.session.client, self.query_one(Grid).key
        if not key or key.endswith("/"):
            return
        try:
            now = await store_feed.value(client, key)
            revisions = await store_feed.revisions(client, key, now["createRevision"])
            wanted = where(revisions, self._shown_at or now["modRevision"])
            if not wanted:
                self.notify("that is as far as it goes", timeout=1.5)
                return
            at = await store_feed.value(client, key, wanted)
            before_at = older(revisions, wanted)
            before = await store_feed.value(client, key, before_at) if before_at else None
        except (ApiError, ConnectionError) as error:
            self.ktui.complain(error, key.rpartition("/")[2])
            return
        self._shown_at = 0 if wanted == now["modRevision"] else wanted
        self._show(at, before, f"rev {wanted}, {len(revisions)} kept · [ older · ] newer")

    @work(exclusive=True, group="value", exit_on_error=False)
    async def show_value(self, key: str) -> None:
        self._link = None
        if not key or key.endswith("/"):
            self.query_one("#value", Static).update(Text("Enter folds these keys, z all", "dim") if key else "")
            return
        try:
            found = await store_feed.value(self.ktui.session.client, key)
        except (ApiError, ConnectionError) as error:
            self.query_one("#value", Static).update(Text(f"✖ {error}"))
            return
        self._show(found, None, "the newest · [ older")

    def _show(self, found: Any, before: Any, where: str) -> None:
        self._link = Link.of_object(found["value"])
        accent = inks(self.app).get("accent", "")
        parts: list[RenderableType] = [
            Text(found["key"], "bold"),
            Text(key_line(found), "dim"),
            Text(f"{where}\n", accent),
        ]
        if before is not None:
            parts += [
                Text(f"against rev {before['modRevision']}", "bold"),
                *hop_details.changes(before["value"], found["value"], inks(self.app)),
                Text(""),
            ]
        text = hop_details.dump(hop_details.shown_object(found["value"]))
        parts.append(yaml_text(text, inks(self.app)))
        self.query_one("#value", Static).update(Group(*parts))

    # -- the prefix

    def action_filter(self) -> None:
        field = self.query_one("#prefix", Input)
        field.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._prefix = ROOT + event.value
        self.refresh_keys()

    def on_input_submitted(self, _: Input.Submitted) -> None:
        self.focus_body()

    def action_escape(self) -> None:
        field = self.query_one("#prefix", Input)
        field.value = ""
        field.display = False
        self.focus_body()
