"""What DynamicResources writes: allocations and reservations into claims, and claims of its own.

Source: upstream's plugins/dynamicresources (bindClaim, unreserve, deleteClaim).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from engine.api.errors import ApiError
from engine.api.types import PODS, Object, copy_object
from engine.client.client import STRATEGIC_PATCH
from engine.scheduler.framework.profile import at_least
from engine.scheduler.plugins.assumptions import Assumptions
from engine.scheduler.plugins.resource_claims import FINALIZER, RESOURCE_CLAIMS, ClaimError, users_of
from engine.scheduler.pod_info import PodInfo

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

log = logging.getLogger(__name__)

WRITE_TRIES = 5  # after conflicts (client-go retry.DefaultRetry)


def user(pod: PodInfo) -> Object:
    return {"resource": "pods", "name": pod.name, "uid": pod.uid}


class _FailedWriteError(Exception):
    """A write that the API server has refused, told with what it was for."""

    def __init__(self, what: str, failure: ApiError) -> None:
        super().__init__(f"{what}: {failure}")
        self.failure = failure


async def _told(what: str, write: Awaitable[Object]) -> Object:
    """Raises _FailedWriteError."""
    try:
        return await write
    except ApiError as failure:
        raise _FailedWriteError(what, failure) from None


class ClaimWriter:
    def __init__(self, handle: Handle, claims: Assumptions) -> None:
        self._handle = handle
        self._claims = claims

    async def reserve(self, claim: Object, pod: PodInfo, allocation: Object | None) -> Object:
        """Write down a reservation, and with it an allocation. Raises ClaimError, also where a request fails otherwise
        than by a conflict."""
        metadata = claim["metadata"]
        for tries in range(1, WRITE_TRIES + 1):
            try:
                return await self._reserve_once(claim, pod, allocation)
            except _FailedWriteError as failed:
                if failed.failure.reason != "Conflict" or tries == WRITE_TRIES:
                    raise ClaimError(str(failed)) from None
            key = f"{metadata['namespace']}/{metadata['name']}"
            get = self._handle.client.get(RESOURCE_CLAIMS, metadata["name"], namespace=metadata["namespace"])
            try:
                claim = await get
            except ApiError as failure:
                raise ClaimError(f"get updated claim {key} after conflict: {failure}") from None
        raise AssertionError("the last try returns or raises")

    async def _reserve_once(self, claim: Object, pod: PodInfo, allocation: Object | None) -> Object:
        """Raises ClaimError, and _FailedWriteError."""
        key = f"{pod.namespace}/{claim['metadata']['name']}"
        if claim["metadata"].get("deletionTimestamp"):
            raise ClaimError(f"claim {key} got deleted in the meantime")
        written = copy_object(claim)
        status = written.setdefault("status", {})
        if allocation is not None:
            if status.get("allocation") is not None:
                raise ClaimError(f"claim {key} got allocated elsewhere in the meantime")
            finalizers = written["metadata"].setdefault("finalizers", [])
            if FINALIZER not in finalizers:
                finalizers.append(FINALIZER)
                update = self._handle.client.update(RESOURCE_CLAIMS, written)
                written = copy_object(await _told(f"add finalizer to claim {key}", update))
                status = written.setdefault("status", {})
            status["allocation"] = {**allocation, **self._since()}
        status["reservedFor"] = [*users_of(claim), user(pod)]
        what = "add allocation and reservation to" if allocation is not None else "add reservation to"
        done = await _told(f"{what} claim {key}", self._handle.client.update_status(RESOURCE_CLAIMS, written))
        self._claims.wrote(done)
        return done

    def _since(self) -> Object:
        """When a device was allocated, for versions that wait for it to become ready."""
        return {"allocationTimestamp": self._handle.clock.timestamp()} if at_least(self._handle.version, 36) else {}

    async def give_back(self, claim: Object, pod: PodInfo) -> None:
        """Only the pod's own entry, whatever else has changed."""
        metadata = claim["metadata"]
        patch = {
            "metadata": {"uid": metadata.get("uid")},
            "status": {"reservedFor": [{"$patch": "delete", "uid": pod.uid}]},
        }
        try:
            await self._handle.client.patch(
                RESOURCE_CLAIMS,
                metadata["name"],
                patch,
                namespace=metadata["namespace"],
                subresource="status",
                content_type=STRATEGIC_PATCH,
            )
        except (ApiError, ConnectionError) as failure:
            # The next attempt of the pod comes here again.
            log.warning("unreserve %s: %s", metadata["name"], failure)

    async def deallocate(self, claim: Object) -> None:
        """Give up an allocation. Raises what the request raises."""
        freed = copy_object(claim)
        gone = ("reservedFor", "allocation", "devices")
        freed["status"] = {name: value for name, value in freed["status"].items() if name not in gone}
        await self._handle.client.update_status(RESOURCE_CLAIMS, freed)

    # -- claims of the scheduler's own, for extended resources

    async def create(self, claim: Object) -> Object:
        """Raises ClaimError."""
        metadata = {name: value for name, value in claim["metadata"].items() if name not in ("name", "uid")}
        made = {**claim, "metadata": metadata}
        ok = False
        try:
            created = await self._handle.client.create(RESOURCE_CLAIMS, made, namespace=metadata["namespace"])
            ok = True
        except (ApiError, ConnectionError) as failure:
            # The claim has no name yet, and upstream tells none.
            raise ClaimError(f"create claim for extended resources {metadata['namespace']}/: {failure}") from None
        finally:
            self._handle.metrics.created_claim(ok=ok)
        return created

    async def tell(self, pod: PodInfo, claim: Object, mappings: list[Object]) -> None:
        """Say in the pod's status which of its containers gets what of the claim. Raises ClaimError."""
        status = {"resourceClaimName": claim["metadata"]["name"], "requestMappings": mappings}
        patch = {"status": {"extendedResourceClaimStatus": status}}
        try:
            await self._handle.client.patch(PODS, pod.name, patch, namespace=pod.namespace, subresource="status")
        except (ApiError, ConnectionError) as failure:
            raise ClaimError(f"update pod {pod.key} ExtendedResourceClaimStatus: {failure}") from None

    async def delete(self, claim: Object) -> None:
        """Take the protection from a claim and delete it. Raises what a request raises."""
        metadata = claim["metadata"]
        patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}}
        client, where = self._handle.client, metadata["namespace"]
        await client.patch(RESOURCE_CLAIMS, metadata["name"], patch, namespace=where, content_type=STRATEGIC_PATCH)
        await client.delete(RESOURCE_CLAIMS, metadata["name"], namespace=where)

    async def delete_quietly(self, claim: Object) -> None:
        try:
            await self.delete(claim)
        except (ApiError, ConnectionError) as failure:
            # The next attempt of the pod finds it and deletes it.
            log.warning("delete %s: %s", claim["metadata"]["name"], failure)
