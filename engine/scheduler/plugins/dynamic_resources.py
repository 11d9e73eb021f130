"""DynamicResources: a pod's ResourceClaims are there, allocated where the node is, and reserved for it (KEP 4381).

Source: upstream's plugins/dynamicresources. What is not allocated yet is allocated here: Filter finds devices for every
node, Reserve takes those of the chosen node, so that the next pod does not get them too, and PreBind writes it down.
On by default from Kubernetes 1.34 on: from then the plugin has its say in every message of a pod that fits nowhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from engine.api.errors import ApiError
from engine.api.golang.duration import parse_duration
from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.devices.allocator import MAX_STEPS, Allocator, Features, InUse
from engine.scheduler.devices.pools import Slices
from engine.scheduler.devices.requests import AllocationError, NodeAllocationError, SearchTimeoutError
from engine.scheduler.devices.selectors import Verdicts
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.diagnosis import NodeToStatus
from engine.scheduler.framework.events import EventWithHint
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
from engine.scheduler.plugins.claim_binding import ClaimBinder
from engine.scheduler.plugins.claim_hints import events_of
from engine.scheduler.plugins.claim_state import ClaimState, KnownClaims
from engine.scheduler.plugins.claim_writing import ClaimWriter, user
from engine.scheduler.plugins.device_conditions import (
    DEFAULT_BINDING_TIMEOUT,
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
from engine.scheduler.plugins.pod_claims import PodClaims
from engine.scheduler.plugins.resource_claims import (
    DEVICE_TAINT_RULES,
    RESOURCE_SLICES,
    ClaimError,
    allocated_devices,
    allocation_of,
    consumed_capacities,
    has_alternatives,
    is_reserved,
    preference,
    reaches,
    uid_of,
    users_of,
)
from engine.scheduler.pod_info import PodInfo

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

DEFAULT_FILTER_TIMEOUT = "10s"


def _steps_of(timeout: float) -> int:
    """How far the search for devices goes on one node: as far as it may for ten seconds, or for none at all."""
    default = parse_duration(DEFAULT_FILTER_TIMEOUT)
    return int(MAX_STEPS * min(timeout, default) / default) if timeout else MAX_STEPS


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
    when_cancelled = "device binding timeout"  # the wait for devices does not tell who has ended it

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        # A device that a pod of another profile gets is not to be had here either.
        known = handle.shared(KnownClaims, lambda: KnownClaims(handle))
        self._claims, self._pending = known.claims, known.pending
        self._verdicts = Verdicts()
        handle.claims_in_use = self._in_use
        self._pod_claims = PodClaims(handle, self._claims, self._pending)
        self._writer = ClaimWriter(handle, self._claims)
        self._shares = handle.rng.stream("device shares")
        told = args.get("bindingTimeout")
        self._binding_timeout = DEFAULT_BINDING_TIMEOUT if told is None else parse_duration(str(told))
        self._steps = _steps_of(parse_duration(str(args.get("filterTimeout") or DEFAULT_FILTER_TIMEOUT)))
        modern = at_least(handle.version, 36)
        self._features = Features(conditions=modern, sharing=modern, short_config=at_least(handle.version, 37))
        self._binder = ClaimBinder(
            handle, self._claims, self._pending, self._writer, timeout=self._binding_timeout, conditions=modern
        )

    def pre_enqueue(self, pod: PodInfo) -> Status:
        try:
            self._pod_claims.of(pod)
        except ClaimError as failure:
            return unresolvable(str(failure))
        return SUCCESS

    # -- deciding

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        # Empty until all is well: what is asked later must know that it came this far.
        kept = ClaimState([])
        state.write(self.name, kept)
        extended = asks_for_devices(pod, self.handle)
        if not pod.spec.get("resourceClaims") and not extended:
            return PreFilterResult(SKIP)
        try:
            claims = self._pod_claims.of(pod)
        except ClaimError as failure:
            return PreFilterResult(unresolvable(str(failure)))
        if not claims and not extended:
            return PreFilterResult(SKIP)
        for claim in claims:
            if (reason := self._pod_claims.unusable(claim, pod)) is not None:
                return PreFilterResult(reason)
        wanted = [claim for claim in claims if allocation_of(claim) is None]
        if wanted or extended:
            kept.allocator = self._allocator(wanted)
        kept.claims = claims
        if extended:
            kept.own = left_over(pod, self._claims.list()) or claim_for(pod)
        return PreFilterResult()

    def _in_use(self) -> Collection[Object]:
        return {**{uid_of(claim): claim for claim in self._claims.list()}, **self._pending}.values()

    def _allocator(self, claims: list[Object]) -> Allocator:
        known = self._in_use()
        rules = self.handle.lister(DEVICE_TAINT_RULES).list() if has_taint_rules(self.handle.version) else []
        return Allocator(
            claims,
            in_use=InUse(
                {device for claim in known for device in allocated_devices(claim)}, consumed_capacities(known)
            ),
            class_of=self._pod_claims.class_of,
            slices=Slices(self.handle.lister(RESOURCE_SLICES).list(), rules),
            verdicts=self._verdicts,
            new_share=self._shares.uid,
            features=self._features,
            steps=self._steps,
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
        except SearchTimeoutError as failure:
            # Another try may be luckier, whatever happens or not: since 1.37 the pod backs off, as after an error.
            retried = at_least(self.handle.version, 37)
            return error(f"node {name}: {failure}") if retried else unresolvable(str(failure))
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
            return self._nothing_done("no new claims to deallocate")
        try:
            done = await self._give_up_one(kept, pod)
        except (ApiError, ConnectionError) as failure:
            return PostFilterResult(error(str(failure)))
        return PostFilterResult(unschedulable(done)) if done else self._nothing_done("still not schedulable")

    def _nothing_done(self, why: str) -> PostFilterResult:
        """Since 1.37 nobody is told of that: it helps nobody."""
        return PostFilterResult(unschedulable() if at_least(self.handle.version, 37) else unschedulable(why))

    async def _give_up_one(self, kept: ClaimState, pod: PodInfo) -> str:
        """Says what was done, "" for nothing. Raises what a request raises."""
        for claim in kept.unavailable.values():
            users = users_of(claim)
            if not users or (len(users) == 1 and is_reserved(claim, pod)):
                await self._writer.deallocate(claim)
                return "deallocation of ResourceClaim completed"
        if kept.own is not None and kept.own["metadata"]["name"] != IN_MEMORY:
            await self._writer.delete(kept.own)
            return "deletion of ResourceClaim completed"
        return ""

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

    def pre_bind_wait(self, state: CycleState) -> str:
        kept = state.get(self.name, ClaimState)
        return self._binder.wait_for(kept) if kept is not None else ""

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        kept = state.get(self.name, ClaimState)
        return SUCCESS if kept is None else await self._binder.bind(kept, pod, node_name)

    # -- queueing hints

    def events_to_register(self) -> list[EventWithHint]:
        return events_of(self._pod_claims, self.handle)
