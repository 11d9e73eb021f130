"""Store: every etcd key with its revisions, and the value under the cursor."""

from __future__ import annotations

from typing import Any, ClassVar

import orjson
from rich.syntax import Syntax
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Static

from engine.api.errors import ApiError
from ktui.models.keys import TITLES, key_rows
from ktui.models.summary import ClusterSummary
from ktui.screens.frame import FrameScreen
from ktui.widgets.grid import Grid

ROOT = "/registry/"
MOST = 2_000


class StoreScreen(FrameScreen):
    mode = "store"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Prefix", key_display="/"),
        Binding("escape", "back", "Back", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._prefix = ROOT
        self._revision = -1

    def focus_body(self) -> None:
        self.query_one(Grid).focus()

    def compose_body(self) -> ComposeResult:
        with Horizontal():
            with Vertical():
                yield Static("", id="store-head")
                yield Grid(empty="No key has this prefix.", id="keys")
                yield Input(placeholder="prefix under /registry/, such as pods/default", id="prefix")
            with VerticalScroll(id="detail"):
                yield Static("", id="value")

    def on_mount(self) -> None:
        self.query_one("#prefix").display = False
        self.query_one(Grid).focus()
        self.refresh_keys()

    def show_summary(self, summary: ClusterSummary) -> None:
        super().show_summary(summary)
        if summary.revision != self._revision:
            self._revision = summary.revision
            self.refresh_keys()

    @work(exclusive=True, group="keys", exit_on_error=False)
    async def refresh_keys(self) -> None:
        answer = await self._fetch("keys", {"prefix": [self._prefix], "limit": [str(MOST)]})
        if answer is None:
            return
        keys = answer["keys"]
        self.query_one(Grid).show(TITLES, key_rows(keys, self._revision))
        more = f" of {answer['count']}" if answer.get("count", 0) > len(keys) else ""
        self.query_one("#store-head", Static).update(
            Text.assemble((f" {self._prefix} ", "bold"), f"{len(keys)}{more} keys at rev {answer['revision']}")
        )

    async def _fetch(self, what: str, query: dict[str, list[str]]) -> Any:
        try:
            return await self.ktui.session.client.request("GET", f"/debug/ktui/store/{what}", query=query)
        except (ApiError, ConnectionError) as error:
            self.query_one("#store-head", Static).update(Text(f" ✖ {error}", "red"))
            return None

    def on_grid_moved(self, message: Grid.Moved) -> None:
        self.show_value(message.key)

    @work(exclusive=True, group="value", exit_on_error=False)
    async def show_value(self, key: str) -> None:
        if not key:
            return
        answer = await self._fetch("value", {"key": [key]})
        if answer is None:
            return
        text = orjson.dumps(answer["value"], option=orjson.OPT_INDENT_2).decode()
        self.query_one("#value", Static).update(Syntax(text, "json", background_color="default", word_wrap=True))

    def action_filter(self) -> None:
        field = self.query_one("#prefix", Input)
        field.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._prefix = ROOT + event.value
        self.refresh_keys()

    def on_input_submitted(self, _: Input.Submitted) -> None:
        self.query_one(Grid).focus()

    def action_back(self) -> None:
        field = self.query_one("#prefix", Input)
        field.value = ""
        field.display = False
        self.query_one(Grid).focus()
