"""`rollout undo`: go back to an earlier revision's Pod template.

Source of the behaviour: kubectl pkg/cmd/rollout/rollout_undo.go and pkg/polymorphichelpers/rollback.go.
"""

from __future__ import annotations

from engine.api.types import Object
from engine.api.wire import JSON_PATCH, STRATEGIC_PATCH
from engine.kubectl import last_applied, rollouts
from engine.kubectl.errors import CommandError
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.rollouts import HASH_LABELS, template_of
from engine.kubectl.selection import Info, visit
from engine.kubectl.session import Session
from engine.kubectl.verbs.rollout.common import selected
from engine.kubectl.verbs.rollout.history import recorded_template, revisions, template_text

# Annotations of a ReplicaSet that are no business of its Deployment.
KEPT = (
    last_applied.ANNOTATION,
    "deployment.kubernetes.io/revision",
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deprecated.deployment.rollback.to",
)


async def run(session: Session) -> None:
    selection = selected(session)
    wanted = session.flags.number("to-revision")
    dry_run = session.dry_run()

    async def undo(info: Info) -> None:
        if last_applied.original(info.object) is not None:
            _warn(session, info)
        kind = info.object["kind"]
        if kind not in ("Deployment", "DaemonSet", "StatefulSet"):
            raise _no_rollbacker(info.object)
        target = _target(info, await revisions(session, info.object), wanted)
        operation = await _roll_back(session, info, target, dry_run)
        result_printer(session, operation, dry_run=dry_run)(info.object, info.resource)

    await visit(session, selection, undo)


def _no_rollbacker(obj: Object) -> CommandError:
    if unvisited := rollouts.unvisited(obj):
        return CommandError(f'error retrieving rollbacker for "{rollouts.group_kind(obj)}", {unvisited}')
    return CommandError(f'no rollbacker has been implemented for "{rollouts.group_kind(obj)}"')


def _warn(session: Session, info: Info) -> None:
    session.err(
        f"Warning: resource {info.resource.plural}/{info.name} was previously managed with 'kubectl apply'. Rolling "
        f"back will not update the {last_applied.ANNOTATION} annotation, which may cause unexpected behavior on "
        "future 'kubectl apply' operations. Consider using 'kubectl apply' with your previous configuration file "
        "instead."
    )


def _target(info: Info, known: dict[int, Object], wanted: int) -> Object:
    if wanted:
        if wanted not in known:
            raise CommandError(f"unable to find specified revision {wanted} in history")
        return known[wanted]
    if len(known) < 2:
        if info.object["kind"] != "Deployment":
            raise CommandError("no last revision to roll back to")
        raise CommandError(f'no rollout history found for deployment "{info.name}"')
    return list(known.values())[-2]


async def _roll_back(session: Session, info: Info, target: Object, dry_run: str) -> str:
    """What was done, in words; what would be done is told by the Pod template itself."""
    if dry_run == "client":
        text = template_text(session, recorded_template(target))
        return text if info.object["kind"] == "Deployment" else f"will roll back to {text}"
    if info.object["kind"] == "Deployment":
        if info.object["spec"].get("paused"):
            raise CommandError(
                "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"
            )
        if template_of(target) == template_of(info.object):
            revision = (target["metadata"].get("annotations") or {}).get("deployment.kubernetes.io/revision", "")
            return f"skipped rollback (current template already matches revision {revision})"
        patch: object = _deployment_patch(info.object, target)
        content_type = JSON_PATCH
    else:
        patch, content_type = target.get("data") or {}, STRATEGIC_PATCH
    query = {"dryRun": "All" if dry_run == "server" else ""}
    await session.patch(info.resource, info.name, info.namespace, patch, content_type, **query)
    return "rolled back"


def _deployment_patch(deployment: Object, target: Object) -> list[Object]:
    """Put the ReplicaSet's template and its annotations in place of the Deployment's."""
    template = target["spec"]["template"]
    metadata = template.get("metadata") or {}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key not in HASH_LABELS}
    own = deployment["metadata"].get("annotations") or {}
    annotations = {key: own[key] for key in KEPT if key in own}
    theirs = target["metadata"].get("annotations") or {}
    annotations |= {key: value for key, value in theirs.items() if key not in KEPT}
    return [
        {"op": "replace", "path": "/spec/template", "value": {**template, "metadata": {**metadata, "labels": labels}}},
        {"op": "replace", "path": "/metadata/annotations", "value": annotations},
    ]
