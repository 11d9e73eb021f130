"""`auth reconcile`: roles and bindings made to grant at least what a manifest says.

Source of the behaviour: kubectl pkg/cmd/auth/reconcile.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.api.errors import ApiError
from engine.api.rbac import AUTOUPDATE, Plan, reconciled_binding, reconciled_role
from engine.api.types import Object
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import DRY_RUN, PRINT, filename
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.selection import Info, Selection, visit
from engine.kubectl.session import Session

ROLES, BINDINGS = ("Role", "ClusterRole"), ("RoleBinding", "ClusterRoleBinding")
_RULE = (
    ("Verbs", "verbs"),
    ("APIGroups", "apiGroups"),
    ("Resources", "resources"),
    ("ResourceNames", "resourceNames"),
    ("NonResourceURLs", "nonResourceURLs"),
)
_SUBJECT = (("Kind", "kind"), ("APIGroup", "apiGroup"), ("Name", "name"), ("Namespace", "namespace"))


async def reconcile(session: Session) -> None:
    flags = session.flags
    if not session.from_files:
        raise CommandError("must specify one of -f and -k")
    if session.arguments:
        raise CommandError("no arguments are allowed")
    dry_run = session.dry_run()
    if dry_run == "server":
        raise CommandError("--dry-run=server for command reconcile is not supported yet")
    printer = result_printer(session, "reconciled", dry_run=dry_run, typed=True)

    async def act(info: Info) -> None:
        if info.resource.kind not in (*ROLES, *BINDINGS):
            return
        live = await _live(session, info)
        remove = flags.on("remove-extra-permissions" if info.resource.kind in ROLES else "remove-extra-subjects")
        plan = (reconciled_role if info.resource.kind in ROLES else reconciled_binding)(
            info.object, live, remove=remove
        )
        if plan.operation and not plan.protected and dry_run != "client":
            plan.object = await _write(session, info, plan)
        printer(plan.object, info.resource)
        _tell(session, plan, "rules" if info.resource.kind in ROLES else "subjects", removed=remove)

    await visit(session, replace(Selection.of_flags(session, verb="apply"), fetch=False, typed=True), act)


async def _live(session: Session, info: Info) -> Object | None:
    try:
        return await session.get(info.resource, info.name, info.namespace)
    except ApiError as error:
        if error.reason != "NotFound":
            raise
        return None


async def _write(session: Session, info: Info, plan: Plan) -> Object:
    path = session.path_of(info.resource, info.namespace, info.name)
    if plan.operation == "update":
        written: Object = await session.request("PUT", path, body=plan.object)
        return written
    if plan.operation == "recreate":
        await session.request("DELETE", path)
    created: Object = await session.request("POST", session.path_of(info.resource, info.namespace), body=plan.object)
    return created


# -- telling


def _tell(session: Session, plan: Plan, what: str, *, removed: bool) -> None:
    """Details go to stderr."""
    if not plan.operation:
        return
    caveat = f", but object opted out ({AUTOUPDATE}: false)" if plan.protected else ""
    session.err(f"\treconciliation required {plan.operation}{caveat}")
    shape = _RULE if what == "rules" else _SUBJECT
    if plan.missing:
        session.err(f"\tmissing {what} added:")
        for item in plan.missing:
            session.err(f"\t\t{_shown(item, shape)}")
    if plan.extra and removed:
        session.err(f"\textra {what} removed:")
        for item in plan.extra:
            session.err(f"\t\t{_shown(item, shape)}")


def _shown(item: Object, shape: Sequence[tuple[str, str]]) -> str:
    """As Go prints the struct."""
    parts = []
    for title, key in shape:
        value = item.get(key)
        shown = f"[{' '.join(value or ())}]" if shape is _RULE else (value or "")
        parts.append(f"{title}:{shown}")
    return "{" + " ".join(parts) + "}"


COMMAND = Command(
    name="reconcile",
    short="Reconciles rules for RBAC role, role binding, cluster role, and cluster role binding objects",
    usage="-f FILENAME",
    run=reconcile,
    flags=(
        *filename(),
        *PRINT,
        *DRY_RUN,
        Flag("remove-extra-permissions", Type.BOOL, help="Take away what roles grant beyond it."),
        Flag("remove-extra-subjects", Type.BOOL, help="Take away subjects that bindings have beyond it."),
    ),
)
