"""`edit`: an object in the person's editor, sent back as a patch; what the server refuses is shown there again.

Source of the behaviour: kubectl pkg/cmd/util/editor/editoroptions.go.
"""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.patch import two_way_merge_patch, two_way_strategic_patch
from engine.api.types import Object
from engine.api.wire import MERGE_PATCH, STRATEGIC_PATCH
from engine.kubectl import decoding, last_applied, manifests, yaml
from engine.kubectl.change_cause import RECORD, recorded
from engine.kubectl.command import Command
from engine.kubectl.editing import NAME, SAVED, Editing, source_of
from engine.kubectl.errors import CommandError, Exit, of
from engine.kubectl.fetching import require_namespace
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import PRINT, SAVE_CONFIG, VALIDATE, field_manager, filename
from engine.kubectl.printers import kyaml
from engine.kubectl.printers.objects import Printer, json_text, result_printer, unknown_format, without_managed_fields
from engine.kubectl.schemas import schema_of
from engine.kubectl.selection import Info, Selection, collect, mapped
from engine.kubectl.session import Session

HEADER = (
    "# Please edit the object below. Lines beginning with a '#' will be ignored,\n"
    "# and an empty file will abort the edit. If an error occurs while saving this file will be\n"
    "# reopened with the relevant failures.\n"
    "#\n"
)


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
        self._shown = [without_managed_fields(info.object) for info in found]
        self._printers: dict[str, Printer] = {}
        self._retries = True

    async def run(self) -> None:
        output = self._session.flags.text("output")
        header, suffix = ("", ".json") if output == "json" else (HEADER, ".yaml")
        about = _name(self._infos[0])
        editing = Editing(self._session, self._text(output), header=header, about=about, suffix=suffix)
        while (edited := await editing.edited()) is not None:
            try:
                objects = await self._parse(edited)
            except CommandError as error:
                editing.refuse([f"The edited file had a syntax error: {error}"])
                continue
            try:
                self._require_namespaces(objects)
                reasons = await self._save(objects)
            except (CommandError, ApiError) as error:
                self._session.err(SAVED.format(editing.file))
                raise CommandError(str(error)) from error
            if not reasons:
                editing.done()
                return
            if not self._retries:
                again = f"{self._session.program} replace -f {editing.file}"
                self._session.err(f"You can run `{again}` to try this update again.")
                raise Exit(1)
            editing.refuse(reasons)

    def _text(self, output: str) -> str:
        shown = self._shown[0]
        if len(self._shown) > 1:
            shown = {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": self._shown}
        if output == "json":
            return json_text(shown) + "\n"
        return kyaml.dump(shown) if output == "kyaml" else yaml.dump(shown)

    async def _parse(self, text: str) -> list[Object]:
        """The objects of a text. Raises CommandError for one that is none, or of a kind that nobody knows."""
        found = [obj for document in manifests.documents(source_of(text)) for obj in decoding.objects(document)]
        if not found:
            raise CommandError("the file holds no object")
        for obj in found:
            metadata = obj.get("metadata") or {}
            whence = (
                f'for name: "{metadata.get("name", "")}" namespace: "{metadata.get("namespace", "")}" from "{NAME}"'
            )
            if not self._session.flags.text("subresource"):
                await mapped(self._session, obj, "" if len(self._infos) > 1 else whence)
        return found

    def _require_namespaces(self, edited: list[Object]) -> None:
        """Raises CommandError for an object that went to another namespace."""
        for obj in edited:
            require_namespace(self._session, self._infos[0].resource, (obj.get("metadata") or {}).get("namespace", ""))

    async def _save(self, edited: list[Object]) -> list[str]:
        """Send each change; returns why the server refused any."""
        reasons: list[str] = []
        for info, before in zip(self._infos, self._shown, strict=True):
            after = next((obj for obj in edited if _is_same(obj, before)), None)
            if after is None:
                raise CommandError("At least one of apiVersion, kind and name was changed")
            if after == before:
                self._print("skipped", info)
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
            after = _with_config(info, after)
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
        self._print("edited", info)

    def _print(self, done: str, info: Info) -> None:
        """One printer for all that is done so, which tells documents apart."""
        if done not in self._printers:
            self._printers[done] = result_printer(self._session, done)
        self._printers[done](info.object, info.resource)

    def _refused(self, info: Info, error: ApiError) -> str:
        name = _name(info)
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


def _name(info: Info) -> str:
    return f'{info.resource.gvr.group_resource} "{info.name}"'


def _with_config(info: Info, after: Object) -> Object:
    """With the annotation of apply, which tells all of the object, also what the person did not see of it."""
    whole = after
    if (managed := info.object["metadata"].get("managedFields")) is not None:
        whole = {**after, "metadata": {**after["metadata"], "managedFields": managed}}
    metadata = after["metadata"]
    annotations = last_applied.modified(whole)["metadata"]["annotations"]
    return {**after, "metadata": {**metadata, "annotations": annotations}}


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
