"""`apply view-last-applied`, `set-last-applied` and `edit-last-applied`: the annotation of client-side apply itself.

Source of the behaviour: kubectl pkg/cmd/apply (apply_view_last_applied.go, apply_set_last_applied.go,
apply_edit_last_applied.go).
"""

from __future__ import annotations

import json
from dataclasses import replace

from engine.api.golang.text import quoted
from engine.api.patch import two_way_merge_patch
from engine.api.types import Object
from engine.api.wire import MERGE_PATCH
from engine.kubectl import last_applied, manifests, yaml
from engine.kubectl.command import Command
from engine.kubectl.editing import CANCELLED, Editing, source_of
from engine.kubectl.errors import CommandError, UsageError, of
from engine.kubectl.fetching import live
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL, DRY_RUN, FILENAME, PRINT, SELECTOR, VALIDATE, field_manager, filename
from engine.kubectl.printers.objects import json_text, result_printer
from engine.kubectl.selection import Info, Selection, collect, visit
from engine.kubectl.session import Session
from engine.kubectl.verbs.edit import check_format

HEADER = (
    "# Please edit the 'last-applied-configuration' annotations below.\n"
    "# Lines beginning with a '#' will be ignored, and an empty file will abort the edit.\n"
    "#\n"
)


async def view(session: Session) -> None:
    output = session.flags.text("output")
    selection = Selection.of_flags(session)
    if session.flags.on("all") and selection.selector:
        raise CommandError(
            f"found non-empty label selector {quoted(selection.selector)} with previously set 'all' parameter. "
        )
    selection.everything = session.flags.on("all")
    found, errors = await collect(session, selection)
    if errors:
        raise errors[0]
    for info in found:
        applied = last_applied.original(info.object)
        if applied is None and info.source:
            missing = f"no last-applied-configuration annotation found on resource: {info.name}"
            raise CommandError(f'error when {missing}\n "{info.source}": <nil>')
        if applied is None:
            continue
        if output == "json":
            session.out(json.dumps(applied, indent=2, sort_keys=True, ensure_ascii=False))
        elif output == "yaml":
            session.stdout.write(yaml.dump(applied))
        else:
            raise UsageError(f"Unexpected -o output mode: {output}, the flag 'output' must be one of yaml|json")


async def put(session: Session) -> None:
    """Nothing is changed where one of the objects cannot be."""
    dry_run = session.dry_run()
    printer = result_printer(session, "configured", dry_run=dry_run)
    changes: list[tuple[Info, Object, str]] = []

    async def compare(info: Info) -> None:
        found = await live(session, info.resource, info.name, info.namespace)
        if last_applied.original(found) is None and not session.flags.on("create-annotation"):
            raise CommandError(
                f"no last-applied-configuration annotation found on resource: {info.name}, to create the annotation, "
                "run the command with --create-annotation"
            )
        wanted = _annotation(info.object)
        if (found["metadata"].get("annotations") or {}).get(last_applied.ANNOTATION) == wanted:
            session.out(f"set-last-applied {info.name}: no changes required.")
        else:
            changes.append((info, found, wanted))

    selection = replace(Selection.of_flags(session, arguments=(), verb="apply"), fetch=False)
    await visit(session, selection, compare, stop_at_error=True)
    for info, found, wanted in changes:
        after = found if dry_run == "client" else await _patch(session, info, wanted, dry_run=dry_run)
        printer(after, info.resource)


def _annotation(obj: Object) -> str:
    metadata = dict(obj["metadata"])
    annotations = {k: v for k, v in (metadata.pop("annotations", None) or {}).items() if k != last_applied.ANNOTATION}
    if annotations:
        metadata["annotations"] = annotations
    return last_applied.compact({**obj, "metadata": metadata}) + "\n"


async def _patch(session: Session, info: Info, annotation: str, *, dry_run: str = "none") -> Object:
    return await session.patch(
        info.resource,
        info.name,
        info.namespace,
        {"metadata": {"annotations": {last_applied.ANNOTATION: annotation}}},
        MERGE_PATCH,
        dryRun="All" if dry_run == "server" else "",
        fieldManager=session.flags.text("field-manager"),
    )


async def edit(session: Session) -> None:
    found, errors = await collect(session, Selection.of_flags(session))
    if errors:
        raise of(errors)
    if found:
        check_format(session)
    for info in found:
        applied = last_applied.original(info.object)
        if applied is None:
            raise CommandError(
                "no last-applied-configuration annotation found on resources, to create the annotation, use command "
                f"`{session.program} apply set-last-applied --create-annotation`"
            )
        await _edit(session, info, applied)


async def _edit(session: Session, info: Info, applied: Object) -> None:
    as_json = session.flags.text("output") == "json"
    editing = Editing(
        session,
        json_text(applied) + "\n" if as_json else yaml.dump(applied),
        header="" if as_json else HEADER,
        about=f'{info.resource.gvr.group_resource} "{info.name}"',
        suffix=".json" if as_json else ".yaml",
    )
    if (text := await editing.edited()) is None:
        return
    editing.done()
    changed = [document.value for document in manifests.documents(source_of(text))]
    if not changed or not two_way_merge_patch(applied, changed[0]):
        session.err(CANCELLED)
        return
    await _patch(session, info, last_applied.compact(changed[0]) + "\n")
    result_printer(session, "edited")(changed[0], info.resource)


VIEW = Command(
    name="view-last-applied",
    short="View the latest last-applied-configuration annotations of a resource/object",
    usage="(TYPE [NAME | -l label] | TYPE/NAME | -f FILENAME)",
    run=view,
    flags=(*filename(), *SELECTOR, *ALL, Flag("output", short="o", default="yaml", help="json or yaml.")),
)
SET = Command(
    name="set-last-applied",
    short="Set the last-applied-configuration annotation on a live object to match the contents of a file",
    usage="-f FILENAME",
    run=put,
    flags=(
        FILENAME,
        *PRINT,
        *DRY_RUN,
        Flag("create-annotation", Type.BOOL, help="Make the annotation where there is none."),
    ),
)
EDIT = Command(
    name="edit-last-applied",
    short="Edit latest last-applied-configuration annotations of a resource/object",
    usage="(RESOURCE/NAME | -f FILENAME)",
    run=edit,
    flags=(
        *filename(),
        *PRINT,
        *VALIDATE,
        *field_manager("kubectl-client-side-apply"),
        Flag("windows-line-endings", Type.BOOL, help="Only on Windows."),
    ),
)
