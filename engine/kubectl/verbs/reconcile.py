"""`auth reconcile`: roles and bindings made to grant at least what a manifest says.

Source of the behaviour: kubectl pkg/cmd/auth/reconcile.go, component-helpers auth/rbac/reconciliation and
component-helpers auth/rbac/validation (BreakdownRule, Covers).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import DRY_RUN, PRINT, filename
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.selection import Info, Selection, visit
from engine.kubectl.session import Session

AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"
ROLES, BINDINGS = ("Role", "ClusterRole"), ("RoleBinding", "ClusterRoleBinding")
_RULE = (
    ("Verbs", "verbs"),
    ("APIGroups", "apiGroups"),
    ("Resources", "resources"),
    ("ResourceNames", "resourceNames"),
    ("NonResourceURLs", "nonResourceURLs"),
)
_SUBJECT = (("Kind", "kind"), ("APIGroup", "apiGroup"), ("Name", "name"), ("Namespace", "namespace"))


@dataclass(slots=True)
class _Plan:
    """What is to be written, why, and what it adds and takes away."""

    operation: str  # "" for nothing to do
    object: Object
    missing: list[Object] = field(default_factory=list)
    extra: list[Object] = field(default_factory=list)
    protected: bool = False


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
        plan = (_role if info.resource.kind in ROLES else _binding)(info.object, live, remove=remove)
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


async def _write(session: Session, info: Info, plan: _Plan) -> Object:
    path = session.path_of(info.resource, info.namespace, info.name)
    if plan.operation == "update":
        written: Object = await session.request("PUT", path, body=plan.object)
        return written
    if plan.operation == "recreate":
        await session.request("DELETE", path)
    created: Object = await session.request("POST", session.path_of(info.resource, info.namespace), body=plan.object)
    return created


def _role(expected: Object, live: Object | None, *, remove: bool) -> _Plan:
    wanted = list(expected.get("rules") or ())
    if live is None:
        return _Plan("create", expected, [] if expected.get("aggregationRule") else wanted)
    known = list(live.get("rules") or ())
    merged, changed = _merged_metadata(expected, live)
    missing, extra = _uncovered(known, wanted), _uncovered(wanted, known)
    if expected.get("aggregationRule"):
        missing, extra = [], []
        if live.get("aggregationRule") != expected["aggregationRule"]:
            merged["aggregationRule"], changed = expected["aggregationRule"], True
    elif remove and (missing or extra):
        merged["rules"], changed = wanted, True
    elif missing:
        merged["rules"], changed = [*known, *missing], True
    return _Plan("update" if changed else "", merged, missing, extra, _protected(live))


def _binding(expected: Object, live: Object | None, *, remove: bool) -> _Plan:
    wanted = list(expected.get("subjects") or ())
    if live is None:
        return _Plan("create", expected, wanted)
    if live.get("roleRef") != expected.get("roleRef"):
        return _Plan("recreate", _merged_metadata(expected, live)[0] | {"roleRef": expected.get("roleRef")})
    known = list(live.get("subjects") or ())
    merged, changed = _merged_metadata(expected, live)
    missing = [subject for subject in wanted if subject not in known]
    extra = [subject for subject in known if subject not in wanted]
    if remove and (missing or extra):
        merged["subjects"], changed = wanted, True
    elif missing:
        merged["subjects"], changed = [*known, *missing], True
    return _Plan("update" if changed else "", merged, missing, extra, _protected(live))


def _protected(live: Object) -> bool:
    return bool((live["metadata"].get("annotations") or {}).get(AUTOUPDATE) == "false")


def _merged_metadata(expected: Object, live: Object) -> tuple[Object, bool]:
    """The live object with the labels and annotations that are wanted too, and whether that changes it."""
    metadata = dict(live["metadata"])
    for kind in ("labels", "annotations"):
        together = {**(metadata.get(kind) or {}), **(expected["metadata"].get(kind) or {})}
        if together:
            metadata[kind] = together
    return {**live, "metadata": metadata}, metadata != live["metadata"]


# -- what rules grant


def _uncovered(owner: Sequence[Object], asked: Sequence[Object]) -> list[Object]:
    """The least rules of `asked` that none of `owner` grants."""
    return [atom for rule in asked for atom in _atoms(rule) if not any(_covers(own, atom) for own in owner)]


def _atoms(rule: Object) -> list[Object]:
    """A rule for each group, resource, verb and name."""
    verbs = rule.get("verbs") or ()
    atoms: list[Object] = []
    for group, resource, verb in product(rule.get("apiGroups") or (), rule.get("resources") or (), verbs):
        atom = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
        names = rule.get("resourceNames")
        atoms += [{**atom, "resourceNames": [name]} for name in names] if names else [atom]
    atoms += [
        {"nonResourceURLs": [url], "verbs": [verb]} for url in rule.get("nonResourceURLs") or () for verb in verbs
    ]
    return atoms


def _covers(owner: Object, atom: Object) -> bool:
    if not _any_of(owner, atom, "verbs"):
        return False
    if atom.get("nonResourceURLs"):
        url = atom["nonResourceURLs"][0]
        return any(_path(own, url) for own in owner.get("nonResourceURLs") or ())
    if not _any_of(owner, atom, "apiGroups") or not _resource(owner, atom["resources"][0]):
        return False
    names = owner.get("resourceNames")
    return not names or bool(atom.get("resourceNames") and atom["resourceNames"][0] in names)


def _path(own: str, url: str) -> bool:
    return own == url or (own.endswith("*") and url.startswith(own[:-1]))


def _any_of(owner: Object, atom: Object, key: str) -> bool:
    have = owner.get(key) or ()
    return "*" in have or atom[key][0] in have


def _resource(owner: Object, resource: str) -> bool:
    have = owner.get("resources") or ()
    subresource = resource.partition("/")[2]
    return "*" in have or resource in have or bool(subresource and f"*/{subresource}" in have)


# -- telling


def _tell(session: Session, plan: _Plan, what: str, *, removed: bool) -> None:
    """Details go to stderr."""
    if plan.operation and plan.protected:
        session.err(f"\treconciliation required {plan.operation}\n\treconciliation disabled by annotation")
    elif plan.operation:
        session.err(f"\treconciliation required {plan.operation}")
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
