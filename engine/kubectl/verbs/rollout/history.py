"""`rollout history`: the revisions of a workload, or the Pod template of one.

Source of the behaviour: kubectl pkg/cmd/rollout/rollout_history.go and pkg/polymorphichelpers/history.go.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.patch import strategic_merge_patch
from engine.api.types import Object
from engine.kubectl import rollouts
from engine.kubectl.describe import pods
from engine.kubectl.describe.writer import Page
from engine.kubectl.errors import CommandError
from engine.kubectl.printers.objects import result_printer, structured_printer, unknown_format, without_managed_fields
from engine.kubectl.printers.tabwriter import TabWriter
from engine.kubectl.printers.zeros import with_zeros
from engine.kubectl.rollouts import CHANGE_CAUSE, controller_revisions, owned_replica_sets, revision_of
from engine.kubectl.schemas import schema_of
from engine.kubectl.selection import Info, visit
from engine.kubectl.session import Session
from engine.kubectl.verbs.rollout.common import selected


async def run(session: Session) -> None:
    selection = selected(session)
    revision = session.flags.number("revision")
    if revision < 0:
        raise CommandError(f"revision must be a positive integer: {revision}")
    printer = _printer(session)

    async def show(info: Info) -> None:
        known = await revisions(session, info.object)
        if printer is not None:
            if revision and revision not in known:
                raise CommandError("unable to find the specified revision")
            for obj in [known[revision]] if revision else known.values():
                printer(without_managed_fields(_as_shown(info, obj)))
            return
        text = _template(session, known, revision) if revision else _table(known)
        heading = f"with revision #{revision}" if revision else ""
        result_printer(session, f"{heading}\n{text}")(info.object, info.resource)

    await visit(session, selection, show)


def _printer(session: Session) -> Callable[[Object], None] | None:
    """What prints the objects that stand for the revisions; None without `-o`."""
    output = session.flags.text("output")
    if output == "name":
        return lambda obj: session.out(f"{rollouts.group_kind(obj).lower()}/{obj['metadata']['name']}")
    printer = structured_printer(session, typed=True) if output else None  # a template alone shows the object
    if output and printer is None:
        raise unknown_format(output)
    return printer


async def revisions(session: Session, obj: Object) -> dict[int, Object]:
    """What stands for each revision, the oldest first."""
    kind = obj["kind"]
    if kind == "Deployment":
        owned = sorted(await owned_replica_sets(session, obj), key=revision_of)
        return {revision_of(rs): rs for rs in owned}
    if kind in ("DaemonSet", "StatefulSet"):
        return {int(cr.get("revision", 0)): cr for cr in await controller_revisions(session, obj)}
    if unvisited := rollouts.unvisited(obj):
        raise CommandError(f'error retrieving history for "{rollouts.group_kind(obj)}", {unvisited}')
    raise CommandError(f'no history viewer has been implemented for "{rollouts.group_kind(obj)}"')


def _as_shown(info: Info, revision: Object) -> Object:
    """What `-o` shows of a revision: a ReplicaSet itself, else the workload as it was by its ControllerRevision."""
    if revision["kind"] != "ControllerRevision":
        return revision
    shown = with_zeros(strategic_merge_patch(info.object, revision.get("data") or {}, schema_of(info.resource.gvk)))
    claims = shown["spec"].get("volumeClaimTemplates") or []
    # What is within another object has no type in kubectl's own structures.
    kept = [{key: value for key, value in claim.items() if key not in ("apiVersion", "kind")} for claim in claims]
    return {**shown, "spec": {**shown["spec"], "volumeClaimTemplates": kept}} if claims else shown


def _table(known: dict[int, Object]) -> str:
    if not known:
        return "No rollout history found."
    writer = TabWriter()
    writer.write("REVISION\tCHANGE-CAUSE\n")
    for number, obj in known.items():
        cause = (obj["metadata"].get("annotations") or {}).get(CHANGE_CAUSE) or "<none>"
        writer.write(f"{number}\t{cause}\n")
    return writer.flush()


def _template(session: Session, known: dict[int, Object], revision: int) -> str:
    if not known:
        return "No rollout history found."
    if revision not in known:
        raise CommandError("unable to find the specified revision")
    obj = known[revision]
    template = recorded_template(obj)
    cause = (obj["metadata"].get("annotations") or {}).get(CHANGE_CAUSE)
    if cause:
        metadata = template.get("metadata") or {}
        annotations = {**(metadata.get("annotations") or {}), CHANGE_CAUSE: cause}
        template = {**template, "metadata": {**metadata, "annotations": annotations}}
    return template_text(session, template)


def recorded_template(obj: Object) -> Object:
    """The Pod template that a ReplicaSet or a ControllerRevision keeps."""
    holder = obj["spec"] if "spec" in obj else (obj.get("data") or {}).get("spec", {})
    template: Object = holder.get("template") or {}
    return template


def template_text(session: Session, template: Object) -> str:
    """A Pod template as `describe` tells of it, in cells that are parted by tabs."""
    page = Page(session.now)
    pods.template(page, template)
    return page.unaligned()
