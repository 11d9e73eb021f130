"""`edit`: an object in the person's editor, sent back as a patch; what the server refuses is shown there again.

Source of the behaviour: kubectl pkg/cmd/util/editor/editoroptions.go.
"""

from __future__ import annotations

from pathlib import Path

from engine.api.errors import ApiError
from engine.api.patch import two_way_merge_patch, two_way_strategic_patch
from engine.api.types import Object
from engine.api.wire import MERGE_PATCH, STRATEGIC_PATCH
from engine.kubectl import decoding, last_applied, manifests, yaml
from engine.kubectl.change_cause import RECORD, recorded
from engine.kubectl.command import Command
from engine.kubectl.editor import edit_text
from engine.kubectl.errors import CommandError, Exit, of
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import PRINT, SAVE_CONFIG, VALIDATE, field_manager, filename
from engine.kubectl.printers.objects import json_text, result_printer, unknown_format, without_managed_fields
from engine.kubectl.schemas import schema_of
from engine.kubectl.selection import Info, Selection, collect
from engine.kubectl.session import Session

HEADER = (
    "# Please edit the object below. Lines beginning with a '#' will be ignored,\n"
    "# and an empty file will abort the edit. If an error occurs while saving this file will be\n"
    "# reopened with the relevant failures.\n"
    "#\n"
)
CANCELLED = "Edit cancelled, no changes made."
SAVED = 'A copy of your changes has been stored to "{}"'


async def run(session: Session) -> None:
    session.field_validation()
    selection = Selection.of_flags(session)
    selection.subresource = session.flags.text("subresource")
    selection.whole_types = True
    found, errors = await collect(session, selection)
    if errors:
        raise of(errors)
    if not found:
        raise CommandError("edit cancelled, no objects found")
    check_format(session)
    await _Edit(session, found).run()


def check_format(session: Session) -> None:
    """Raises CommandError for a format that none can edit in, which is told of once there is something to edit."""
    if (output := session.flags.text("output")) not in ("", "json", "yaml", "kyaml"):
        raise unknown_format(output, "json,kyaml,yaml")


class _Edit:
    """One round with the editor after another, until all is saved or the person gives up."""

    def __init__(self, session: Session, found: list[Info]) -> None:
        self._session = session
        self._infos = found
        self._json = session.flags.text("output") == "json"
        keep = session.flags.on("show-managed-fields")
        self._shown = [info.object if keep else without_managed_fields(info.object) for info in found]

    async def run(self) -> None:
        original = self._text(self._shown)
        text, reasons, file = original, list[str](), None
        while True:
            before = stripped(text)
            edited, new_file = await edit_text(_with_reasons(text, reasons), self._session.environment)
            if file is not None:
                file.unlink(missing_ok=True)
            file = new_file
            if reasons and stripped(edited) == before:
                self._give_up(file)
            if stripped(edited) == stripped(original):
                file.unlink(missing_ok=True)
                self._session.err(CANCELLED)
                return
            text = edited
            try:
                objects = self._parse(edited)
            except CommandError as error:
                reasons = [self._unreadable(error)]
                continue
            try:
                reasons = await self._save(objects)
            except (CommandError, ApiError) as error:
                self._session.err(SAVED.format(file))
                raise CommandError(str(error)) from error
            if not reasons:
                file.unlink(missing_ok=True)
                return
            if not self._retries:
                self._session.err(f"You can run `{self._session.program} replace -f {file}` to try this update again.")
                raise Exit(1)

    _retries = True

    def _text(self, objects: list[Object]) -> str:
        shown = objects[0] if len(objects) == 1 else {"apiVersion": "v1", "kind": "List", "items": objects}
        return HEADER + (json_text(shown) + "\n" if self._json else yaml.dump(shown))

    def _give_up(self, file: Path) -> None:
        """The person left the refused text as it was."""
        self._session.err(SAVED.format(file))
        raise CommandError("Edit cancelled, no valid changes were saved.")

    def _unreadable(self, error: CommandError) -> str:
        self._retries = True
        for info in self._infos:
            self._session.err(f'error: {info.resource.gvr.group_resource} "{info.name}" is invalid')
        return f"The edited file had a syntax error: {error}"

    def _parse(self, text: str) -> list[Object]:
        source = manifests.Source("edited-file", lambda: text)
        try:
            found = [obj for document in manifests.documents(source) for obj in decoding.objects(document)]
        except CommandError as error:
            raise CommandError(str(error).removeprefix("error parsing edited-file: ")) from error
        if not found:
            raise CommandError("the file holds no object")
        return found

    async def _save(self, edited: list[Object]) -> list[str]:
        """Send each change; returns why the server refused any."""
        reasons: list[str] = []
        for info, before in zip(self._infos, self._shown, strict=True):
            after = next((obj for obj in edited if _is_same(obj, before)), None)
            if after is None:
                raise CommandError("At least one of apiVersion, kind and name was changed")
            if after == before:
                self._session.err(f"{info.resource.gvr.group_resource}/{info.name} skipped")
                continue
            patch, content_type = self._difference(info, before, after)
            try:
                await self._send(info, patch, content_type)
            except ApiError as error:
                reasons.append(self._refused(info, error))
        return reasons

    def _difference(self, info: Info, before: Object, after: Object) -> tuple[Object, str]:
        """What to send for an edit. Raises ApiError for an edit that no patch can say."""
        if self._session.flags.on("save-config"):
            after = last_applied.modified(after)
        after = recorded(self._session, after)
        schema = schema_of(info.resource.gvk)
        if schema is None:
            return two_way_merge_patch(before, after), MERGE_PATCH
        return two_way_strategic_patch(before, after, schema), STRATEGIC_PATCH

    async def _send(self, info: Info, patch: Object, content_type: str) -> None:
        flags = self._session.flags
        if flags.on("output-patch"):
            self._session.out(f"Patch: {last_applied.compact(patch)}")
        answer = await self._session.patch(
            info.resource,
            info.name,
            info.namespace,
            patch,
            content_type,
            subresource=flags.text("subresource"),
            fieldManager=flags.text("field-manager"),
            fieldValidation=self._session.field_validation(),
        )
        info.refresh(answer)
        if flags.text("output") in ("", "json", "yaml"):
            self._session.out(f"{info.named} edited")
        else:
            result_printer(self._session, "edited")(info.object, info.resource)

    def _refused(self, info: Info, error: ApiError) -> str:
        name = f'{info.resource.gvr.group_resource} "{info.name}"'
        self._retries = error.reason in ("Invalid",)
        if error.reason == "Invalid":
            self._session.err(f"error: {name} is invalid")
            causes = (error.details or {}).get("causes") or ()
            lines = [f"* {cause.get('field', '')}: {cause.get('message', '')}" for cause in causes]
            return "\n".join([f"{name} was not valid:", *lines])
        if error.reason == "NotFound":
            self._session.err(f"error: {name} could not be found on the server")
            return f"{name} was not found"
        self._session.err(f"error: {name} could not be patched: {error.message}")
        return f"{name} could not be patched: {error.message}"


def _is_same(left: Object, right: Object) -> bool:
    return bool(
        left.get("apiVersion") == right["apiVersion"]
        and left.get("kind") == right["kind"]
        and (left.get("metadata") or {}).get("name") == right["metadata"]["name"]
    )


def _with_reasons(text: str, reasons: list[str]) -> str:
    """The text under the header, and under why it was refused."""
    if not reasons:
        return text
    lines = [f"# {line}" for reason in reasons for line in reason.split("\n")]
    return HEADER + "\n".join([*lines, "#"]) + "\n" + stripped(text)


def stripped(text: str) -> str:
    """A text without its comments."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith("#"))


COMMAND = Command(
    name="edit",
    short="Edit a resource on the server",
    usage="(RESOURCE/NAME | -f FILENAME)",
    run=run,
    flags=(
        *filename(),
        *PRINT,
        *VALIDATE,
        *SAVE_CONFIG,
        *field_manager("kubectl-edit"),
        *RECORD,
        Flag("output-patch", Type.BOOL, help="Show the patch that is sent."),
        Flag("subresource", help="The subresource to edit."),
        Flag("windows-line-endings", Type.BOOL, help="Write lines as Windows does."),
    ),
    examples=("edit deployment/web",),
)
