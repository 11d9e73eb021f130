"""Edit an object in place: YAML in, the server's own validation out, and a way on after a conflict."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from rich.console import Group, RenderableType
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from engine.api.errors import ApiError
from engine.api.types import GVR, Object
from engine.api.yaml_text import twice_in_yaml, unmarshal_errors
from engine.client import Client
from engine.kubectl.yaml import YamlError, dump, load
from ktui.guard import Guarded
from ktui.models.yaml_lines import field_in, line_in, line_of
from ktui.widgets import hop_details
from ktui.widgets.dialogs import Question
from ktui.widgets.ink import inks
from ktui.widgets.key_line import KeyLine
from ktui.widgets.yaml_area import YamlArea

_GO_S_PLACE = re.compile(r"^yaml: (?:line \d+: )?")  # which counts lines from another one at times
ANOTHER = "At least one of apiVersion, kind and name was changed"  # as kubectl edit says it
ELSEWHERE = "the namespace of the provided object does not match the namespace sent on the request"  # and the server
CONFLICT = (
    "Somebody else changed it. Ctrl+R takes the server's version and drops this text; Ctrl+O puts this text over it."
)


class Editor(Guarded, ModalScreen[bool]):
    """Returns whether the object was saved."""

    DEFAULT_CSS = """
    Editor { align: center middle; }
    Editor > Vertical { width: 92%; height: 92%; border: round $primary; background: $surface; }
    Editor #problem { height: auto; max-height: 8; color: $error; padding: 0 1; display: none; }
    Editor #check { height: auto; max-height: 50%; padding: 0 1; display: none; border-top: hkey $panel; }
    Editor #check:focus { border-top: hkey $primary; }
    Editor #changes { height: auto; }
    Editor #problem.-said { display: block; }
    Editor TextArea, Editor TextArea:focus { height: 1fr; border: none; padding: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save", priority=True),
        Binding("ctrl+t", "check", "Try", priority=True, tooltip="what the server would make of it, as a diff"),
        Binding("ctrl+r", "reload", "Take the server's", priority=True),
        Binding("ctrl+o", "overwrite", "Overwrite", priority=True),
        Binding("f6", "other_half", "Diff", priority=True, tooltip="to the diff, which scrolls, and back to the text"),
        Binding("escape", "leave", "Leave", priority=True),
        Binding("f9", "app.toggle_pause", "Pause", show=False, id="clock.pause"),
    ]

    def __init__(self, client: Client, resource: GVR, obj: Object) -> None:
        super().__init__()
        self._client = client
        self._resource = resource
        self._object_name: str = obj["metadata"]["name"]
        self._namespace: str | None = obj["metadata"].get("namespace")
        self._original = editable_yaml(obj)

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            place = f"  namespace {self._namespace}" if self._namespace else ""
            box.border_title = f"edit {self._resource.group_resource}/{self._object_name}{place}"
            yield YamlArea.code_editor(self._original, theme="css", id="text")
            with VerticalScroll(id="check"):
                yield Static("", id="changes")
            yield Static("", id="problem", markup=False)
            yield KeyLine()

    def on_mount(self) -> None:
        self.text_area.cursor_blink = False
        self.text_area.focus()

    @property
    def text_area(self) -> TextArea:
        return self.query_one("#text", TextArea)

    def _say(self, problem: str) -> None:
        check = self.query_one("#check", VerticalScroll)
        if check.has_focus:
            self.text_area.focus()
        check.display = False
        self.refresh_bindings()
        said = self.query_one("#problem", Static)
        said.update(problem)
        said.set_class(bool(problem), "-said")

    def _point_at(self, line: int | None, column: int = 0) -> None:
        if line is not None:
            self.text_area.move_cursor((line, column), center=True)

    # -- saving

    def _parsed(self) -> dict[str, Any] | None:
        """The text as an object; None, and said where, if it is not one."""
        try:
            edited = load(self.text_area.text)
        except YamlError as error:
            where = f" at line {error.line}, column {error.column}" if error.line else ""
            self._say(f"✖ not YAML{where}: {_GO_S_PLACE.sub('', str(error))}")
            if error.line:
                self._point_at(error.line - 1, error.column - 1)
            return None
        if not isinstance(edited, dict) or not isinstance(edited.get("metadata"), dict):
            self._say("✖ this is not an object: it has no metadata")
            return None
        return edited if self._has_each_key_once() and self._is_still_this(edited) else None

    def _is_still_this(self, edited: dict[str, Any]) -> bool:
        """Another name would write another object. What has no namespace stays in its own, as with kubectl edit."""
        metadata = edited["metadata"]
        if self._namespace and not metadata.get("namespace"):
            metadata["namespace"] = self._namespace
        original = load(self._original)
        for field, before, after in (
            ("apiVersion", original["apiVersion"], edited.get("apiVersion")),
            ("kind", original["kind"], edited.get("kind")),
            ("metadata.name", self._object_name, metadata.get("name")),
            ("metadata.namespace", self._namespace, metadata.get("namespace")),
        ):
            if before != after:
                self._say(f"✖ {ELSEWHERE if field == 'metadata.namespace' else ANOTHER}")
                self._point_at(line_of(self.text_area.text, field))
                return False
        return True

    def _has_each_key_once(self) -> bool:
        """A key that comes again would silently win: refused as kubectl's strict decoding refuses it."""
        again = twice_in_yaml(self.text_area.text)
        if again:
            self._say(f"✖ strict decoding error: {unmarshal_errors(again)}")
            self._point_at(line_in(again[0]))
        return not again

    @work(exclusive=True, exit_on_error=False)
    async def action_save(self) -> None:
        edited = self._parsed()
        if edited is None:
            return
        if self.text_area.text == self._original:
            self._say("nothing changed: Esc leaves")
            return
        await self._send(edited)

    @work(exclusive=True, exit_on_error=False)
    async def action_overwrite(self) -> None:
        """Save this text over whatever the server has."""
        edited = self._parsed()
        if edited is None:
            return
        try:
            newest = await self._read()
        except (ApiError, ConnectionError) as error:
            self._say(f"✖ {error}")
            return
        edited["metadata"]["resourceVersion"] = newest["metadata"]["resourceVersion"]
        await self._send(edited)

    @work(exclusive=True, exit_on_error=False)
    async def action_check(self) -> None:
        """A dry run on the server: defaults, admission and validation included; what would change is shown."""
        edited = self._parsed()
        if edited is None:
            return
        try:
            before = await self._read()
            with self._told_of_time():
                after = await self._client.update(self._resource, edited, dry_run=True, field_validation="Strict")
        except ApiError as error:
            self._refused(error)
        except (ConnectionError, KeyError) as error:
            self._say(f"✖ {error}")
        else:
            self._say("")
            changes = Group(*hop_details.changes(_less_versions(before), _less_versions(after), inks(self.app)))
            self._say_changes("the server would take this; Ctrl+S sends it", changes)

    def _say_changes(self, title: str, changes: RenderableType) -> None:
        """A diff, below the text."""
        self.query_one("#changes", Static).update(Group(Text(title, "bold"), changes))
        check = self.query_one("#check", VerticalScroll)
        check.display = True
        check.scroll_home(animate=False)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is no way to a diff that is not shown."""
        return action != "other_half" or bool(self.query("#check") and self.query_one("#check").display)

    def action_other_half(self) -> None:
        check = self.query_one("#check", VerticalScroll)
        (self.text_area if check.has_focus else check).focus()

    async def _say_theirs(self) -> None:
        """What somebody else changed since this was read, for who has to choose between the two."""
        try:
            newest = await self._read()
        except (ApiError, ConnectionError):
            return  # there is nothing left to choose from
        theirs = hop_details.changes(_less_versions(load(self._original)), _less_versions(newest), inks(self.app))
        self._say_changes("what was changed meanwhile", Group(*theirs))

    async def _send(self, edited: dict[str, Any]) -> None:
        try:
            with self._told_of_time():
                await self._client.update(self._resource, edited, field_validation="Strict")
        except ApiError as error:
            self._refused(error)
            if error.code == 409:
                await self._say_theirs()
        except (ConnectionError, KeyError) as error:
            self._say(f"✖ {error}")
        else:
            self.app.notify(f"{self._resource.group_resource}/{self._object_name} edited", timeout=2)
            self.dismiss(True)

    def _told_of_time(self) -> AbstractContextManager[None]:
        from ktui.app import KtuiApp

        assert isinstance(self.app, KtuiApp)
        return self.app.told_of_time()

    def _refused(self, error: ApiError) -> None:
        self._say(f"✖ {error.code} {error.reason}: {error.message}" + (f"\n{CONFLICT}" if error.code == 409 else ""))
        self._point_at(self._line_of(error))

    def _line_of(self, error: ApiError) -> int | None:
        """The line that the error is about."""
        causes = (error.status.get("details") or {}).get("causes") or ()
        fields = [cause.get("field", "") for cause in causes] + [field_in(error.message)]
        lines = (line_of(self.text_area.text, field) for field in fields if field)
        return next((line for line in lines if line is not None), None)

    async def _read(self) -> Object:
        return await self._client.get(self._resource, self._object_name, namespace=self._namespace)

    @work(exclusive=True, exit_on_error=False)
    async def action_reload(self) -> None:
        """Begin again with the server's version."""
        try:
            self._original = editable_yaml(await self._read())
        except (ApiError, ConnectionError) as error:
            self._say(f"✖ {error}")
            return
        self.text_area.load_text(self._original)
        self._say("")

    def copy_or_leave(self) -> None:
        """Copy, as Ctrl+C does in any text; without a selection leave as Esc does, which loses nothing unasked."""
        if self.text_area.selected_text:
            self.text_area.action_copy()
        else:
            self.action_leave()

    @work(exclusive=True, group="leave", exit_on_error=False)
    async def action_leave(self) -> None:
        if self.text_area.text != self._original:
            question = Question("Leave without saving?", {"y": "Yes, drop it", "n": "No"}, focus="n")
            if await self.app.push_screen_wait(question) != "y":
                return
        self.dismiss(False)


def _less_versions(obj: Object) -> Object:
    """Without what is another after every write, or after every change."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in ("generation", "resourceVersion")}
    return {**obj, "metadata": metadata}


def editable_yaml(obj: Object) -> str:
    """The object as kubectl shows it, less managedFields; its resourceVersion is kept for the compare-and-swap."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return dump({**obj, "metadata": metadata})
