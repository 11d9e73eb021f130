"""`taint`: set and remove the taints of nodes.

Source of the behaviour: kubectl pkg/cmd/taint (taint.go, utils.go).
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.label_syntax import label_key_errors, label_value_errors
from engine.api.patch import two_way_strategic_patch
from engine.api.types import Object
from engine.api.wire import STRATEGIC_PATCH
from engine.kubectl.command import Command
from engine.kubectl.errors import BareError, CommandError, UsageError, of
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL, DRY_RUN, PRINT, SELECTOR, VALIDATE, field_manager
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.schemas import schema_of
from engine.kubectl.selection import Info, Selection, visit
from engine.kubectl.session import Session

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


async def run(session: Session) -> None:
    dry_run = session.dry_run()
    resources, specs = _split(session.arguments)
    if not resources:
        raise CommandError("one or more resources must be specified as <resource> <name>")
    if not specs:
        raise CommandError("at least one taint update is required")
    session.field_validation()
    adding, removing = _parse(specs)
    await _check(session, resources, adding, removing)

    async def taint(info: Info) -> None:
        operation, after = _changed(session, info.object, adding, removing)
        if dry_run == "client":
            info.object = after
        else:
            info.refresh(
                await session.patch(
                    info.resource,
                    info.name,
                    "",
                    two_way_strategic_patch(info.object, after, schema_of(info.resource.gvk)),
                    STRATEGIC_PATCH,
                    fieldManager=session.flags.text("field-manager"),
                    dryRun="All" if dry_run == "server" else None,
                )
            )
        result_printer(session, operation)(info.object, info.resource)  # upstream says nothing of a dry run here

    named = not session.flags.on("all") and not session.flags.text("selector")
    arguments = ["node", *resources[1:]] if named else ["node"]  # names count for nothing beside a selector
    await visit(session, Selection.of_flags(session, arguments=arguments), taint)


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The type and the names, and the taints after them. Raises CommandError."""
    resources: list[str] = []
    specs: list[str] = []
    for word in words:
        if "=" in word or ":" in word or word.endswith("-"):
            specs.append(word)
        elif specs:
            raise CommandError(f"all resources must be specified before taint changes: {word}")
        else:
            resources.append(word)
    return resources, specs


async def _check(
    session: Session, resources: Sequence[str], adding: Sequence[Object], removing: Sequence[Object]
) -> None:
    """Raises CommandError."""
    kind = resources[0].lower()
    try:
        resource = await session.resolve(kind.partition(".")[0])  # what follows a dot is taken for fields
    except CommandError as error:
        raise BareError(str(error)) from error
    if resource.kind != "Node":
        raise CommandError(f"invalid resource type {kind}, only node types are supported")
    both = [
        f"{gone['key']}={gone['effect']}"
        for taint in adding
        for gone in removing
        if taint["key"] == gone["key"] and gone["effect"] in ("", taint["effect"])
    ]
    if both:
        what = ", ".join(both)
        raise CommandError(f"can not both modify and remove the following taint(s) in the same command: {what}")
    flags = session.flags
    if flags.on("all") and flags.text("selector"):
        raise CommandError("setting 'all' parameter with a non empty selector is prohibited")
    if not flags.on("all") and not flags.text("selector") and len(resources) < 2:
        raise CommandError("at least one resource name must be specified since 'all' parameter is not set")


def _parse(specs: Sequence[str]) -> tuple[list[Object], list[Object]]:
    """The taints to add and those to remove. Raises UsageError."""
    adding: list[Object] = []
    removing: list[Object] = []
    for spec in specs:
        taint = _taint(spec.removesuffix("-"))
        if spec.endswith("-"):
            removing.append(taint)
            continue
        if not taint["effect"]:
            raise UsageError(f"invalid taint spec: {spec}")
        if any(_same(taint, other) for other in adding):
            shown = f"{{{taint['key']} {taint.get('value', '')} {taint['effect']} <nil>}}"
            raise UsageError(f"duplicated taints with the same key and effect: {shown}")
        adding.append(taint)
    return adding, removing


def _taint(spec: str) -> Object:
    """Of `KEY=VALUE:EFFECT`, `KEY:EFFECT` or `KEY`. Raises UsageError."""
    parts = spec.split(":")
    effect = parts[1] if len(parts) == 2 else ""
    key_value = parts[0].split("=") if len(parts) == 2 else parts[:1]
    if len(parts) == 2 and effect not in EFFECTS:
        raise UsageError(f"invalid taint effect: {effect}, unsupported taint effect")
    if len(parts) > 2 or len(key_value) > 2:
        raise UsageError(f"invalid taint spec: {spec}")
    key, value = key_value[0], key_value[1] if len(key_value) == 2 else ""
    if problems := label_value_errors(value) or label_key_errors(key):
        raise UsageError(f"invalid taint spec: {spec}, {'; '.join(problems)}")
    return {"key": key, "effect": effect, **({"value": value} if value else {})}


def _changed(
    session: Session, node: Object, adding: Sequence[Object], removing: Sequence[Object]
) -> tuple[str, Object]:
    """What is done to the node, in a word, and the node after it. Raises CommandError, Aggregate."""
    old: list[Object] = list((node.get("spec") or {}).get("taints") or ())
    overwrite = session.flags.on("overwrite")
    if not overwrite and (clashing := [taint["key"] for taint in adding for other in old if _same(taint, other)]):
        raise CommandError(
            f"node {node['metadata']['name']} already has {','.join(clashing)} taint(s) with same effect(s) "
            "and --overwrite is false"
        )
    taints = [*adding, *(taint for taint in old if not any(_same(taint, other) for other in adding))]
    added, deleted = len(taints) != len(old), False
    missing: list[Exception] = []
    for gone in removing:
        kept = [taint for taint in taints if taint["key"] != gone["key"] or gone["effect"] not in ("", taint["effect"])]
        deleted = len(kept) != len(taints)
        if not deleted:
            effect = f":{gone['effect']}" if gone["effect"] else ""
            missing.append(CommandError(f'taint "{gone["key"]}{effect}" not found'))
        taints = kept
    if missing:
        raise of(missing)
    operation = "modified" if overwrite or (added and deleted) else "tainted" if added else "untainted"
    return operation, {**node, "spec": {**(node.get("spec") or {}), "taints": taints}}


def _same(left: Object, right: Object) -> bool:
    return bool(left["key"] == right["key"] and left["effect"] == right["effect"])


COMMAND = Command(
    name="taint",
    short="Update the taints on one or more nodes",
    usage="NODE NAME KEY_1=VAL_1:TAINT_EFFECT_1 ... KEY_N=VAL_N:TAINT_EFFECT_N",
    run=run,
    flags=(
        *PRINT,
        *SELECTOR,
        *ALL,
        *DRY_RUN,
        *VALIDATE,
        *field_manager("kubectl-taint"),
        Flag("overwrite", Type.BOOL, help="Replace taints that are there."),
    ),
)
