"""The ResourceClaims of a pod: whether they are there, are the pod's own, and are of use to it on any node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.api.types import Object
from engine.scheduler.devices.requests import devices_of
from engine.scheduler.framework.status import Status, error, unresolvable
from engine.scheduler.plugins.assumptions import Assumptions
from engine.scheduler.plugins.resource_claims import (
    DEVICE_CLASSES,
    MAX_USERS,
    ClaimError,
    allocation_of,
    claim_names,
    is_for,
    is_reserved,
    uid_of,
    users_of,
)
from engine.scheduler.pod_info import PodInfo

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle


class PodClaims:
    """`pending` are claims whose allocation is being written, by uid."""

    def __init__(self, handle: Handle, claims: Assumptions, pending: Mapping[str, Object]) -> None:
        self._handle = handle
        self._claims = claims
        self._pending = pending

    def of(self, pod: PodInfo) -> list[Object]:
        """Raises ClaimError."""
        claims = []
        for name, made in claim_names(pod):
            claim = self._claims.get(name, pod.namespace)
            if claim is None:
                raise ClaimError(f'could not find ResourceClaim "{pod.namespace}/{name}"')
            if claim["metadata"].get("deletionTimestamp"):
                raise ClaimError(f'resourceclaim "{name}" is being deleted')
            if made and not is_for(claim, pod):
                told = f"ResourceClaim {pod.namespace}/{name} was not created for pod {pod.key}"
                raise ClaimError(f"{told} (pod is not owner)")
            claims.append(claim)
        return claims

    def unusable(self, claim: Object, pod: PodInfo) -> Status | None:
        """Why the claim is of no use to the pod on any node."""
        if allocation_of(claim) is not None:
            full = not is_reserved(claim, pod) and len(users_of(claim)) >= MAX_USERS
            return unresolvable("resourceclaim in use") if full else None
        if uid_of(claim) in self._pending:
            key = f"{pod.namespace}/{claim['metadata']['name']}"
            return unresolvable(f"resource claim {key} is in the process of being allocated")
        for request in devices_of(claim).get("requests") or ():
            name, ways = request.get("name", ""), request.get("firstAvailable") or ()
            if request.get("exactly") is None and not ways:
                key = f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"
                return unresolvable(f"resource claim {key}, request {name}: unknown request type")
            wanted = [(f"{name}/{way.get('name', '')}", way) for way in ways] or [(name, request["exactly"])]
            for told, part in wanted:
                if (reason := self._without_class(told, part.get("deviceClassName", ""))) is not None:
                    return reason
        return None

    def _without_class(self, request: str, name: str) -> Status | None:
        """What keeps a request from any device, if its class does."""
        if not name:
            return error(f"request {request}: unsupported request type")
        if self.class_of(name) is None:
            return unresolvable(f"request {request}: device class {name} does not exist")
        return None

    def class_of(self, name: str) -> Object | None:
        return self._handle.lister(DEVICE_CLASSES).get(name)
