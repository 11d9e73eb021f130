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
    warn_of_all_kinds(session, resources)
    for resource, obj in await candidates(session, resources, namespaces, seen):
        try:
            await remove(session, resource, obj, dry_run=dry_run, report=report)
        except ApiError as error:
            raise _failed(resource, error) from error


def warn_of_all_kinds(session: Session, resources: Collection[Resource]) -> None:
    """Where none are named, those outside of namespaces are looked at too, which is to end."""
    if not resources and session.namespace:  # which the clients that call it do not tell from `--namespace`
        session.warn(
            "prune.go:71",
            "Deprecated: kubectl apply will no longer prune non-namespaced resources by default when used with the "
            "--namespace flag in a future release. To preserve the current behaviour, list the resources you want to "
            "target explicitly in the --prune-allowlist flag.",
        )


async def candidates(
    session: Session, resources: Collection[Resource], namespaces: Iterable[str], seen: Collection[str]
) -> list[tuple[Resource, Object]]:
    """What would be pruned, those in namespaces first. Raises CommandError."""
    chosen = list(resources) or await _default(session)
    places = [(resource, namespace) for namespace in namespaces for resource in chosen if resource.namespaced]
    places += [(resource, "") for resource in chosen if not resource.namespaced]
    found: list[tuple[Resource, Object]] = []
    for resource, namespace in places:
        try:
            listed = await session.list(resource, namespace, labelSelector=session.flags.text("selector"))
        except ApiError as error:
            raise _failed(resource, error) from error
        for obj in listed:
            metadata = obj["metadata"]
            if last_applied.ANNOTATION in (metadata.get("annotations") or {}) and metadata.get("uid") not in seen:
                found.append((resource, obj))
    return found


def _failed(resource: Resource, error: ApiError) -> CommandError:
    scope = "namespaced" if resource.namespaced else "nonNamespaced"
    kind = f"{resource.gvr.group}/{resource.gvr.version}, Kind={resource.kind}"
    return CommandError(f"error pruning {scope} object {kind}: {error.message}")


async def _default(session: Session) -> list[Resource]:
    return [await session.discovery.for_kind(session.client, kind) for kind in DEFAULT]


async def remove(session: Session, resource: Resource, obj: Object, *, dry_run: str, report: Report) -> None:
    """Delete one object that is to be pruned, and say so."""
    metadata = obj["metadata"]
    if dry_run != "client":
        await delete(
            session,
            Info(resource, metadata.get("namespace", ""), metadata["name"]),
            grace=session.flags.number("grace-period"),
            policy=propagation(session),
            dry_run=dry_run == "server",
        )
    report(obj, resource)
