"""Objects as the server has them, and what is said where it has none (hop 01).

Source of the behaviour: cli-runtime pkg/resource/visitor.go (Info.Get, RequireNamespace), helper.go (EnhanceListError).
"""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.golang.text import quoted
from engine.api.types import Object
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import OtherNamespaceError
from engine.kubectl.session import Session


async def live(session: Session, resource: Resource, name: str, namespace: str, *, subresource: str = "") -> Object:
    """The object as the server has it. Where its namespace is missing too, that is what is told of."""
    try:
        return await session.get(resource, name, namespace, subresource=subresource)
    except ApiError as error:
        await require_there(session, namespace, error)
        raise


async def require_there(session: Session, namespace: str, error: ApiError) -> None:
    """Where an object was not found, look whether its namespace is there. Raises the server's words if not."""
    if error.reason != "NotFound" or namespace in ("", "default"):
        return
    try:
        await session.request("GET", f"/api/v1/namespaces/{namespace}")
    except ApiError as missing:
        if missing.reason == "NotFound":
            raise missing from error


async def listed(
    session: Session, resource: Resource, namespace: str, *, labels: str = "", fields: str = ""
) -> list[Object]:
    """What selectors find. Raises the server's words with the selectors put before them."""
    try:
        return await session.list(resource, namespace, labelSelector=labels, fieldSelector=fields)
    except ApiError as error:
        raise list_error(error, resource, labels, fields) from error


def list_error(error: ApiError, resource: Resource, labels: str, fields: str) -> ApiError:
    """Say which list failed."""
    if error.reason not in ("BadRequest", "NotFound"):
        return error
    gvr, labels, fields = resource.gvr, labels.strip(), fields.strip()
    subject = f'"{gvr.group}/{gvr.version}, Resource={gvr.resource}"'
    where = f"Unable to list {subject}"
    if labels or fields:
        where = f"Unable to find {subject} that match label selector {quoted(labels)}, field selector {quoted(fields)}"
    return ApiError(error.code, error.reason, f"{where}: {error.message}", details=error.details)


def require_namespace(session: Session, resource: Resource, namespace: str) -> None:
    """Raises OtherNamespaceError for an object of a manifest that is of another namespace than `-n` says."""
    if resource.namespaced and namespace not in ("", session.namespace):
        raise OtherNamespaceError(
            f'the namespace from the provided object "{namespace}" does not match the namespace '
            f"\"{session.namespace}\". You must pass '--namespace={namespace}' to perform this operation."
        )
