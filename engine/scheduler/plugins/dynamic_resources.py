"""DynamicResources: a pod's ResourceClaims are there, allocated where the node is, and reserved for it (KEP 4381).

Source: upstream's plugins/dynamicresources. What is not allocated yet is allocated here: Filter finds devices for every
node, Reserve takes those of the chosen node, so that the next pod does not get them too, and PreBind writes it down.
On by default from Kubernetes 1.34 on: from then the plugin has its say in every message of a pod that fits nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.client import NORMAL
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.configuration.fields import seconds
from engine.scheduler.devices.allocator import Allocator, Features, InUse
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
from engine.scheduler.framework.profile import at_least, has_taint_rules
from engine.scheduler.framework.status import SKIP, SUCCESS, Status, error, unresolvable, unschedulable
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.assumptions import Assumptions
from engine.scheduler.plugins.claim_state import ClaimState
from engine.scheduler.plugins.claim_writing import ClaimWriter, user
from engine.scheduler.plugins.device_conditions import (
    DEFAULT_BINDING_TIMEOUT,
    POLL_PERIOD,
    has_conditions,
    is_late,
    is_ready,
    is_stuck,
)
from engine.scheduler.plugins.extended_resources import (
    IN_MEMORY,
    asked_for,
    asks_for_devices,
    claim_for,
    from_devices,
    left_over,
)
from engine.scheduler.plugins.resource_claims import (
    DEVICE_CLASSES,
    DEVICE_TAINT_RULES,
    MAX_USERS,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
    ClaimError,
    allocated_devices,
    allocation_of,
    claim_names,
    consumed_capacities,
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
        self._writer = ClaimWriter(handle, self._claims)
        self._shares = handle.rng.stream("device shares")
        told = args.get("bindingTimeout")
        self._binding_timeout = DEFAULT_BINDING_TIMEOUT if told is None else seconds(str(told))
        modern = at_least(handle.version, 36)
        self._features = Features(conditions=modern, sharing=modern)

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
        extended = asks_for_devices(pod, self.handle)
        if not pod.spec.get("resourceClaims") and not extended:
            return PreFilterResult(SKIP)
        try:
            claims = self._claims_of(pod)
        except ClaimError as failure:
            return PreFilterResult(unresolvable(str(failure)))
        if not claims and not extended:
            return PreFilterResult(SKIP)
        for claim in claims:
            if (reason := self._unusable(claim, pod)) is not None:
                return PreFilterResult(reason)
        wanted = [claim for claim in claims if allocation_of(claim) is None]
        if wanted or extended:
            kept.allocator = self._allocator(wanted)
        kept.claims = claims
        if extended:
            kept.own = left_over(pod, self._claims.list()) or claim_for(pod)
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
        known = {**{uid_of(claim): claim for claim in self._claims.list()}, **self._pending}.values()
        rules = self.handle.lister(DEVICE_TAINT_RULES).list() if has_taint_rules(self.handle.version) else []
        return Allocator(
            claims,
            in_use=InUse(
                {device for claim in known for device in allocated_devices(claim)}, consumed_capacities(known)
            ),
            class_of=self._class,
            slices=Slices(self.handle.lister(RESOURCE_SLICES).list(), rules),
            verdicts=self._verdicts,
            new_share=self._shares.uid,
            features=self._features,
        )

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        kept = state.read(self.name, ClaimState)
        assert node.node is not None
        if kept.own is not None:
            if kept.own["metadata"]["name"] != IN_MEMORY:
                # Of an earlier attempt that came to nothing: it has to go first.
                return unresolvable("cannot schedule extended resource claim")
            devices = from_devices(pod, node, self.handle)
            if devices is None:
                return unresolvable("cannot fit resource")
            if not devices and not kept.claims:
                return SUCCESS
            if devices:
                requests, mappings = asked_for(pod, devices, self.handle)
                kept.own_on[node.name] = {**kept.own, "spec": {"devices": {"requests": requests}}}, mappings
        away = [claim for claim in kept.claims if self._is_away(claim, node.node)]
        wanted = kept.to_allocate(node.name)
        if wanted and (reason := self._allocate(kept, node.node, wanted)) is not None:
            return reason
        for claim in away:
            kept.unavailable[claim["metadata"]["name"]] = claim
        return unresolvable("resourceclaim not available on the node") if away else SUCCESS

    def _is_away(self, claim: Object, node: Object) -> bool:
        """Whether an allocation is of no use on the node: it is elsewhere, or its devices do not become ready."""
        if not reaches(claim, node):
            return True
        late = allocation_of(claim) is not None and self._features.conditions
        return late and is_stuck(claim, self._binding_timeout, self.handle.clock)

    def _allocate(self, kept: ClaimState, node: Object, wanted: list[Object]) -> Status | None:
        """Find devices on the node; why there are none."""
        assert kept.allocator is not None
        name = node["metadata"]["name"]
        try:
            found = kept.allocator.allocate(node, wanted[len(kept.allocator.claims) :])
        except NodeAllocationError as failure:
            return unresolvable(str(failure))
        except AllocationError as failure:
            return error(str(failure))
        if found is None:
            return unresolvable("cannot allocate all claims")
        kept.found[name] = found
        return None

    async def post_filter(self, state: CycleState, pod: PodInfo, statuses: NodeToStatus) -> PostFilterResult:
        """Give up an allocation elsewhere that nobody uses, so that the pod may have another."""
        kept = state.get(self.name, ClaimState)
        if kept is None:
            # Another plugin's PreFilter has ended the attempt before this one's: upstream takes that for an error, so
            # that all it has to say of preemption is this.
            return PostFilterResult(error("not found"))
        if kept.empty:
            return PostFilterResult(unschedulable("no new claims to deallocate"))
        try:
            return PostFilterResult(unschedulable(await self._give_up_one(kept, pod)))
        except (ApiError, ConnectionError) as failure:
            return PostFilterResult(error(str(failure)))

    async def _give_up_one(self, kept: ClaimState, pod: PodInfo) -> str:
        """Says what was done. Raises what a request raises."""
        for claim in kept.unavailable.values():
            users = users_of(claim)
            if not users or (len(users) == 1 and is_reserved(claim, pod)):
                await self._writer.deallocate(claim)
                return "deallocation of ResourceClaim completed"
        if kept.own is not None and kept.own["metadata"]["name"] != IN_MEMORY:
            await self._writer.delete(kept.own)
            return "deletion of ResourceClaim completed"
        return "still not schedulable"

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
        if found is None:
            return 0
        return sum(preference(claim, made) for claim, made in zip(kept.to_allocate(node.name), found, strict=True))

    def normalize(self, state: CycleState, pod: PodInfo, scores: Scores, snapshot: Snapshot, rows: Rows) -> Scores:
        return default_normalize(scores)

    # -- acting

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Nobody else gets the devices from here on."""
        kept = state.get(self.name, ClaimState)
        if kept is None or not (wanted := kept.to_allocate(node_name)):
            return SUCCESS
        found = kept.found.get(node_name)
        if found is None:
            return error("claim allocation not found for node")
        for claim, allocation in zip(wanted, found, strict=True):
            kept.allocations[uid_of(claim)] = allocation
            self._pending[uid_of(claim)] = {
                **claim,
                "status": {**(claim.get("status") or {}), "allocation": allocation},
            }
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        kept = state.get(self.name, ClaimState)
        if kept is None:
            return
        for claim in kept.claims:
            self._pending.pop(uid_of(claim), None)
            if allocation_of(claim) is not None and is_reserved(claim, pod):
                self.handle.spawn(self._writer.give_back(claim, pod), f"unreserve {claim['metadata']['name']}")
        if kept.own is not None:
            self._pending.pop(uid_of(kept.own), None)
        if kept.written is not None:
            name = kept.written["metadata"]["name"]
            self.handle.spawn(self._writer.delete_quietly(kept.written), f"unreserve {name}")

    def settle(self, state: CycleState, pod: PodInfo, node_name: str) -> list[Object]:
        """The pod's claims as they will be once it is bound, for who writes nothing down (what-if)."""
        kept = state.get(self.name, ClaimState)
        if kept is None:
            return []
        own = kept.own_on.get(node_name)
        settled = []
        for claim in (*kept.claims, *([own[0]] if own is not None else ())):
            claim = self._pending.pop(uid_of(claim), claim)
            users = users_of(claim)
            if not is_reserved(claim, pod):
                users = [*users, user(pod)]
            settled.append({**claim, "status": {**(claim.get("status") or {}), "reservedFor": users}})
        return settled

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        kept = state.get(self.name, ClaimState)
        return SKIP if kept is None or kept.empty else SUCCESS

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Write down allocations and reservations, and wait until the devices are ready."""
        kept = state.get(self.name, ClaimState)
        if kept is None:
            return SUCCESS
        try:
            for i, claim in enumerate(kept.claims):
                if not is_reserved(claim, pod):
                    kept.claims[i] = await self._reserve(claim, pod, kept.allocations.get(uid_of(claim)))
            if (own := kept.own_on.get(node_name)) is not None:
                await self._write_own(kept, pod, own)
            await self._until_ready(kept, pod, node_name)
        except TimeoutError:
            return error("device binding timeout")
        except (ApiError, ConnectionError, ClaimError) as failure:
            return error(str(failure))
        return SUCCESS

    async def _reserve(self, claim: Object, pod: PodInfo, allocation: Object | None) -> Object:
        try:
            return await self._writer.reserve(claim, pod, allocation)
        finally:
            self._pending.pop(uid_of(claim), None)

    async def _write_own(self, kept: ClaimState, pod: PodInfo, own: tuple[Object, list[Object]]) -> None:
        claim, mappings = own
        try:
            kept.written = await self._writer.create(claim)
            allocation = kept.allocations[uid_of(claim)]
            kept.written = await self._writer.reserve(kept.written, pod, allocation)
        finally:
            self._pending.pop(uid_of(claim), None)
        await self._writer.tell(pod, kept.written, mappings)

    async def _until_ready(self, kept: ClaimState, pod: PodInfo, node_name: str) -> None:
        """Raises TimeoutError, or ClaimError for a device that has failed."""
        claims = [*kept.claims, *([kept.written] if kept.written is not None else ())]
        if not self._features.conditions or not any(map(has_conditions, claims)):
            return
        note = f"waiting for binding conditions for device on node {node_name}"
        self.handle.recorder.event(pod.pod, NORMAL, "BindingConditionsPending", "Scheduling", note)
        async with self.handle.clock.timeout(self._binding_timeout):
            while not all(map(self._is_ready, claims)):
                await self.handle.clock.sleep(POLL_PERIOD)

    def _is_ready(self, written: Object) -> bool:
        """Raises ClaimError."""
        name, namespace = written["metadata"]["name"], written["metadata"]["namespace"]
        claim = self._claims.get(name, namespace)
        if claim is None:
            raise ClaimError(f'resourceclaim.resource.k8s.io "{name}" not found')
        if is_ready(claim):
            return True
        if is_late(claim, self._binding_timeout, self.handle.clock):
            raise ClaimError(f"claim {name} binding timeout")
        return False

    # -- queueing hints

    def events_to_register(self) -> list[EventWithHint]:
        changed = Action.ADD | Action.UPDATE
        node = ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE)
        own = ClusterEvent(EventResource.POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
        rules = [EventWithHint(ClusterEvent(EventResource.DEVICE_TAINT_RULE, changed | Action.DELETE))]
        return [
            *(rules if has_taint_rules(self.handle.version) else ()),
            EventWithHint(node),
            EventWithHint(ClusterEvent(EventResource.RESOURCE_CLAIM, changed | Action.DELETE), self._after_claim),
            EventWithHint(own, self._after_pod),
            EventWithHint(ClusterEvent(EventResource.DEVICE_CLASS, changed)),
            EventWithHint(ClusterEvent(EventResource.RESOURCE_SLICE, changed)),
        ]

    def _after_claim(self, pod: PodInfo, old: Object | None, new: Object | None) -> QueueingHint:
        """One of the pod's claims has come or has changed its status, or some claim has given up its devices."""
        try:
            claims = self._claims_of(pod)
        except ClaimError:
            return QueueingHint.SKIP
        freed = old is not None and allocation_of(old) is not None
        if freed and (new is None or allocation_of(new) is None):
            return QueueingHint.QUEUE
        if new is None:
            return QueueingHint.SKIP
        used = any(uid_of(claim) == uid_of(new) for claim in claims)
        changed = old is None or (old.get("status") or {}) != (new.get("status") or {})
        return QueueingHint.QUEUE if used and changed else QueueingHint.SKIP

    def _after_pod(self, pod: PodInfo, old: PodInfo, new: PodInfo) -> QueueingHint:
        """The names of the claims that were made for the pod stand in its status now."""
        if pod.uid != new.uid:
            return QueueingHint.SKIP
        return QueueingHint.QUEUE if self.pre_enqueue(new).ok else QueueingHint.SKIP
