"""Edit an object in place: YAML in, the server's own validation out, and a way on after a conflict."""

from __future__ import annotations

from typing import ClassVar

import yaml
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Static, TextArea

from engine.api.errors import ApiError
from engine.api.types import GVR, Object
from engine.client import Client


class Editor(ModalScreen[bool]):
    """Returns whether the object was saved."""

    DEFAULT_CSS = """
    Editor { align: center middle; }
    Editor > Vertical { width: 90%; height: 90%; border: round $primary; background: $surface; }
    Editor #problem { height: auto; max-height: 8; color: $error; padding: 0 1; }
    Editor TextArea { height: 1fr; border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save", priority=True),
        Binding("ctrl+r", "reload", "Take the server's", priority=True),
        Binding("escape", "leave", "Leave"),
    ]

    def __init__(self, client: Client, resource: GVR, obj: Object) -> None:
        super().__init__()
        self._client = client
        self._resource = resource
        self._original = obj

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            metadata = self._original["metadata"]
            box.border_title = f"{self._resource.group_resource}/{metadata['name']}"
            yield TextArea.code_editor(editable_yaml(self._original), language="yaml", id="text")
            yield Static("", id="problem", markup=False)
            yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()

    def _say(self, problem: str) -> None:
        self.query_one("#problem", Static).update(problem)

    @work(exclusive=True, exit_on_error=False)
    async def action_save(self) -> None:
        text = self.query_one(TextArea)
        try:
            edited = yaml.safe_load(text.text)
        except yaml.YAMLError as error:
            self._say(f"not YAML: {error}")
            if (mark := getattr(error, "problem_mark", None)) is not None:
                text.move_cursor((mark.line, mark.column))
            return
        if not isinstance(edited, dict):
            self._say("this is not an object")
            return
        try:
            await self._client.update(self._resource, edited, field_validation="Strict")
        except ApiError as error:
            hint = "\nCtrl+R takes the server's version; then make your change again." if error.code == 409 else ""
            self._say(f"{error.code} {error.reason}: {error.message}{hint}")
        except ConnectionError as error:
            self._say(str(error))
        else:
            self.dismiss(True)

    @work(exclusive=True, exit_on_error=False)
    async def action_reload(self) -> None:
        metadata = self._original["metadata"]
        try:
            obj = await self._client.get(self._resource, metadata["name"], namespace=metadata.get("namespace"))
        except (ApiError, ConnectionError) as error:
            self._say(str(error))
            return
        self._original = obj
        self.query_one(TextArea).load_text(editable_yaml(obj))
        self._say("")

    def action_leave(self) -> None:
        self.dismiss(False)


def editable_yaml(obj: Object) -> str:
    """The object as it is edited: whole but for managedFields, its resourceVersion kept for the compare-and-swap."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return yaml.safe_dump({**obj, "metadata": metadata}, sort_keys=False, allow_unicode=True)
