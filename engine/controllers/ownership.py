"""Owner references, and claiming objects by them (pkg/controller/controller_ref_manager.go).

A controller owns an object if the object's controller reference names it by uid. It adopts orphans that its selector
matches and releases its own that the selector no longer matches.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from engine.api.errors import ApiError
from engine.api.types import GVK, GVR, Object
from engine.client import Client

OWNER_INDEX = "controller-uid"


def owner_references(obj: Object) -> list[Object]:
    references: list[Object] = obj["metadata"].get("ownerReferences") or []
    return references


def controller_of(obj: Object) -> Object | None:
    """The owner reference that is marked as the controller's (metav1.GetControllerOf)."""
    for reference in obj["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            found: Object = reference
            return found
    return None


def controller_uid(obj: Object | None) -> str:
    reference = controller_of(obj) if obj is not None else None
    return str(reference["uid"]) if reference is not None else ""


def is_controlled_by(obj: Object, owner: Object) -> bool:
    return controller_uid(obj) == str(owner["metadata"]["uid"])


def by_controller_uid(obj: Object) -> Iterable[str]:
    """Index: an object under its controller's uid, an orphan under `orphan/NAMESPACE`."""
    uid = controller_uid(obj)
    return (uid or f"orphan/{obj['metadata'].get('namespace', '')}",)


def controller_reference(owner: Object, gvk: GVK) -> Object:
    """An owner reference that makes `owner` the controller (metav1.NewControllerRef)."""
    return {
        "apiVersion": gvk.api_version,
        "kind": gvk.kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


class JustDeletedError(Exception):
    """An owner that is being deleted adopts nothing."""


async def recheck_deletion(client: Client, resource: GVR, owner: Object) -> None:
    """Ask the API server, not the cache, whether the owner may still adopt. Raises if it is gone or going."""
    metadata = owner["metadata"]
    namespace, name = metadata.get("namespace", ""), metadata["name"]
    fresh = (await client.get(resource, name, namespace=namespace or None))["metadata"]
    if fresh["uid"] != metadata["uid"]:
        raise JustDeletedError(
            f"original {owner.get('kind')} {namespace}/{name} is gone: got uid {fresh['uid']}, wanted {metadata['uid']}"
        )
    if fresh.get("deletionTimestamp"):
        raise JustDeletedError(f"{namespace}/{name} has just been deleted at {fresh['deletionTimestamp']}")


class ControllerRefManager:
    """Claims objects of `resource` for one owner in one sync."""

    def __init__(
        self,
        client: Client,
        resource: GVR,
        *,
        owner: Object,
        owner_kind: GVK,
        matches: Callable[[Mapping[str, str]], bool],
        can_adopt: Callable[[], Awaitable[None]],
        adopted_finalizers: tuple[str, ...] = (),
    ) -> None:
        self._client = client
        self._resource = resource
        self._owner = owner
        self._owner_kind = owner_kind
        self._matches = matches
        self._can_adopt = can_adopt
        self._checked = False
        self._finalizers = adopted_finalizers

    async def claim(self, objects: Iterable[Object]) -> list[Object]:
        """Those of the objects that are the owner's, after adopting and releasing. Raises the first failure at the
        end, when all have been tried."""
        claimed, errors = [], []
        for obj in objects:
            try:
                if await self._claim(obj):
                    claimed.append(obj)
            except (ApiError, JustDeletedError) as error:
                errors.append(error)
        if errors:
            raise errors[0]
        return claimed

    async def _claim(self, obj: Object) -> bool:
        labels = obj["metadata"].get("labels") or {}
        owner = self._owner["metadata"]
        reference = controller_of(obj)
        if reference is not None:
            if reference["uid"] != owner["uid"]:
                return False
            if self._matches(labels):
                return True
            if not owner.get("deletionTimestamp"):
                await self._release(obj)
            return False
        if owner.get("deletionTimestamp") or obj["metadata"].get("deletionTimestamp") or not self._matches(labels):
            return False
        if owner.get("namespace", "") != obj["metadata"].get("namespace", ""):
            return False
        return await self._adopt(obj)

    async def _adopt(self, obj: Object) -> bool:
        if not self._checked:
            await self._can_adopt()
            self._checked = True
        metadata: Object = {
            "ownerReferences": [controller_reference(self._owner, self._owner_kind)],
            "uid": obj["metadata"]["uid"],
        }
        if self._finalizers:
            metadata["finalizers"] = list(self._finalizers)
        try:
            await self._patch(obj, metadata)
        except ApiError as error:
            if error.code == 404:
                return False
            raise
        return True

    async def _release(self, obj: Object) -> None:
        """Remove the reference; an object that is gone or that no longer has it needs nothing."""
        metadata: Object = {
            "uid": obj["metadata"]["uid"],
            "ownerReferences": [{"$patch": "delete", "uid": self._owner["metadata"]["uid"]}],
        }
        if self._finalizers:
            metadata["$deleteFromPrimitiveList/finalizers"] = list(self._finalizers)
        try:
            await self._patch(obj, metadata)
        except ApiError as error:
            if error.code not in (404, 422):
                raise

    async def _patch(self, obj: Object, metadata: Any) -> None:
        target = obj["metadata"]
        await self._client.patch(
            self._resource, target["name"], {"metadata": metadata}, namespace=target.get("namespace")
        )
