"""Pruning by labels: delete what was applied once, carries the labels still, and is in the manifests no more.

Source of the behaviour: kubectl pkg/cmd/apply/prune.go and pkg/util/prune/prune.go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from engine.api.errors import ApiError
from engine.api.types import GVK, Object
from engine.kubectl import last_applied
from engine.kubectl.deletion import delete, propagation
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import CommandError
from engine.kubectl.selection import Info
from engine.kubectl.session import Session

# What is looked at without --prune-allowlist.
DEFAULT = (
    GVK("", "v1", "ConfigMap"), GVK("", "v1", "Endpoints"), GVK("", "v1", "PersistentVolumeClaim"),
    GVK("", "v1", "Pod"), GVK("", "v1", "ReplicationController"), GVK("", "v1", "Secret"), GVK("", "v1", "Service"),
    GVK("batch", "v1", "Job"), GVK("batch", "v1", "CronJob"), GVK("networking.k8s.io", "v1", "Ingress"),
    GVK("apps", "v1", "DaemonSet"), GVK("apps", "v1", "Deployment"), GVK("apps", "v1", "ReplicaSet"),
    GVK("apps", "v1", "StatefulSet"), GVK("", "v1", "Namespace"), GVK("", "v1", "PersistentVolume"),
)  # fmt: skip
Report = Callable[[Object, Resource], None]


async def allowed(session: Session, texts: Iterable[str]) -> list[Resource]:
    """The resources of `--prune-allowlist GROUP/VERSION/KIND`. Raises CommandError."""
    kinds: list[GVK] = []
    for text in texts:
        parts = text.split("/")
        if len(parts) != 3:
            raise CommandError(f"invalid GroupVersionKind format: {text}, please follow <group/version/kind>")
        kinds.append(GVK("" if parts[0] == "core" else parts[0], parts[1], parts[2]))
    return [await session.discovery.for_kind(session.client, kind) for kind in kinds]


async def prune(
    session: Session,
    resources: Collection[Resource],
    *,
    namespaces: Iterable[str],
    seen: Collection[str],
    dry_run: str,
    report: Report,
) -> None:
    """Delete what bears the last-applied annotation and is not among the uids `seen`."""
    chosen = list(resources) or await _default(session)
    for namespace in namespaces:
        for resource in chosen:
            if resource.namespaced:
                await _prune(session, resource, namespace, seen=seen, dry_run=dry_run, report=report)
    for resource in chosen:
        if not resource.namespaced:
            await _prune(session, resource, "", seen=seen, dry_run=dry_run, report=report)


async def _default(session: Session) -> list[Resource]:
    return [await session.discovery.for_kind(session.client, kind) for kind in DEFAULT]


async def _prune(
    session: Session, resource: Resource, namespace: str, *, seen: Collection[str], dry_run: str, report: Report
) -> None:
    scope = "namespaced" if resource.namespaced else "nonNamespaced"
    selector = session.flags.text("selector")
    try:
        for obj in await session.list(resource, namespace, labelSelector=selector):
            metadata = obj["metadata"]
            applied = last_applied.ANNOTATION in (metadata.get("annotations") or {})
            if applied and metadata.get("uid") not in seen:
                await remove(session, resource, obj, dry_run=dry_run, report=report)
    except ApiError as error:
        kind = f"{resource.gvr.group}/{resource.gvr.version}, Kind={resource.kind}"
        raise CommandError(f"error pruning {scope} object {kind}: {error.message}") from error


async def remove(session: Session, resource: Resource, obj: Object, *, dry_run: str, report: Report) -> None:
    """Delete one object that is to be pruned, and say so."""
    metadata = obj["metadata"]
    if dry_run != "client":
        await delete(
            session,
            Info(resource, metadata.get("namespace", ""), metadata["name"]),
            grace=session.flags.number("grace-period"),
            policy=propagation(session.flags.text("cascade")),
            dry_run=dry_run == "server",
        )
    report(obj, resource)
