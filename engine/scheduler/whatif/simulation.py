"""A scheduler over a copy of a cluster: Pods are placed one after another, each counting for the next; none is bound.

The cycle, the plugins and the cache are those of the real scheduler. Preemption is followed through: the victims leave
the copy, and the Pod is tried again, as it would be once they were gone.
"""

from __future__ import annotations

from collections.abc import Coroutine, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.api.types import GVR, NODES, PODS, Object
from engine.clock import VirtualClock, wall
from engine.rng import Rng
from engine.scheduler.cache.cache import Cache
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.configuration import SchedulerConfiguration
from engine.scheduler.cycle.scheduling import Placement, SchedulingCycle
from engine.scheduler.decisions import Decision
from engine.scheduler.extenders import Extender
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.handle import Handle
from engine.scheduler.framework.profile import Profile
from engine.scheduler.framework.runtime import Factory, Framework
from engine.scheduler.framework.status import Status
from engine.scheduler.plugins.dynamic_resources import DynamicResources
from engine.scheduler.plugins.registry import REGISTRY
from engine.scheduler.plugins.resource_claims import RESOURCE_CLAIMS
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.queue.nominator import Nominator
from engine.scheduler.selecting import canonical
from engine.scheduler.whatif.admitting import Admission
from engine.scheduler.whatif.claims import settle_claims
from engine.scheduler.whatif.cluster import ClusterObjects
from engine.scheduler.whatif.device_claims import drop_device_claims, with_device_claims
from engine.scheduler.whatif.remedies import NodeRemedies, remedies_for

DEFAULT_SEED = 1


@dataclass(slots=True)
class Outcome:
    """What became of one Pod. `gate` is why it would not even be tried; `preempted` are Pods that had to go for it, and
    `evicted_by` is the later Pod that it had to go for itself; `made_for` is the workload whose controller would make
    the Pod, which as yet has a made-up name."""

    pod: str
    decision: Decision
    node: str = ""
    message: str = ""
    gate: str = ""
    preempted: list[str] = field(default_factory=list)
    violations: int = 0  # of disruption budgets, by the preemption
    evicted_by: str = ""
    remedies: list[NodeRemedies] = field(default_factory=list)
    made_for: str = ""
    unserved: bool = False  # no profile is for its schedulerName

    def to_json(self) -> Object:
        shown: Object = {"pod": self.pod, "node": self.node, "message": self.message}
        if self.made_for:
            shown["madeFor"] = self.made_for
        if self.gate:
            shown["gate"] = self.gate
        if self.preempted:
            shown |= {"preempted": self.preempted, "pdbViolations": self.violations}
        if self.evicted_by:
            shown["evictedBy"] = self.evicted_by
        shown["decision"] = self.decision.to_json()
        if not self.node:
            shown["remedies"] = [node.to_json() for node in self.remedies]
        return shown


class Simulation:
    """`preemption=False` asks for room that is free, as the question of capacity does."""

    def __init__(
        self,
        cluster: ClusterObjects,
        configuration: SchedulerConfiguration | None = None,
        *,
        seed: int | str = DEFAULT_SEED,
        version: str = "",
        preemption: bool = True,
        registry: Mapping[str, Factory] = REGISTRY,
    ) -> None:
        self._version = version
        self.cluster = cluster
        self.cache = Cache()
        self.snapshot = Snapshot()
        self._nominator = Nominator()
        self._clock = VirtualClock()
        self._rng = Rng(seed)
        self._admission = Admission(cluster, version)
        configuration = configuration or SchedulerConfiguration()
        self._extenders = [Extender(each) for each in configuration.extenders]
        self._frameworks = {
            p.scheduler_name: self._framework(p, registry)
            for p in (each.for_version(version) for each in configuration.profiles)
        }
        if not preemption:
            for framework in self._frameworks.values():
                framework.post_filter = []
        rng = self._rng.stream("scheduler")
        self._cycle = SchedulingCycle(self.cache, self.snapshot, self._nominator, rng, self._extenders)
        self._preemption = preemption
        self._placed: dict[str, Outcome] = {}  # of Pods that a later one may evict, by uid
        self._remedies: dict[Hashable, list[NodeRemedies]] = {}  # of Pods that are alike, until one is placed or goes
        self._fill()

    def _framework(self, profile: Profile, registry: Mapping[str, Factory]) -> Framework:
        handle = Handle(
            clock=self._clock,
            rng=self._rng.stream("scheduler"),
            snapshot=self.snapshot,
            nominator=self._nominator,
            lister=self._lister,
            spawn=_leave_undone,
            extenders=self._extenders,
            version=self._version,
        )
        return Framework(profile, registry, handle)

    def _lister(self, resource: GVR) -> Any:
        return self.cluster.lister(resource)

    def _fill(self) -> None:
        """Nodes and the Pods on them; Pods that preemption has nominated count as they do in the real scheduler."""
        for node in self.cluster.lister(NODES).list():
            self.cache.add_node(node)
        for pod in self.cluster.lister(PODS).list():
            info = PodInfo(pod)
            if info.terminal:
                continue
            if info.node_name:
                self.cache.add_pod(info)
            elif info.nominated_node_name:
                self._nominator.add(info)

    async def close(self) -> None:
        for extender in self._extenders:
            await extender.close()

    def take_away(self, pod: Object) -> None:
        """Take a Pod out of the copy, from its node too."""
        info = PodInfo(pod)
        self._remedies.clear()
        self.cache.remove_pod(info.uid)
        self._nominator.remove(info.uid)
        drop_device_claims(info, self.cluster)
        self.cluster.remove({"apiVersion": "v1", "kind": "Pod", **pod})

    def announce(self, pod: Object) -> Object:
        """The Pod as the API server takes it in: there for others to count (a gang does), but not yet placed. Raises
        DumpError for one that it would refuse."""
        made = self._admission.admit(pod)
        self.cluster.add({"apiVersion": "v1", "kind": "Pod", **made})
        return made

    async def place(self, pod: Object, *, admitted: bool = False) -> Outcome:
        """Find a node for a Pod and count it there. Raises DumpError for a Pod that cannot be read."""
        made = pod if admitted else self._admission.admit(pod)
        made, no_claims = with_device_claims(made, self.cluster)
        info = PodInfo(made)
        if info.node_name:
            return self._bound_already(info)
        framework = self._frameworks.get(info.scheduler_name)
        if framework is None:
            known = ", ".join(self._frameworks)
            why = f'no profile serves schedulerName "{info.scheduler_name}"; there are: {known}'
            return Outcome(info.key, self._decision(info), gate=why, message=why, unserved=True)
        self.cluster.add({"apiVersion": "v1", "kind": "Pod", **made})
        settle_claims(made, self.cluster)
        if gate := no_claims or self._gate(framework, info):
            return Outcome(info.key, self._decision(info), gate=gate, message=gate)
        return await self._try(framework, info)

    def _bound_already(self, pod: PodInfo) -> Outcome:
        """A Pod that names its node counts there for those after it, but is none of the scheduler's."""
        known = self.cluster.lister(NODES).get(pod.node_name) is not None
        self.cluster.add({"apiVersion": "v1", "kind": "Pod", **pod.pod})
        self.cache.add_pod(pod)
        whose = (
            "the kubelet of that node takes it or rejects it"
            if known
            else "there is no such node, and the Pod garbage collector deletes it"
        )
        why = f"spec.nodeName is {pod.node_name}, so the scheduler never sees the Pod: {whose}"
        return Outcome(pod.key, self._decision(pod), gate=why, message=why)

    def _gate(self, framework: Framework, pod: PodInfo) -> str:
        statuses: list[Status] = [plugin.pre_enqueue(pod) for plugin in framework.pre_enqueue]
        return next((status.message for status in statuses if not status.ok), "")

    def _decision(self, pod: PodInfo, attempt: int = 1) -> Decision:
        time = self._clock.micro_timestamp()
        return Decision(pod=pod.key, uid=pod.uid, attempt=attempt, profile=pod.scheduler_name, time=time)

    async def _try(self, framework: Framework, pod: PodInfo, attempt: int = 1) -> Outcome:
        decision = self._decision(pod, attempt)
        framework.handle.note = decision.notes.__setitem__
        state = CycleState()
        began = wall()
        placement = await self._cycle.run(framework, state, pod, decision)
        decision.wall_ms = (wall() - began) * 1000
        if placement.assumed is not None:
            decision.result, decision.winner = "scheduled", placement.node_name
            self._remedies.clear()
            self._settle_devices(framework, state, pod, placement.node_name)
            outcome = Outcome(pod.key, decision, node=placement.node_name)
            if self._preemption:
                self._placed[pod.uid] = outcome
            return outcome
        message = placement.status.message if placement.status is not None else ""
        decision.result = "unschedulable" if placement.status is not None and placement.status.rejected else "error"
        decision.message, decision.nominated = message, placement.nominated or ""
        outcome = Outcome(pod.key, decision, message=message)
        if placement.nominated and attempt == 1:
            return await self._preempt(framework, pod, placement, outcome)
        if decision.result == "unschedulable":
            outcome.remedies = self._remedies_for(framework, pod)
        return outcome

    def _remedies_for(self, framework: Framework, pod: PodInfo) -> list[NodeRemedies]:
        """Replicas fail alike: what would help one would help the next."""
        if pod.claims or pod.spec.get("resourceClaims"):
            return remedies_for(framework, pod, self.snapshot)
        key = (framework.profile.scheduler_name, pod.label_group, pod.nominated_node_name, canonical(pod.spec))
        if key not in self._remedies:
            self._remedies[key] = remedies_for(framework, pod, self.snapshot)
        return self._remedies[key]

    def _settle_devices(self, framework: Framework, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """The claims of a Pod that is placed have their devices, for the Pods after it."""
        for plugin in framework.reserve:
            if isinstance(plugin, DynamicResources):
                for claim in plugin.settle(state, pod, node_name):
                    self.cluster.add({"apiVersion": RESOURCE_CLAIMS.api_version, "kind": "ResourceClaim", **claim})

    async def _preempt(self, framework: Framework, pod: PodInfo, placement: Placement, first: Outcome) -> Outcome:
        """The victims go, and the Pod is tried on the node that it was nominated to."""
        chosen = first.decision.notes.get("preemption") or {}
        victims = set(chosen.get("victims") or ())
        node = self.cache.nodes.get(placement.nominated or "")
        for victim in [v for v in (node.pods.values() if node is not None else ()) if v.key in victims]:
            self.take_away(victim.pod)
            if (evicted := self._placed.pop(victim.uid, None)) is not None:
                evicted.evicted_by = pod.key
        nominated = {**pod.pod, "status": {**pod.status, "nominatedNodeName": placement.nominated}}
        second = await self._try(framework, PodInfo(nominated), attempt=2)
        second.decision.notes |= first.decision.notes
        second.preempted, second.violations = sorted(victims), int(chosen.get("pdbViolations") or 0)
        second.message = second.message or first.message
        return second


def _leave_undone(work: Coroutine[Any, Any, Any], name: str) -> None:
    """What plugins would do to the cluster: nothing is done."""
    work.close()
