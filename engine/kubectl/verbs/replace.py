"""`replace`: put a manifest in place of the live object, or with --force delete that and create it anew.

Source of the behaviour: kubectl pkg/cmd/replace/replace.go.
"""

from __future__ import annotations

from contextlib import suppress

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.kubectl import last_applied
from engine.kubectl.command import Command
from engine.kubectl.deletion import delete, propagation, report, uid_of, wait_gone
from engine.kubectl.errors import Aggregate, CommandError, of, with_source
from engine.kubectl.flags import Flag
from engine.kubectl.flagsets import DRY_RUN, PRINT, SAVE_CONFIG, VALIDATE, deletion, field_manager, filename
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.selection import Info, Selection, collect, each, visit
from engine.kubectl.session import Session
from engine.kubectl.verbs.raw import raw


async def run(session: Session) -> None:
    flags = session.flags
    validation = session.field_validation()
    dry_run = session.dry_run()
    printer = result_printer(session, "replaced", dry_run=dry_run)
    propagation(session)
    if not session.from_files:
        raise CommandError("must specify one of -f and -k")
    if flags.text("raw"):
        await raw(session, "PUT", flags.text("raw"))
        return
    if flags.number("grace-period") >= 0 and not flags.on("force"):
        raise CommandError("--grace-period must have --force specified")
    if flags.seconds("timeout") and not flags.on("force"):
        raise CommandError("--timeout must have --force specified")
    if flags.on("force") and dry_run != "none":
        raise CommandError("--dry-run can not be used when --force is set")
    query = {
        "dryRun": "All" if dry_run == "server" else "",
        "fieldManager": flags.text("field-manager"),
        "fieldValidation": validation,
    }

    async def replace(info: Info) -> None:
        obj = last_applied.modified(info.object) if _saves(session, info.object) else info.object
        if dry_run != "client":
            try:
                info.refresh(await _send(session, info, obj, query))
            except (ApiError, CommandError) as error:
                if flags.on("force"):  # what is made anew fails without a word about where it is from
                    raise
                raise with_source(error, "replacing", info.source) from error
        printer(info.object, info.resource)

    selection = Selection.of_flags(session, arguments=(), verb="replace")
    selection.fetch = False
    selection.validate = "" if query["fieldValidation"] == "Ignore" else query["fieldValidation"]
    if flags.on("force"):
        found, errors = await collect(session, selection)
        await _delete_all(session, found, errors)
        await each(found, replace)
    else:
        await visit(session, selection, replace)


async def _delete_all(session: Session, found: list[Info], errors: list[Exception]) -> None:
    """Delete all before the first is made anew, which none is where something is wrong with any of them."""
    deleted: list[tuple[Info, str]] = []
    failed: list[Exception] = []
    missing = False
    for info in found:
        try:
            answer = await delete(session, info, grace=session.flags.number("grace-period"))
        except (ApiError, CommandError) as error:
            if isinstance(error, ApiError) and error.reason == "NotFound":
                missing = True
                continue
            failed.append(with_source(error, "deleting", info.source))
            continue
        report(session, info)
        deleted.append((info, uid_of(answer)))
    if failed or errors:
        raise Aggregate([*failed, *errors]) if missing else of([*failed, *errors])
    for info, uid in deleted:
        await wait_gone(session, info, uid)


def _saves(session: Session, obj: Object) -> bool:
    """Whether the annotation of client-side apply is kept up: asked for, or there already."""
    return session.flags.on("save-config") or last_applied.original(obj) is not None


async def _send(session: Session, info: Info, obj: Object, query: dict[str, str]) -> Object:
    if session.flags.on("force"):
        return await session.create(info.resource, info.namespace, obj, **query)
    metadata = obj.get("metadata") or {}
    if not metadata.get("resourceVersion"):
        with suppress(ApiError):  # what is not there yet the server may make: that is for it to say
            live = await session.get(info.resource, info.name, info.namespace)
            obj = {**obj, "metadata": {**metadata, "resourceVersion": live["metadata"]["resourceVersion"]}}
    path = session.path_of(info.resource, info.namespace, info.name, session.flags.text("subresource"))
    replaced: Object = await session.request("PUT", path, query=query, body=obj)
    return replaced


COMMAND = Command(
    name="replace",
    short="Replace a resource by file name or stdin",
    usage="-f FILENAME",
    run=run,
    interrupted=1,
    flags=(
        *filename(),
        *PRINT,
        *DRY_RUN,
        *VALIDATE,
        *SAVE_CONFIG,
        *field_manager("kubectl-replace"),
        *deletion(wait=False),
        Flag("raw", help="Send a PUT to this path as it is."),
        Flag("subresource", help="The subresource to replace."),
    ),
    examples=("replace -f web.yaml", "replace --force -f pod.yaml"),
)
