"""From client-side to server-side apply: the fields that a manager took by updates go over to the applying one.

Without this, a field that the manifest gives up would stay, held by the manager of the client-side applies.

Source of the behaviour: client-go util/csaupgrade and kubectl pkg/cmd/apply/apply.go (migrateToSSAIfNecessary,
saveLastApplyAnnotationIfNecessary).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from engine.api.apply.field_sets import union
from engine.api.errors import ApiError
from engine.api.types import Object
from engine.api.wire import APPLY_PATCH, JSON_PATCH
from engine.kubectl import last_applied
from engine.kubectl.selection import Info
from engine.kubectl.session import Session

DEFAULT_MANAGER = "kubectl"
ANNOTATION_MANAGER = "kubectl-last-applied"
ATTEMPTS = 5


async def save_annotation(session: Session, info: Info, manager: str, dry_run: str | None) -> None:
    """Have the last-applied annotation owned by a manager of its own, so that the migration does not drop it."""
    metadata = info.object.get("metadata") or {}
    text = (metadata.get("annotations") or {}).get(last_applied.ANNOTATION)
    if manager != DEFAULT_MANAGER or text is None or _owners(info.object, "Apply"):
        return
    kept = {"name": info.name, "annotations": {last_applied.ANNOTATION: text}}
    if info.resource.namespaced:
        kept["namespace"] = info.namespace
    body = {"apiVersion": info.resource.gvr.api_version, "kind": info.resource.kind, "metadata": kept}
    info.refresh(
        await session.patch(
            info.resource,
            info.name,
            info.namespace,
            body,
            APPLY_PATCH,
            fieldManager=ANNOTATION_MANAGER,
            dryRun=dry_run,
        )
    )


async def migrate(session: Session, info: Info, manager: str, dry_run: str | None) -> bool:
    """Hand the client-side managers' fields to the server-side one; says whether there was anything to do."""
    managers = {entry["manager"] for entry in _owners(info.object, "Update")}
    for attempt in range(ATTEMPTS):
        entries = upgraded(info.object, managers, manager)
        metadata = info.object["metadata"]
        if entries == (metadata.get("managedFields") or []):
            return False
        patch = [
            {"op": "replace", "path": "/metadata/managedFields", "value": entries},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata.get("resourceVersion", "")},
        ]
        try:
            info.refresh(
                await session.patch(info.resource, info.name, info.namespace, patch, JSON_PATCH, dryRun=dry_run)
            )
        except ApiError as error:
            if error.reason != "Conflict" or attempt == ATTEMPTS - 1:
                raise
            info.refresh(await session.get(info.resource, info.name, info.namespace))
        else:
            return True
    return False


def upgraded(obj: Object, managers: Collection[str], into: str) -> list[Object]:
    """The managedFields of an object with the updates of `managers` joined to the applies of `into`."""
    entries = [dict(entry) for entry in obj["metadata"].get("managedFields") or ()]
    for manager in sorted(managers):
        entries = _without(entries, manager, into)
    return entries


def _without(entries: list[dict[str, Any]], manager: str, into: str) -> list[dict[str, Any]]:
    target = _first(entries, into, "Apply")
    source = _first(entries, manager, "Update")
    if target is None:
        target = source
        if target is None:
            return entries
        target |= {"operation": "Apply", "manager": into}
    joined = next(
        (e for e in entries if _is(e, manager, "Update") and e.get("apiVersion") == target.get("apiVersion")), None
    )
    if joined is not None:
        target["fieldsV1"] = union(target.get("fieldsV1") or {}, joined.get("fieldsV1") or {})
    return [entry for entry in entries if not _is(entry, manager, "Update")]


def _is(entry: dict[str, Any], manager: str, operation: str) -> bool:
    return (entry.get("manager"), entry.get("operation"), entry.get("subresource", "")) == (manager, operation, "")


def _first(entries: list[dict[str, Any]], manager: str, operation: str) -> dict[str, Any] | None:
    return next((entry for entry in entries if _is(entry, manager, operation)), None)


def _owners(obj: Object, operation: str) -> list[dict[str, Any]]:
    """The managers that hold the last-applied annotation by this operation."""
    return [
        entry
        for entry in obj["metadata"].get("managedFields") or ()
        if entry.get("operation") == operation
        and f"f:{last_applied.ANNOTATION}"
        in (((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get("f:annotations") or {})
    ]
