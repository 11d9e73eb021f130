"""DynamicResources: a pod's ResourceClaims are there, allocated where the node is, and reserved for it (KEP 4381).

Source: upstream's plugins/dynamicresources. What is not allocated yet is allocated here: Filter finds devices for every
node, Reserve takes those of the chosen node, so that the next pod does not get them too, and PreBind writes it down.
On by default from Kubernetes 1.34 on: from then the plugin has its say in every message of a pod that fits nowhere.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.api.errors import ApiError
from engine.api.types import Object, copy_object
from engine.client.client import STRATEGIC_PATCH
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.devices.allocator import Allocator
from engine.scheduler.devices.pools import Slices
from engine.scheduler.devices.requests import AllocationError, NodeAllocationError, devices_of
from engine.scheduler.devices.selectors import Verdicts
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
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
    Scores,
    default_normalize,
)
from engine.scheduler.framework.profile import at_least
from engine.scheduler.framework.status import SKIP, SUCCESS, Status, error, unresolvable, unschedulable
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.assumptions import Assumptions
from engine.scheduler.plugins.resource_claims import (
    DEVICE_CLASSES,
    FINALIZER,
    MAX_USERS,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
    ClaimError,
    allocated_devices,
    allocation_of,
    claim_names,
    has_alternatives,
    is_for,
    is_reserved,
    preference,
    reaches,
    uid_of,
    users_of,
)
from engine.scheduler.pod_info import PodInfo

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

log = logging.getLogger(__name__)

WRITE_TRIES = 5  # after conflicts (client-go retry.DefaultRetry)


@dataclass(slots=True)
class ClaimState:
    """`unavailable` are the claims that a node was rejected for, `found` the allocations by node, `allocations` those
    of the chosen node by the claims' uids."""

    claims: list[Object]
    allocator: Allocator | None = None
    unavailable: dict[str, Object] = field(default_factory=dict)
    found: dict[str, list[Object]] = field(default_factory=dict)
    allocations: dict[str, Object] = field(default_factory=dict)

    def clone(self) -> ClaimState:
        return self


class DynamicResources(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    ReservePlugin,
    PreBindPlugin,
):
    name = "DynamicResources"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._claims = Assumptions(RESOURCE_CLAIMS, handle)
        self._pending: dict[str, Object] = {}  # claims whose allocation is being written, by uid
        self._verdicts = Verdicts()

    def pre_enqueue(self, pod: PodInfo) -> Status:
        try:
            self._claims_of(pod)
        except ClaimError as failure:
            return unresolvable(str(failure))
        return SUCCESS

    def _claims_of(self, pod: PodInfo) -> list[Object]:
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

    # -- deciding

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        # Empty until all is well: what is asked later must know that it came this far.
        kept = ClaimState([])
        state.write(self.name, kept)
        if not pod.spec.get("resourceClaims"):
            return PreFilterResult(SKIP)
        try:
            claims = self._claims_of(pod)
        except ClaimError as failure:
            return PreFilterResult(unresolvable(str(failure)))
        if not claims:
            return PreFilterResult(SKIP)
        for claim in claims:
            if (reason := self._unusable(claim, pod)) is not None:
                return PreFilterResult(reason)
        if wanted := [claim for claim in claims if allocation_of(claim) is None]:
            kept.allocator = self._allocator(wanted)
        kept.claims = claims
        return PreFilterResult()

    def _unusable(self, claim: Object, pod: PodInfo) -> Status | None:
        """Why the claim is of no use to the pod on any node."""
        if allocation_of(claim) is not None:
            full = not is_reserved(claim, pod) and len(users_of(claim)) >= MAX_USERS
            return unresolvable("resourceclaim in use") if full else None
        if uid_of(claim) in self._pending:
            key = f"{pod.namespace}/{claim['metadata']['name']}"
            return unresolvable(f"resource claim {key} is in the process of being allocated")
        for request in devices_of(claim).get("requests") or ():
            wanted = [(request.get("name", ""), request.get("exactly") or {})]
            if ways := request.get("firstAvailable"):
                wanted = [(f"{request.get('name', '')}/{sub.get('name', '')}", sub) for sub in ways]
            for name, part in wanted:
                kind = part.get("deviceClassName", "")
                if not kind:
                    return error(f"request {name}: unsupported request type")
                if self._class(kind) is None:
                    return unresolvable(f"request {name}: device class {kind} does not exist")
        return None

    def _class(self, name: str) -> Object | None:
        return self.handle.lister(DEVICE_CLASSES).get(name)

    def _allocator(self, claims: list[Object]) -> Allocator:
        known = {uid_of(claim): claim for claim in self._claims.list()}
        taken = {device for claim in {**known, **self._pending}.values() for device in allocated_devices(claim)}
        return Allocator(
            claims,
            taken=taken,
            class_of=self._class,
            slices=Slices(self.handle.lister(RESOURCE_SLICES).list()),
            verdicts=self._verdicts,
        )

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        kept = state.read(self.name, ClaimState)
        assert node.node is not None
        away = [claim for claim in kept.claims if not reaches(claim, node.node)]
        if kept.allocator is not None:
            try:
                found = kept.allocator.allocate(node.node)
            except NodeAllocationError as failure:
                return unresolvable(str(failure))
            except AllocationError as failure:
                return error(str(failure))
            if found is None:
                return unresolvable("cannot allocate all claims")
            kept.found[node.name] = found
        for claim in away:
            kept.unavailable[claim["metadata"]["name"]] = claim
        return unresolvable("resourceclaim not available on the node") if away else SUCCESS

    async def post_filter(self, state: CycleState, pod: PodInfo, statuses: NodeToStatus) -> PostFilterResult:
        """Give up an allocation elsewhere that nobody uses, so that the pod may have another."""
        kept = state.get(self.name, ClaimState)
        if kept is None:
            # Another plugin's PreFilter has ended the attempt before this one's: upstream takes that for an error, so
            # that all it has to say of preemption is this.
            return PostFilterResult(error("not found"))
        if not kept.claims:
            return PostFilterResult(unschedulable("no new claims to deallocate"))
        for claim in kept.unavailable.values():
            users = users_of(claim)
            if users and (len(users) > 1 or not is_reserved(claim, pod)):
                continue
            freed = copy_object(claim)
            freed["status"] = {k: v for k, v in freed["status"].items() if k not in ("reservedFor", "allocation")}
            try:
                await self.handle.client.update_status(RESOURCE_CLAIMS, freed)
            except (ApiError, ConnectionError) as failure:
                return PostFilterResult(error(str(failure)))
            return PostFilterResult(unschedulable("deallocation of ResourceClaim completed"))
        return PostFilterResult(unschedulable("still not schedulable"))

    # -- scoring

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Only where a request has alternatives do nodes differ."""
        kept = state.get(self.name, ClaimState)
        choosy = kept is not None and kept.allocator is not None and any(map(has_alternatives, kept.allocator.claims))
        return SUCCESS if choosy and at_least(self.handle.version, 35) else SKIP

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """The more, the earlier alternatives the node can offer (KEP 4816)."""
        kept = state.read(self.name, ClaimState)
        found = kept.found.get(node.name)
        if kept.allocator is None or found is None:
            return 0
        return sum(preference(claim, made) for claim, made in zip(kept.allocator.claims, found, strict=True))

    def normalize(self, state: CycleState, pod: PodInfo, scores: Scores, snapshot: Snapshot, rows: Rows) -> Scores:
        return default_normalize(scores)

    # -- acting

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Nobody else gets the devices from here on."""
        kept = state.get(self.name, ClaimState)
        if kept is None or kept.allocator is None:
            return SUCCESS
        found = kept.found.get(node_name)
        if found is None:
            return error("claim allocation not found for node")
        for claim, allocation in zip(kept.allocator.claims, found, strict=True):
            kept.allocations[uid_of(claim)] = allocation
            self._pending[uid_of(claim)] = {
                **claim,
                "status": {**(claim.get("status") or {}), "allocation": allocation},
            }
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        kept = state.get(self.name, ClaimState)
        for claim in kept.claims if kept is not None else ():
            self._pending.pop(uid_of(claim), None)
            if allocation_of(claim) is not None and is_reserved(claim, pod):
                self.handle.spawn(self._give_back(claim, pod), f"unreserve {claim['metadata']['name']}")

    def settle(self, state: CycleState, pod: PodInfo) -> list[Object]:
        """The pod's claims as they will be once it is bound, for who writes nothing down (what-if)."""
        kept = state.get(self.name, ClaimState)
        settled = []
        for claim in kept.claims if kept is not None else ():
            claim = self._pending.pop(uid_of(claim), claim)
            users = users_of(claim)
            if not is_reserved(claim, pod):
                users = [*users, _user(pod)]
            settled.append({**claim, "status": {**(claim.get("status") or {}), "reservedFor": users}})
        return settled

    async def _give_back(self, claim: Object, pod: PodInfo) -> None:
        """Only the pod's own entry, whatever else has changed."""
        metadata = claim["metadata"]
        patch = {
            "metadata": {"uid": metadata.get("uid")},
            "status": {"reservedFor": [{"$patch": "delete", "uid": pod.uid}]},
        }
        try:
            await self.handle.client.patch(
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

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        kept = state.get(self.name, ClaimState)
        return SKIP if kept is None or all(is_reserved(claim, pod) for claim in kept.claims) else SUCCESS

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Write down allocations and reservations."""
        kept = state.get(self.name, ClaimState)
        for i, claim in enumerate(kept.claims if kept is not None else ()):
            if is_reserved(claim, pod):
                continue
            assert kept is not None
            try:
                kept.claims[i] = await self._write(claim, pod, kept.allocations.get(uid_of(claim)))
            except (ApiError, ConnectionError, ClaimError) as failure:
                return error(str(failure))
            finally:
                self._pending.pop(uid_of(claim), None)
        return SUCCESS

    async def _write(self, claim: Object, pod: PodInfo, allocation: Object | None) -> Object:
        """Raises ClaimError, and what a request raises that is no conflict."""
        metadata = claim["metadata"]
        for tries in range(1, WRITE_TRIES + 1):
            try:
                return await self._write_once(claim, pod, allocation)
            except ApiError as failure:
                if failure.reason != "Conflict" or tries == WRITE_TRIES:
                    what = "add allocation and reservation to" if allocation is not None else "add reservation to"
                    raise ClaimError(f"{what} claim {pod.namespace}/{metadata['name']}: {failure}") from None
                claim = await self.handle.client.get(RESOURCE_CLAIMS, metadata["name"], namespace=metadata["namespace"])
        raise AssertionError("the last try returns or raises")

    async def _write_once(self, claim: Object, pod: PodInfo, allocation: Object | None) -> Object:
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
                written = copy_object(await self.handle.client.update(RESOURCE_CLAIMS, written))
                status = written.setdefault("status", {})
            status["allocation"] = allocation
        status["reservedFor"] = [*users_of(claim), _user(pod)]
        done = await self.handle.client.update_status(RESOURCE_CLAIMS, written)
        self._claims.wrote(done)
        return done

    # -- queueing hints

    def events_to_register(self) -> list[EventWithHint]:
        changed = Action.ADD | Action.UPDATE
        node = ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
        own = ClusterEvent(EventResource.POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
        return [
            EventWithHint(node),
            EventWithHint(ClusterEvent(EventResource.RESOURCE_CLAIM, changed), self._after_claim),
            EventWithHint(own, self._after_pod),
            EventWithHint(ClusterEvent(EventResource.DEVICE_CLASS, changed)),
            EventWithHint(ClusterEvent(EventResource.RESOURCE_SLICE, changed)),
        ]

    def _after_claim(self, pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
        """One of the pod's claims has come or has changed its status, or some claim has given up its devices."""
        try:
            used = any(uid_of(claim) == uid_of(new) for claim in self._claims_of(pod))
        except ClaimError:
            return QueueingHint.SKIP
        if old is not None and allocation_of(old) is not None and allocation_of(new) is None:
            return QueueingHint.QUEUE
        changed = old is None or (old.get("status") or {}) != (new.get("status") or {})
        return QueueingHint.QUEUE if used and changed else QueueingHint.SKIP

    def _after_pod(self, pod: PodInfo, old: PodInfo, new: PodInfo) -> QueueingHint:
        """The names of the claims that were made for the pod stand in its status now."""
        if pod.uid != new.uid:
            return QueueingHint.SKIP
        return QueueingHint.QUEUE if self.pre_enqueue(new).ok else QueueingHint.SKIP


def _user(pod: PodInfo) -> Object:
    return {"resource": "pods", "name": pod.name, "uid": pod.uid}
