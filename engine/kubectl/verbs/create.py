"""`create`: objects from a manifest, or of one kind from flags (`verbs/generators.py`).

Source of the behaviour: kubectl pkg/cmd/create/create.go.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from engine.api.errors import ApiError
from engine.api.types import GVK, Object
from engine.client.unreachable import UnreachableError
from engine.kubectl import decoding, last_applied, manifests, yaml
from engine.kubectl.change_cause import RECORD, recorded
from engine.kubectl.command import Run
from engine.kubectl.discovery import Resource
from engine.kubectl.editing import SAVED, Editing, source_of
from engine.kubectl.errors import CommandError, NamespaceError, UsageError, with_source
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import DRY_RUN, PRINT, SAVE_CONFIG, SELECTOR, VALIDATE, field_manager, filename
from engine.kubectl.printers.objects import Printer, result_printer
from engine.kubectl.selection import Info, Selection, visit
from engine.kubectl.session import Session
from engine.kubectl.verbs.edit import HEADER
from engine.kubectl.verbs.raw import raw

CLUSTER_SCOPED = ("Namespace", "ClusterRole", "ClusterRoleBinding", "PriorityClass")
_NOUNS = {
    "ConfigMap": "configmap",
    "CronJob": "cronjob",
    "Deployment": "deployment",
    "Ingress": "ingress",
    "Job": "job",
    "ClusterRoleBinding": "clusterrolebinding",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "PriorityClass": "priorityclass",
    "ResourceQuota": "quota",
    "RoleBinding": "rolebinding",
    "ServiceAccount": "serviceaccount",
}
Build = Callable[[Session, str], Object]


async def run(session: Session) -> None:
    flags = session.flags
    if not session.from_files:
        if session.arguments:
            raise UsageError(f"Unexpected args: [{' '.join(session.arguments)}]")
        raise CommandError("must specify one of -f and -k")
    if session.arguments:
        raise UsageError(f"Unexpected args: [{' '.join(session.arguments)}]")
    if flags.text("raw"):
        await raw(session, "POST", flags.text("raw"))
        return
    dry_run, validation = session.dry_run(), session.field_validation()
    printer = result_printer(session, "created", dry_run=dry_run)

    async def create(info: Info) -> None:
        file = await _edited(session, info) if flags.on("edit") else None
        if flags.on("edit") and file is None:
            return
        try:
            await post(session, info, dry_run=dry_run, validation=validation)
        except (ApiError, CommandError) as error:
            if file is not None:
                session.err(SAVED.format(file))
                raise
            raise with_source(error, "creating", info.source) from error
        if file is not None:
            file.unlink(missing_ok=True)
        printer(info.object, info.resource)

    selection = Selection.of_flags(session, verb="create")
    selection.fetch = False
    selection.validate = "" if validation == "Ignore" else validation
    if not await visit(session, selection, create):
        raise CommandError("no objects passed to create")


async def _edited(session: Session, info: Info) -> Path | None:
    """Let the person edit what is to be created; None where nothing was changed, and so nothing is created."""
    about = f'{info.resource.gvr.group_resource} "{info.name}"'
    editing = Editing(session, yaml.dump(info.object), header=HEADER, about=about)
    if (text := await editing.edited()) is None:
        return None
    found = [obj for document in manifests.documents(source_of(text)) for obj in decoding.objects(document)]
    if not found:
        raise CommandError("no objects passed to create")
    info.object = found[0]
    info.name = info.object["metadata"].get("name", "")
    return editing.file


async def post(session: Session, info: Info, *, dry_run: str, validation: str, typed: bool = False) -> None:
    """Create the object of `info` and take over what the server made of it. `typed` as in `last_applied.modified`.

    What other commands than `create` only try at the client gets no annotation.
    """
    if session.flags.on("save-config") and (dry_run != "client" or session.verb.startswith("create")):
        info.object = last_applied.modified(info.object, typed=typed)
    if not typed:
        info.object = recorded(session, info.object)
    if dry_run == "client":
        return
    query = {
        "dryRun": "All" if dry_run == "server" else "",
        "fieldManager": session.flags.text("field-manager"),
        "fieldValidation": validation,
    }
    info.refresh(await session.create(info.resource, info.namespace, info.object, **query))


async def create_built(session: Session, obj: Object, printer: Printer | None = None, *, mapped: bool = False) -> Info:
    """Create an object that was made from flags, and print it. Its namespace is written into it only if it was asked
    for. One printer may serve several objects. `mapped` asks the server about the kind, which `create` knows."""
    dry_run, validation = session.dry_run(), session.field_validation()
    printer = printer or result_printer(session, "created", dry_run=dry_run, typed=True)
    group, _, version = obj["apiVersion"].rpartition("/")
    gvk = GVK(group, version, obj["kind"])
    if mapped:
        resource = await session.discovery.for_kind(session.client, gvk)
    else:
        resource = Resource.unasked(gvk, namespaced=gvk.kind not in CLUSTER_SCOPED)
    name = obj["metadata"].get("name", "")
    namespace = session.namespace if resource.namespaced else ""
    if namespace and session.namespace_given:
        obj = {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}
    info = Info(resource, namespace, name, object=recorded(session, obj))
    session.working_on(resource, name, namespace)
    try:
        await post(session, info, dry_run=dry_run, validation=validation, typed=True)
    except (ApiError, NamespaceError, UnreachableError) as error:
        raise _failed(error, obj) from error
    printer(info.object, resource)
    return info


def _failed(error: ApiError | NamespaceError | UnreachableError, obj: Object) -> Exception:
    """Some of the `create KIND` commands put words of their own before the server's."""
    kind, why = obj["kind"], reason(error)
    if kind == "Secret":
        return CommandError(f"failed to create secret {why}")
    noun = f"{obj['spec']['type']} service" if kind == "Service" else _NOUNS.get(kind)
    if noun:
        return CommandError(f"failed to create {noun}: {why}")
    return error


def reason(error: ApiError | NamespaceError | UnreachableError) -> str:
    """Why something was not made, for words to stand before."""
    if isinstance(error, ApiError):
        return error.message
    return error.cause if isinstance(error, UnreachableError) else str(error)


def acting(act: Callable[[Session, str], Awaitable[None]], *, needs_name: bool = False) -> Run:
    """A runner for `create KIND NAME` that does the rest itself.

    What all these commands share is checked before what is asked of the one kind. A few of them look whether the name
    is empty; others leave that to the server.
    """

    async def run(session: Session) -> None:
        before = session.arguments if session.dash < 0 else session.arguments[: session.dash]
        if len(before) != 1:
            raise UsageError(f"exactly one NAME is required, got {len(before)}")
        result_printer(session, "created", dry_run=session.dry_run(), typed=True)
        session.field_validation()
        if needs_name and not before[0]:
            raise CommandError("name must be specified")
        await act(session, before[0])

    return run


def named(build: Build, *, needs_name: bool = False) -> Run:
    """A runner for `create KIND NAME` whose object comes from the flags alone."""

    async def create(session: Session, name: str) -> None:
        await create_built(session, build(session, name))

    return acting(create, needs_name=needs_name)


COMMON = (*PRINT, *DRY_RUN, *VALIDATE, *SAVE_CONFIG, *field_manager("kubectl-create"))
FLAGS = (
    *COMMON,
    *filename(),
    *SELECTOR,
    *RECORD,
    Flag("edit", Type.BOOL, help="Edit before creating."),
    Flag("raw", help="Post to this path as it is."),
    Flag("windows-line-endings", Type.BOOL, help="Only for --edit on Windows."),
)
