"""Objects: every resource as the server's own table, with YAML, edit in place, describe, logs and delete."""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from engine.api.errors import ApiError
from engine.api.types import GVR, NAMESPACES, PODS
from ktui.feeds import objects as objects_feed
from ktui.models.object_links import links_of
from ktui.models.object_table import ObjectTable
from ktui.models.summary import ClusterSummary
from ktui.models.trouble import ASKING
from ktui.screens.editor import Editor, editable_yaml
from ktui.screens.object_actions import ACTION_KEYS, ObjectActions
from ktui.screens.object_changes import Name
from ktui.widgets.detail_pane import DetailPane
from ktui.widgets.grid import Grid
from ktui.widgets.ground import Beside
from ktui.widgets.ink import inks
from ktui.widgets.syntax import yaml_text
from ktui.widgets.table_pane import TablePane

FRAME_SECONDS = 0.05
NAMESPACE_SECONDS = 1.0  # between two looks for a namespace in which there is nothing
MISSING_SECONDS = 2.0  # after which what one came for is said not to be there, if all is listed
INSIDE_SECONDS = 0.5  # between two readings of an object that changes while one looks at it
SORT_KEYS = {"N": "NAME", "P": "NAMESPACE", "A": "AGE", "R": "READY", "S": "STATUS", "T": "RESTARTS", "I": "IP"}


class ObjectsScreen(ObjectActions):
    mode = "objects"
    purpose = "Objects: any resource as kubectl lists it, live. Type :deploy, :svc, :no or a CRD's name for another."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yaml", "YAML", id="objects.yaml"),
        Binding("e", "edit", "Edit", id="objects.edit"),
        *ACTION_KEYS,
        Binding("t", "app.show_mode('tree')", "Tree", show=False, tooltip="workloads by owner", id="objects.tree"),
        Binding("w", "wide", "Wide", show=False, tooltip="all columns, as -o wide", id="objects.wide"),
        Binding("space", "mark", "Mark", show=False, tooltip="choose several, for one action", id="objects.mark"),
        Binding("ctrl+@", "mark_to", "Mark to here", show=False, key_display="^Space", id="objects.mark-to"),
        Binding("ctrl+backslash", "unmark", "Unmark all", show=False, key_display="^\\", id="objects.unmark"),
        *(
            Binding(key, f"sort_by('{title}')", f"Sort by {title}", show=False, id=f"objects.by-{title.lower()}")
            for key, title in SORT_KEYS.items()
        ),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.table = self._table_of(PODS, namespaced=True)
        self._is_dirty = False
        self._lit_until = 0.0
        self._second = ""
        self._fields = ""  # the field selector that the list was asked with
        self._wanted = ""  # the key that the cursor is to go to once it is there
        self._wanted_since = 0.0
        self._last_marked = ""
        self._gone = ""  # the namespace, where there is none of that name any more
        self._minded_at = 0.0  # when it was looked for
        self._read_at = 0.0  # when the inside was read, on the reader's clock

    def compose_body(self) -> ComposeResult:
        with Beside():
            yield TablePane(empty=ASKING, id="objects")
            yield DetailPane(id="detail")

    def on_mount(self) -> None:
        self.detail.display = False
        self.set_interval(FRAME_SECONDS, self._frame)
        self.focus_body()
        self.follow()

    def focus_body(self) -> None:
        self.grid.focus()

    @property
    def objects(self) -> TablePane:
        return self.query_one("#objects", TablePane)

    @property
    def grid(self) -> Grid:
        return self.objects.grid

    @property
    def detail(self) -> DetailPane:
        return self.query_one("#detail", DetailPane)

    # -- what is shown

    def _table_of(self, resource: GVR, *, namespaced: bool, wide: bool = False) -> ObjectTable:
        return ObjectTable(resource, namespaced=namespaced, wide=wide, model_now=lambda: self.ktui.summary.now)

    def show_resource(self, resource: GVR, *, namespaced: bool, key: str = "") -> None:
        """Show another resource, and put the cursor on an object of it where its key is given."""
        self._wanted, self._wanted_since = key, self.ktui.session.world.clock.monotonic()
        if resource != self.table.resource or not key:
            self.table = self._table_of(resource, namespaced=namespaced, wide=self.table.wide)
            self.detail.display = False
            self.objects.close_filter()
            self.objects.problem = ""
            self.follow()
        self._is_dirty = True

    def namespace_changed(self) -> None:
        if self.table.namespaced:
            self.show_resource(self.table.resource, namespaced=True)

    def on_table_pane_filtered(self, _: TablePane.Filtered) -> None:
        """Field selectors are the server's to apply: another one is another list."""
        if self.objects.view.filter(self.table.titles).fields != self._fields:
            self.follow()

    def redraw(self) -> None:
        super().redraw()
        if self.detail.display:
            self.action_yaml()

    def place(self) -> object:
        filter = self.objects.view.text
        return self.table.resource, self.table.namespaced, self.grid.key, self.ktui.namespace, filter

    def return_to(self, place: object) -> None:
        match place:
            case (GVR() as resource, bool() as namespaced, str() as key, str() as namespace, str() as filter):
                self.ktui.use_namespace(namespace)
                self.show_resource(resource, namespaced=namespaced, key=key)
                self.objects.set_filter(filter)

    @work(exclusive=True, group="objects", exit_on_error=False)
    async def follow(self) -> None:
        session = self.ktui.session
        namespace = (self.ktui.namespace or None) if self.table.namespaced else None
        self._fields = fields = self.objects.view.filter(self.table.titles).fields
        async for problem in objects_feed.follow(session.client, session.world.clock, self.table, namespace, fields):
            self.objects.problem, self._is_dirty = problem, True

    def show_summary(self, summary: ClusterSummary) -> None:
        super().show_summary(summary)
        if summary.clock_now != self._second:  # ages tick
            self._second, self._is_dirty = summary.clock_now, True

    def _frame(self) -> None:
        """Draw again what changed, at most twenty times a second; what was lit goes out after a second."""
        clock = self.ktui.session.world.clock
        now = clock.monotonic()
        if not self.is_current or not (self._is_dirty or 0 < self._lit_until < now) or self.ktui.haste.is_under_way():
            return
        self._lit_until = 0.0 if not self._is_dirty else now + 1.0
        self._is_dirty = False
        self.table.now = now
        namespace = self.ktui.namespace if self.table.namespaced else ""
        if namespace and not self.table.rows.total and now - self._minded_at >= NAMESPACE_SECONDS:
            self.mind_namespace(namespace)
        place = f" in {namespace}" if namespace else ""
        self.objects.title = f"{self.table.resource.group_resource}{place}"
        is_coming = self.table.is_listing and self.table.columns and not self.objects.problem
        marked = f"◆ {len(self._marked_and_shown())} marked" if self.table.marked else ""
        self.objects.note = "  ".join(part for part in (marked, "◐ more are coming" if is_coming else "") if part)
        self.objects.show(self.table.titles, self.table.rows, empty=self._empty(namespace))
        if self._wanted in self.table:
            self._go_to_wanted()
        elif self._wanted and not is_coming and self.table.columns and now - self._wanted_since >= MISSING_SECONDS:
            name = self._wanted.removeprefix("/")
            self._wanted = ""
            told = f"{self.table.resource.group_resource} {name} is not there: it may have been deleted"
            self.notify(told, severity="warning", markup=False)
        if self.detail.display and self._is_inside_old(now):
            self.action_yaml()

    def _empty(self, namespace: str) -> str:
        """What is said where there are no rows."""
        if not self.table.columns:
            return ASKING
        if namespace and namespace == self._gone:
            return f'✖ There is no namespace "{namespace}" any more. 0 shows all namespaces, n chooses one.'
        return f"No {self.table.resource.resource} here. a creates some from a sample, or  :apply -f samples/web.yaml"

    @work(exclusive=True, group="mind namespace", exit_on_error=False)
    async def mind_namespace(self, name: str) -> None:
        """One that is empty may have been deleted under the eyes of who looks at it."""
        self._minded_at = self.ktui.session.world.clock.monotonic()
        gone = ""
        try:
            await self.ktui.session.client.get(NAMESPACES, name)
        except ApiError as error:
            gone = name if error.code == 404 else ""  # who may not know of it is not told so
        except ConnectionError:
            return
        if gone != self._gone:
            self._gone, self._is_dirty = gone, True

    def _is_inside_old(self, now: float) -> bool:
        """Whether the object that one looks into has changed since it was read."""
        return self.table.changed.get(self.grid.key, 0.0) > self._read_at and now - self._read_at >= INSIDE_SECONDS

    def _go_to_wanted(self) -> None:
        """The object that one came for is under the cursor, whatever was filtered, and its inside is shown."""
        if self.table.rows.index_of(self._wanted) is None:
            self.objects.close_filter()
        self.grid.move_to(self._wanted)
        if self.grid.key == self._wanted:
            self._wanted = ""
            self.action_yaml()

    # -- one object

    @property
    def resource(self) -> GVR:
        return self.table.resource

    def chosen(self) -> Name | None:
        """Namespace and name of the row under the cursor."""
        namespace, _, name = self.grid.key.partition("/")
        return (namespace or None, name) if name else None

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        self.action_yaml()
        self.detail.focus()

    def on_grid_moved(self, _: Grid.Moved) -> None:
        if self.detail.display:
            self.action_yaml()

    @work(exclusive=True, group="yaml", exit_on_error=False)
    async def action_yaml(self) -> None:
        """Show the object under the cursor beside the table, and what it belongs to as links."""
        self._read_at = self.ktui.session.world.clock.monotonic()
        if self.chosen() is None:
            self.detail.display = False
            return
        obj = await self.read()
        if obj is None:
            return
        text = editable_yaml(obj)
        of = f"{self.resource.group_resource} {self.grid.key}"
        self.detail.show([yaml_text(text, inks(self.app))], links=links_of(obj), copied=text, of=of)
        self.detail.display = True

    def close_one(self) -> None:
        """What was marked, then the inside."""
        if self.table.marked:
            self.action_unmark()
        else:
            self.detail.display = False

    # -- several

    def targets(self) -> list[Name]:
        """What is marked and seen: nothing is done to what a filter hides."""
        marked = [key.partition("/") for key in self._marked_and_shown()]
        return [(namespace or None, name) for namespace, _, name in marked] or super().targets()

    def _marked_and_shown(self) -> list[str]:
        return [key for key in sorted(self.table.marked) if self.table.rows.index_of(key) is not None]

    def done(self) -> None:
        self.action_unmark()

    def action_mark(self) -> None:
        """Mark what is under the cursor, or take the mark away; and go on to the next."""
        if self.grid.key:
            self.table.marked ^= {self.grid.key}
            self._last_marked = self.grid.key
            self.grid.action_move(1)
            self._is_dirty = True

    def action_mark_to(self) -> None:
        """Mark all from the row that was marked last to the cursor."""
        rows, here = self.table.rows, self.table.rows.index_of(self.grid.key)
        last = rows.index_of(self._last_marked)
        if here is not None:
            first = here if last is None else last
            self.table.marked |= {rows.key_at(at) for at in range(min(first, here), max(first, here) + 1)}
            self._last_marked = self.grid.key
            self._is_dirty = True

    def action_unmark(self) -> None:
        self.table.marked.clear()
        self._is_dirty = True

    # -- order

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "sort_by":
            return self.is_mounted and parameters[0] in self.table.titles
        return super().check_action(action, parameters)

    def action_sort_by(self, title: str) -> None:
        self.objects.sort_by(title)

    @work(exclusive=True, group="edit", exit_on_error=False)
    async def action_edit(self) -> None:
        """Edit the object in place."""
        obj = await self.read()
        if obj is not None:
            await self.app.push_screen_wait(Editor(self.ktui.session.client, self.table.resource, obj))

    # -- width

    def action_wide(self) -> None:
        self.table.wide = not self.table.wide
        self._is_dirty = True
