"""`patch`: send a patch as it is.

Source of the behaviour: kubectl pkg/cmd/patch/patch.go.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from engine.api.errors import ApiError
from engine.api.golang.text import quoted
from engine.api.patch import json_patched, merge_patch, strategic_merge_patch
from engine.api.types import GVR, Object
from engine.api.wire import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from engine.kubectl import yaml
from engine.kubectl.change_cause import RECORD, record_patch
from engine.kubectl.command import Command
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import DRY_RUN, PRINT, field_manager, filename
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.schemas import schema_of
from engine.kubectl.scheme import is_registered
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
    local, subresource = flags.on("local"), flags.text("subresource")
    if local and session.arguments:
        raise CommandError("cannot specify --local and server resources")
    if "/" in subresource:
        raise CommandError(f"invalid subresource \"{subresource}\": [may not contain '/']")
    patch = _read(session)
    dry_run = session.dry_run()

    async def send(info: Info) -> None:
        before = info.object
        if dry_run == "client" or local:
            after = _locally(kind, before, patch, info)
        else:
            after = await _sent(session, info, patch, TYPES[kind], dry_run=dry_run)
            if (cause := record_patch(session)) is not None:
                after = await _sent(session, info, cause, MERGE_PATCH, dry_run=dry_run)
        operation = "patched" if after != before else "patched (no change)"
        result_printer(session, operation)(after, _answered(info.resource, after))  # a dry run is not spoken of

    selection = Selection.of_flags(session)
    selection.local = local
    selection.fetch = not session.from_files  # a manifest is compared as it stands
    selection.subresource = subresource
    if not await visit(session, selection, send):
        raise CommandError("no objects passed to patch")


async def _sent(session: Session, info: Info, patch: Any, content_type: str, *, dry_run: str) -> Object:
    try:
        return await session.patch(
            info.resource,
            info.name,
            info.namespace,
            patch,
            content_type,
            subresource=session.flags.text("subresource"),
            fieldManager=session.flags.text("field-manager"),
            dryRun="All" if dry_run == "server" else None,
        )
    except ApiError as error:
        if error.reason != "UnsupportedMediaType":
            raise
        gvr = info.resource.gvr
        kind = f"{gvr.group}/{gvr.version}, Kind={info.resource.kind}"
        raise CommandError(f"{content_type} is not supported by {kind}: {error.message}") from error


def _answered(resource: Resource, obj: Object) -> Resource:
    """What the answer is named by: that of a subresource may be of a kind of its own, as a Scale is."""
    kind = obj.get("kind")
    if not isinstance(kind, str) or kind == resource.kind:
        return resource
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    return replace(resource, gvr=GVR(group, version, resource.plural), kind=kind)


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
        raise CommandError(f"unable to parse {quoted(text)}: {error}") from error


def _locally(kind: str, obj: Object, patch: Any, info: Info) -> Object:
    """The object with the patch. Raises CommandError: what a library says of it here, no server has put in words."""
    try:
        if kind == "json":
            patched = json_patched(obj, patch)
            if not isinstance(patched, dict):
                raise CommandError("json: cannot unmarshal array into Go value of type unstructured.detector")
            return patched
        if kind == "merge":
            if isinstance(patch, list):
                raise CommandError("json: cannot unmarshal array into Go value of type unstructured.detector")
            if not isinstance(patch, dict):
                raise CommandError("Invalid JSON Patch")
            return merge_patch(obj, patch)
        if patch is None:
            return obj
        if not isinstance(patch, dict):
            raise CommandError("invalid JSON document")
        schema = schema_of(info.resource.gvk)
        if schema is None or not is_registered(info.resource.gvk):
            kind = f"{info.resource.gvk.api_version}, Kind={info.resource.gvk.kind}"
            raise CommandError(f"strategic merge patch is not supported for {kind} locally, try --type merge")
        return strategic_merge_patch(obj, patch, schema)
    except ApiError as error:
        text = str(error.__cause__ or error.message)
        _, found, key = text.partition("doc is missing key: ")
        raise CommandError(f"Object to be patched is missing field ({key})" if found else text) from error


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
        *RECORD,
        Flag("local", Type.BOOL, help="Patch the manifest here and send nothing."),
        Flag("patch", short="p", help="The patch."),
        Flag("patch-file", help="A file with the patch."),
        Flag("subresource", help="The subresource to patch."),
        Flag("type", default="strategic", help='"json", "merge" or "strategic".'),
    ),
    examples=("""patch deployment web -p '{"spec":{"replicas":2}}'""",),
)
