"""Objects: every resource as the server's own table, with YAML, edit in place and delete."""

from __future__ import annotations

from typing import ClassVar

from rich.syntax import Syntax
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Static

from engine.api.errors import ApiError
from engine.api.types import GVR, PODS, Object
from ktui.feeds import objects as objects_feed
from ktui.models.object_table import ObjectTable
from ktui.screens.editor import Editor, editable_yaml
from ktui.screens.frame import FrameScreen
from ktui.widgets.dialogs import Question
from ktui.widgets.grid import Grid


class ObjectsScreen(FrameScreen):
    mode = "objects"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "yaml", "YAML"),
        Binding("e", "edit", "Edit"),
        Binding("d,delete", "delete", "Delete"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("w", "wide", "Wide"),
        Binding("escape", "back", "Back", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.table = ObjectTable(PODS)
        self._drawn_at = 0.0
        self._dirty = False

    def focus_body(self) -> None:
        self.query_one(Grid).focus()

    def compose_body(self) -> ComposeResult:
        with Horizontal():
            with Vertical():
                yield Static("", id="resource")
                yield Grid(id="objects")
                yield Input(placeholder="filter", id="filter")
            with VerticalScroll(id="detail"):
                yield Static("", id="yaml")

    def on_mount(self) -> None:
        self.query_one("#filter").display = False
        self.query_one("#detail").display = False
        self.set_interval(0.05, self._frame)
        self.query_one(Grid).focus()
        self.follow()

    # -- what is shown

    def show_resource(self, resource: GVR, *, namespaced: bool) -> None:
        """Show another resource."""
        self.table = ObjectTable(resource, namespaced=namespaced)
        self.query_one("#detail").display = False
        self.follow()

    @work(exclusive=True, group="objects", exit_on_error=False)
    async def follow(self) -> None:
        session = self.ktui.session
        async for problem in objects_feed.follow(session.client, session.world.clock, self.table, None):
            self._dirty = True
            self._say(problem)

    def _say(self, problem: str) -> None:
        head = Text.assemble((f" {self.table.resource.group_resource} ", "bold"), f" {len(self.table.rows)}")
        if self.table.filter:
            head.append(f"  /{self.table.filter}")
        if problem:
            head.append(f"  ✖ {problem}", "red")
        self.query_one("#resource", Static).update(head)

    def _frame(self) -> None:
        if not self._dirty:
            return
        self._dirty = False
        empty = f"No {self.table.resource.resource} here. Apply some with  :apply -f samples/web.yaml"
        self.query_one(Grid).show(self.table.titles, self.table.grid_rows(), empty=empty)

    # -- one object

    def _chosen(self) -> tuple[str | None, str] | None:
        """Namespace and name of the row under the cursor."""
        namespace, _, name = self.query_one(Grid).key.partition("/")
        return (namespace or None, name) if name else None

    async def _read(self) -> Object | None:
        chosen = self._chosen()
        if chosen is None:
            return None
        try:
            return await self.ktui.session.client.get(self.table.resource, chosen[1], namespace=chosen[0])
        except (ApiError, ConnectionError) as error:
            self.notify(str(error), severity="error", title=chosen[1])
            return None

    def on_grid_chosen(self, _: Grid.Chosen) -> None:
        self.action_yaml()

    def on_grid_moved(self, _: Grid.Moved) -> None:
        if self.query_one("#detail").display:
            self.action_yaml()

    @work(exclusive=True, group="yaml", exit_on_error=False)
    async def action_yaml(self) -> None:
        """Show the object under the cursor beside the table."""
        obj = await self._read()
        if obj is None:
            return
        self.query_one("#yaml", Static).update(
            Syntax(editable_yaml(obj), "yaml", background_color="default", word_wrap=False)
        )
        self.query_one("#detail").display = True
        self.add_class("detailed")

    @work(exclusive=True, group="edit", exit_on_error=False)
    async def action_edit(self) -> None:
        """Edit the object in place."""
        obj = await self._read()
        if obj is not None:
            await self.app.push_screen_wait(Editor(self.ktui.session.client, self.table.resource, obj))

    @work(exclusive=True, group="delete", exit_on_error=False)
    async def action_delete(self) -> None:
        """Delete the object, once that is confirmed."""
        chosen = self._chosen()
        if chosen is None:
            return
        namespace, name = chosen
        kind = self.table.resource.group_resource
        place = f" in namespace {namespace}" if namespace else ""
        answer = await self.app.push_screen_wait(
            Question(f"Delete {kind}/{name}{place}?", {"y": "Yes", "n": "No", "f": "Now, no grace"})
        )
        if answer not in ("y", "f"):
            return
        try:
            await self.ktui.session.client.delete(
                self.table.resource,
                name,
                namespace=namespace,
                propagation_policy="Background",
                grace_period_seconds=0 if answer == "f" else None,
            )
        except (ApiError, ConnectionError) as error:
            self.notify(str(error), severity="error", title=f"delete {name}")
        else:
            self.notify(f"{kind}/{name} deleted")

    # -- filter and width

    def action_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.table.filter = event.value
        self._dirty = True
        self._say("")

    def on_input_submitted(self, _: Input.Submitted) -> None:
        self.query_one(Grid).focus()

    def action_wide(self) -> None:
        self.table.wide = not self.table.wide
        self._dirty = True

    def action_back(self) -> None:
        """Leave the filter, then the detail."""
        field = self.query_one("#filter", Input)
        if field.display:
            field.value = ""
            field.display = False
        else:
            self.query_one("#detail").display = False
            self.remove_class("detailed")
        self.query_one(Grid).focus()
