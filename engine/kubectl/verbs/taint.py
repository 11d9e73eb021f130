"""`taint`: set and remove the taints of nodes.

Source of the behaviour: kubectl pkg/cmd/taint (taint.go, utils.go).
"""

from __future__ import annotations

from engine.api.patch import two_way_strategic_patch
from engine.api.types import Object
from engine.api.wire import STRATEGIC_PATCH
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, UsageError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL, DRY_RUN, PRINT, SELECTOR, VALIDATE, field_manager
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.schemas import schema_of
from engine.kubectl.selection import Info, Selection, visit
from engine.kubectl.session import Session

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


async def run(session: Session) -> None:
    words = session.arguments
    resources = [word for word in words if not _is_taint(word)]
    specs = [word for word in words if _is_taint(word)]
    if not resources:
        raise CommandError("one or more resources must be specified as <resource> <name>")
    if not specs:
        raise CommandError("at least one taint update is required")
    if resources[0].lower() not in ("node", "nodes", "no"):
        raise CommandError(f"invalid resource type {resources[0]}, only node types are supported")
    adding, removing = _parse(specs)
    dry_run = session.dry_run()

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

    everything = session.flags.on("all")
    if everything and session.flags.text("selector"):
        raise CommandError("setting 'all' parameter with a non empty selector is prohibited")
    selection = Selection.of_flags(session, arguments=resources[:1] if everything else resources)
    await visit(session, selection, taint)


def _is_taint(word: str) -> bool:
    return "=" in word or ":" in word or word.endswith("-")


def _parse(specs: list[str]) -> tuple[list[Object], list[Object]]:
    adding: list[Object] = []
    removing: list[Object] = []
    for spec in specs:
        remove = spec.endswith("-")
        body = spec.removesuffix("-")
        key_value, colon, effect = body.partition(":")
        if colon and effect not in EFFECTS:
            raise UsageError(f"invalid taint effect: {effect}, unsupported taint effect")
        key, _, value = key_value.partition("=")
        if not remove and not colon:
            raise UsageError(f"invalid taint spec: {spec}")
        taint: Object = {"effect": effect, "key": key}
        if value:
            taint["value"] = value
        (removing if remove else adding).append(taint)
    added = [f"{taint['key']}={taint.get('effect', '')}" for taint in adding]
    both = [text for taint in removing if (text := f"{taint['key']}={taint.get('effect', '')}") in added]
    if both:
        what = ", ".join(both)
        raise CommandError(f"can not both modify and remove the following taint(s) in the same command: {what}")
    return adding, removing


def _changed(session: Session, node: Object, adding: list[Object], removing: list[Object]) -> tuple[str, Object]:
    taints: list[Object] = list((node.get("spec") or {}).get("taints") or ())
    name = node["metadata"]["name"]
    if not session.flags.on("overwrite"):
        clashing = [t["key"] for t in adding if any(_same(t, old) for old in taints)]
        if clashing:
            raise CommandError(
                f"node {name} already has {', '.join(clashing)} taint(s) with same effect(s) and --overwrite is false"
            )
    replaced = any(_same(t, old) for t in adding for old in taints)
    kept = [*adding, *(old for old in taints if not any(_same(t, old) for t in adding))]
    for gone in removing:
        matching = [t for t in kept if t["key"] == gone["key"] and gone["effect"] in ("", t["effect"])]
        if not matching:
            effect = f":{gone['effect']}" if gone["effect"] else ""
            raise CommandError(f'taint "{gone["key"]}{effect}" not found')
        kept = [t for t in kept if t not in matching]
    spec = {**(node.get("spec") or {}), "taints": kept}
    if adding and not removing:
        operation = "modified" if replaced else "tainted"
    else:
        operation = "modified" if adding else "untainted"
    return operation, {**node, "spec": spec}


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
