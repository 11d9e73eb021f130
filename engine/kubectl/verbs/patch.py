"""`patch`: send a patch as it is.

Source of the behaviour: kubectl pkg/cmd/patch/patch.go.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from engine.api.patch import json_patch, merge_patch, strategic_merge_patch
from engine.api.types import Object
from engine.api.wire import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from engine.kubectl import yaml
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import DRY_RUN, PRINT, field_manager, filename
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.schemas import schema_of
from engine.kubectl.selection import Info, Selection, visit
from engine.kubectl.session import Session

TYPES = {"json": JSON_PATCH, "merge": MERGE_PATCH, "strategic": STRATEGIC_PATCH}


async def run(session: Session) -> None:
    flags = session.flags
    if not flags.text("patch") and not flags.text("patch-file"):
        raise CommandError("must specify --patch or --patch-file containing the contents of the patch")
    if flags.text("patch") and flags.text("patch-file"):
        raise CommandError("cannot specify --patch and --patch-file together")
    kind = (flags.text("type") or "strategic").lower()
    if kind not in TYPES:
        raise CommandError(f'--type must be one of [json merge strategic], not "{flags.text("type")}"')
    patch = _read(session)
    dry_run = session.dry_run()

    async def send(info: Info) -> None:
        before = info.object
        if dry_run == "client" or flags.on("local"):
            after = _locally(kind, before, patch, info)
        else:
            after = await session.patch(
                info.resource,
                info.name,
                info.namespace,
                patch,
                TYPES[kind],
                subresource=flags.text("subresource"),
                fieldManager=flags.text("field-manager"),
                dryRun="All" if dry_run == "server" else None,
            )
        operation = "patched" if after != before else "patched (no change)"
        result_printer(session, operation, dry_run=dry_run)(after, info.resource)

    selection = Selection.of_flags(session)
    selection.subresource = flags.text("subresource")
    if not await visit(session, selection, send):
        raise CommandError("no objects passed to patch")


def _read(session: Session) -> Any:
    text, name = session.flags.text("patch"), session.flags.text("patch-file")
    if name:
        try:
            text = Path(name).read_text()
        except OSError as error:
            raise CommandError(f"unable to read patch file: open {name}: {(error.strerror or '').lower()}") from error
    if text.lstrip().startswith("{"):  # JSON goes to the server as it is, which says what is wrong with it
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            return text.encode()
    try:
        return yaml.load(text)
    except yaml.YamlError as error:
        raise CommandError(f'unable to parse "{text}": {error}') from error


def _locally(kind: str, obj: Object, patch: Any, info: Info) -> Object:
    if kind == "json":
        return json_patch(obj, patch)
    schema = schema_of(info.resource.gvk) if kind == "strategic" else None
    return strategic_merge_patch(obj, patch, schema) if kind == "strategic" else merge_patch(obj, patch)


COMMAND = Command(
    name="patch",
    short="Update fields of a resource",
    usage="(-f FILENAME | TYPE NAME) [-p PATCH|--patch-file FILE]",
    run=run,
    flags=(
        *filename(),
        *PRINT,
        *DRY_RUN,
        *field_manager("kubectl-patch"),
        Flag("local", Type.BOOL, help="Patch the manifest here and send nothing."),
        Flag("patch", short="p", help="The patch."),
        Flag("patch-file", help="A file with the patch."),
        Flag("subresource", help="The subresource to patch."),
        Flag("type", default="strategic", help='"json", "merge" or "strategic".'),
    ),
    examples=("""patch deployment web -p '{"spec":{"replicas":2}}'""",),
)
