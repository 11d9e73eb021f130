"""DynamicResources: a pod's ResourceClaims are there, allocated where the node is, and reserved for it (KEP 4381).

Source: upstream's plugins/dynamicresources. Devices are published by drivers on nodes as ResourceSlices, which the
kubelets here have none of; so a claim that is not allocated finds no device, and what is told is what upstream tells.
On by default from Kubernetes 1.34 on: from then the plugin has its say in every message of a pod that fits nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.api.errors import ApiError
from engine.api.types import GVR, Object, copy_object
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.diagnosis import NodeToStatus
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import (
    FilterPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreFilterResult,
    ReservePlugin,
)
from engine.scheduler.framework.status import SKIP, SUCCESS, Status, error, unresolvable, unschedulable
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.selecting import node_selector_matches

RESOURCE_CLAIMS = GVR("resource.k8s.io", "v1", "resourceclaims")
DEVICE_CLASSES = GVR("resource.k8s.io", "v1", "deviceclasses")

MAX_USERS = 256  # of one claim (ResourceClaimReservedForMaxSize)


@dataclass(slots=True)
class ClaimState:
    """`unavailable` are the claims that a node was rejected for."""

    claims: list[Object]
    unavailable: dict[str, Object]

    def clone(self) -> ClaimState:
        return ClaimState(self.claims, self.unavailable)


class DynamicResources(PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, PostFilterPlugin, ReservePlugin, PreBindPlugin):
    name = "DynamicResources"

    def pre_enqueue(self, pod: PodInfo) -> Status:
        found = self._claims(pod)
        return unresolvable(found) if isinstance(found, str) else SUCCESS

    def _claims(self, pod: PodInfo) -> list[Object] | str:
        """The pod's claims, or what is wrong with them."""
        claims = []
        for entry in pod.spec.get("resourceClaims") or ():
            name = entry.get("resourceClaimName")
            made = not name
            if made:
                statuses = {s["name"]: s for s in pod.status.get("resourceClaimStatuses") or ()}
                if entry["name"] not in statuses:
                    return f'pod "{pod.key}": ResourceClaim not created yet'
                name = statuses[entry["name"]].get("resourceClaimName")
                if not name:
                    continue
            claim = self.handle.lister(RESOURCE_CLAIMS).get(name, pod.namespace)
            if claim is None:
                return f'could not find ResourceClaim "{pod.namespace}/{name}"'
            if claim["metadata"].get("deletionTimestamp"):
                return f'resourceclaim "{name}" is being deleted'
            if made and not _is_for(claim, pod):
                return f"ResourceClaim {pod.namespace}/{name} was not created for pod {pod.key} (pod is not owner)"
            claims.append(claim)
        return claims

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        if not pod.spec.get("resourceClaims"):
            return PreFilterResult(SKIP)
        claims = self._claims(pod)
        if isinstance(claims, str):
            return PreFilterResult(unresolvable(claims))
        state.write(self.name, ClaimState(claims, {}))
        if not claims:
            return PreFilterResult(SKIP)
        for claim in claims:
            if _allocation(claim) is None:
                if reason := self._class_missing(claim):
                    return PreFilterResult(unresolvable(reason))
            elif not _is_reserved(claim, pod) and len(_users(claim)) >= MAX_USERS:
                return PreFilterResult(unresolvable("resourceclaim in use"))
        return PreFilterResult()

    def _class_missing(self, claim: Object) -> str:
        for request in ((claim.get("spec") or {}).get("devices") or {}).get("requests") or ():
            wanted = [(request.get("name", ""), request.get("exactly") or {})]
            if alternatives := request.get("firstAvailable"):
                wanted = [(f"{request.get('name', '')}/{sub.get('name', '')}", sub) for sub in alternatives]
            for name, part in wanted:
                kind = part.get("deviceClassName", "")
                if self.handle.lister(DEVICE_CLASSES).get(kind) is None:
                    return f"request {name}: device class {kind} does not exist"
        return ""

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        kept = state.read(self.name, ClaimState)
        if any(_allocation(claim) is None for claim in kept.claims):
            return unresolvable("cannot allocate all claims")
        away = [claim for claim in kept.claims if not _reaches(claim, node)]
        for claim in away:
            kept.unavailable[claim["metadata"]["name"]] = claim
        return unresolvable("resourceclaim not available on the node") if away else SUCCESS

    async def post_filter(self, state: CycleState, pod: PodInfo, statuses: NodeToStatus) -> PostFilterResult:
        """Give up an allocation elsewhere that nobody uses, so that the pod may have another."""
        kept = state.get(self.name, ClaimState)
        if kept is None or not kept.claims:
            return PostFilterResult(unschedulable("no new claims to deallocate"))
        for claim in kept.unavailable.values():
            if all(user.get("uid") == pod.uid for user in _users(claim)):
                freed = copy_object(claim)
                freed["status"] = {k: v for k, v in freed["status"].items() if k not in ("reservedFor", "allocation")}
                try:
                    await self.handle.client.update_status(RESOURCE_CLAIMS, freed)
                except (ApiError, ConnectionError) as failure:
                    return PostFilterResult(error(str(failure)))
                return PostFilterResult(unschedulable("deallocation of ResourceClaim completed"))
        return PostFilterResult(unschedulable("still not schedulable"))

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Reserve the claims for the pod."""
        kept = state.get(self.name, ClaimState)
        for claim in kept.claims if kept is not None else ():
            if _is_reserved(claim, pod):
                continue
            reserved = copy_object(claim)
            user = {"resource": "pods", "name": pod.name, "uid": pod.uid}
            reserved["status"]["reservedFor"] = [*_users(claim), user]
            try:
                await self.handle.client.update_status(RESOURCE_CLAIMS, reserved)
            except (ApiError, ConnectionError) as failure:
                key = f"{pod.namespace}/{claim['metadata']['name']}"
                return error(f"add reservation to claim {key}: {failure}")
        return SUCCESS

    def events_to_register(self) -> list[EventWithHint]:
        changed = Action.ADD | Action.UPDATE
        node = ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT)
        return [
            EventWithHint(ClusterEvent(EventResource.RESOURCE_CLAIM, changed), _after_claim),
            EventWithHint(ClusterEvent(EventResource.DEVICE_CLASS, changed)),
            EventWithHint(ClusterEvent(EventResource.TARGET_POD, Action.UPDATE)),
            EventWithHint(node),
        ]


def _allocation(claim: Object) -> Object | None:
    found: Object | None = (claim.get("status") or {}).get("allocation")
    return found


def _users(claim: Object) -> list[Object]:
    return (claim.get("status") or {}).get("reservedFor") or []


def _is_reserved(claim: Object, pod: PodInfo) -> bool:
    return any(user.get("uid") == pod.uid for user in _users(claim))


def _is_for(claim: Object, pod: PodInfo) -> bool:
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(owner.get("controller") and owner.get("uid") == pod.uid for owner in owners)


def _reaches(claim: Object, node: NodeInfo) -> bool:
    selector = (_allocation(claim) or {}).get("nodeSelector")
    return selector is None or (node.node is not None and node_selector_matches(selector, node.node))


def _after_claim(pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
    """One of the pod's claims has come, or has been allocated or freed."""
    metadata = new["metadata"]
    if metadata.get("namespace") != pod.namespace:
        return QueueingHint.SKIP
    named = {entry.get("resourceClaimName") for entry in pod.spec.get("resourceClaims") or ()}
    named |= {status.get("resourceClaimName") for status in pod.status.get("resourceClaimStatuses") or ()}
    used = metadata["name"] in named or _is_for(new, pod)
    changed = old is None or (old.get("status") or {}) != (new.get("status") or {})
    return QueueingHint.QUEUE if used and changed else QueueingHint.SKIP
