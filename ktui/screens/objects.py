"""Objects: every resource as the server's own table, with YAML, edit in place, describe, logs and delete."""

from __future__ import annotations

from typing import ClassVar

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
from ktui.models.summary import ClusterSummary
from ktui.screens.editor import Editor, editable_yaml
from ktui.screens.frame import FrameScreen
from ktui.widgets.dialogs import Question
from ktui.widgets.grid import Grid
from ktui.widgets.ink import inks
from ktui.widgets.syntax import yaml_text

FRAME_SECONDS = 0.05
IDLE_SHARE = 5  # times what a frame took, until the next


class ObjectsScreen(FrameScreen):
    mode = "objects"
    purpose = "Objects: any resource as kubectl lists it, live. Type :deploy, :svc, :nodes or a CRD's name for another."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yaml", "YAML"),
        Binding("i", "describe", "Describe"),
        Binding("e", "edit", "Edit"),
        Binding("d,delete", "delete", "Delete"),
        Binding("l", "logs", "Logs", show=False, tooltip="what a Pod prints, as it prints it"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("o", "sort", "Sort", show=False, tooltip="sort by the next column"),
        Binding("O", "reverse", "Reverse the order", show=False),
        Binding("w", "wide", "Wide", show=False, tooltip="all columns, as -o wide"),
        Binding("escape", "back", "Back: leave the filter, then the detail", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.table = ObjectTable(PODS)
        self._is_dirty = False
        self._lit_until = 0.0
        self._next_frame = 0.0
        self._second = ""
        self._problem = ""

    def compose_body(self) -> ComposeResult:
        with Horizontal():
            with Vertical():
                yield Static("", id="resource")
                yield Grid(id="objects")
                yield Input(placeholder="rows with this text in any column", id="filter", compact=True)
            with VerticalScroll(id="detail"):
                yield Static("", id="yaml")

    def on_mount(self) -> None:
        self.query_one("#filter").display = False
        self.query_one("#detail").display = False
        self.set_interval(FRAME_SECONDS, self._frame)
        self.focus_body()
        self.follow()

    def focus_body(self) -> None:
        self.grid.focus()

    @property
    def grid(self) -> Grid:
        return self.query_one("#objects", Grid)

    # -- what is shown

    def show_resource(self, resource: GVR, *, namespaced: bool) -> None:
        """Show another resource."""
        self.table = ObjectTable(resource, namespaced=namespaced, wide=self.table.wide)
        self.query_one("#detail").display = False
        self.query_one("#filter", Input).value = ""
        self._problem, self._is_dirty = "", True
        self.follow()

    @work(exclusive=True, group="objects", exit_on_error=False)
    async def follow(self) -> None:
        session = self.ktui.session
        async for problem in objects_feed.follow(session.client, session.world.clock, self.table, None):
            self._problem, self._is_dirty = problem, True

    def show_summary(self, summary: ClusterSummary) -> None:
        super().show_summary(summary)
        if summary.clock_now != self._second:  # ages tick
            self._second, self._is_dirty = summary.clock_now, True

    def _frame(self) -> None:
        """Draw again what changed, at most twenty times a second; what was lit goes out after a second."""
        clock = self.ktui.session.world.clock
        now = clock.monotonic()
        if now < self._next_frame or not self.is_active or not (self._is_dirty or 0 < self._lit_until < now):
            return
        self._lit_until = 0.0 if not self._is_dirty else now + 1.0
        self._is_dirty = False
        empty = f"No {self.table.resource.resource} here. Apply some:  :apply -f samples/web.yaml"
        if not self.table.columns:
            empty = "…" if not self._problem else ""
        rows = self.table.grid_rows(model_now=self.ktui.summary.now, now=now)
        self.grid.show(self.table.titles, rows, empty=empty)
        self._say(len(rows))
        self._next_frame = now + IDLE_SHARE * (clock.monotonic() - now)  # a long table is drawn less often

    def _say(self, shown: int) -> None:
        of = f" of {len(self.table.rows)}" if shown != len(self.table.rows) else ""
        head = Text.assemble((f" {self.table.resource.group_resource}", "bold"), f"  {shown}{of}")
        if self.table.filter:
            head.append(f"  /{self.table.filter}", inks(self.app).get("accent", ""))
        if self._problem:
            head.append(f"  ✖ {self._problem}", inks(self.app).get("error", ""))
        self.query_one("#resource", Static).update(head)

    # -- one object

    def _chosen(self) -> tuple[str | None, str] | None:
        """Namespace and name of the row under the cursor."""
        namespace, _, name = self.grid.key.partition("/")
        return (namespace or None, name) if name else None

    async def _read(self) -> Object | None:
        chosen = self._chosen()
        if chosen is None:
            return None
        try:
            return await self.ktui.session.client.get(self.table.resource, chosen[1], namespace=chosen[0])
        except (ApiError, ConnectionError) as error:
            self.ktui.complain(error, chosen[1])
            return None

    def on_grid_chosen(self, _: Grid.Chosen) -> None:
        self.action_yaml()
        self.query_one("#detail").focus()

    def on_grid_moved(self, _: Grid.Moved) -> None:
        if self.query_one("#detail").display:
            self.action_yaml()

    @work(exclusive=True, group="yaml", exit_on_error=False)
    async def action_yaml(self) -> None:
        """Show the object under the cursor beside the table."""
        obj = await self._read()
        if obj is None:
            return
        text = editable_yaml(obj)
        self.query_one("#yaml", Static).update(yaml_text(text, inks(self.app)))
        self.query_one("#detail").display = True

    @work(exclusive=True, group="edit", exit_on_error=False)
    async def action_edit(self) -> None:
        """Edit the object in place."""
        obj = await self._read()
        if obj is not None:
            await self.app.push_screen_wait(Editor(self.ktui.session.client, self.table.resource, obj))

    def _kubectl(self, *words: str) -> None:
        """One of kubectl's commands on the object under the cursor."""
        chosen = self._chosen()
        if chosen is not None:
            place = ("-n", chosen[0]) if chosen[0] else ()
            argv = tuple(chosen[1] if word == "NAME" else word for word in words)
            self.ktui.run_kubectl((*argv, *place), " ".join((*argv, *place)))

    def action_describe(self) -> None:
        self._kubectl("describe", self.table.resource.group_resource, "NAME")

    def action_logs(self) -> None:
        if self.table.resource == PODS:
            self._kubectl("logs", "NAME", "--all-containers", "-f")
        else:
            self.notify("logs are a Pod's: :pods lists them", severity="warning", timeout=3)

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
            Question(f"Delete {kind}/{name}{place}?", {"y": "Yes", "n": "No", "f": "Now, no grace"}, focus="n")
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
            self.ktui.complain(error, f"delete {name}")
        else:
            self.notify(f"{kind}/{name} deleted", markup=False)

    # -- filter, order and width

    def action_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.table.filter = event.value
        self._is_dirty = True

    def on_input_submitted(self, _: Input.Submitted) -> None:
        self.focus_body()

    def action_sort(self) -> None:
        self.table.sort_by_next()
        self._is_dirty = True

    def action_reverse(self) -> None:
        self.table.descending = not self.table.descending
        self._is_dirty = True

    def action_wide(self) -> None:
        self.table.wide = not self.table.wide
        self._is_dirty = True

    def action_back(self) -> None:
        field = self.query_one("#filter", Input)
        if field.display:
            field.value = ""
            field.display = False
        else:
            self.query_one("#detail").display = False
        self.focus_body()
