"""NodeResourcesFit: a node has what the pod requests, or says what it lacks; and how full it would be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import Depends, FilterPlugin, ScorePlugin, Scores
from engine.scheduler.framework.profile import at_least
from engine.scheduler.framework.status import SUCCESS, Status, unresolvable, unschedulable
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.extended_resources import device_class_of, implicit_resource
from engine.scheduler.plugins.node_resources import FIRST_ROW, Sides, columns_of
from engine.scheduler.plugins.resource_strategies import strategy_of
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.resource import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, is_extended

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle


class Insufficient(NamedTuple):
    """A resource of which a node has too little; `unresolvable` if it has too little even when empty."""

    resource: str
    requested: int
    used: int
    capacity: int

    @property
    def reason(self) -> str:
        return "Too many pods" if self.resource == PODS else f"Insufficient {self.resource}"

    @property
    def unresolvable(self) -> bool:
        return self.resource != PODS and self.requested > self.capacity


class NodeResourcesFit(FilterPlugin, ScorePlugin):
    name = "NodeResourcesFit"
    depends = Depends.ROOM

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._ignored = frozenset(args.get("ignoredResources") or ())
        self._ignored_groups = frozenset(args.get("ignoredResourceGroups") or ())
        self._strategy = strategy_of(args.get("scoringStrategy"))
        self._sides = Sides([resource.name for resource in self._strategy.resources], handle, non_zero=True)

    def _is_ignored(self, resource: str) -> bool:
        if not is_extended(resource):
            return False
        return resource in self._ignored or resource.partition("/")[0] in self._ignored_groups

    def _wanted(self, pod: PodInfo) -> Iterator[tuple[str, int]]:
        """The resources that the pod asks for, in the order in which what lacks is told."""
        request = pod.request
        for name, amount in (
            (CPU, request.milli_cpu),
            (MEMORY, request.memory),
            (EPHEMERAL_STORAGE, request.ephemeral_storage),
            *request.scalar.items(),
        ):
            if amount > 0 and not self._is_ignored(name):
                yield name, amount

    def _comes_from_devices(self, resource: str) -> bool:
        """Whether a node without the resource may have it as devices, which DynamicResources looks for."""
        return device_class_of(resource, self.handle) is not None

    def insufficient(self, pod: PodInfo, node: NodeInfo) -> list[Insufficient]:
        """All that the node lacks for the pod."""
        lacking = []
        if len(node.pods) + 1 > node.allocatable.allowed_pods:
            lacking.append(Insufficient(PODS, 1, len(node.pods), node.allocatable.allowed_pods))
        for name, amount in self._wanted(pod):
            used, capacity = node.requested.get(name), node.allocatable.get(name)
            if not capacity and self._comes_from_devices(name):
                continue
            if amount > capacity - used:
                lacking.append(Insufficient(name, amount, used, capacity))
        return lacking

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        lacking = self.insufficient(pod, node)
        if not lacking:
            return SUCCESS
        kind = unresolvable if any(item.unresolvable for item in lacking) else unschedulable
        return kind(*(item.reason for item in lacking))

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """One bit for each resource that lacks, and one for what no preemption mends; each pattern is a status."""
        columns = snapshot.columns
        wanted = list(self._wanted(pod))
        bits = (columns.pods[rows] + 1 > columns.allowed_pods[rows]).astype(np.int64)
        for i, (name, amount) in enumerate(wanted):
            capacity = columns.allocatable(name)[rows]
            counts = (capacity > 0) if self._comes_from_devices(name) else np.True_
            bits |= (counts & (amount > capacity - columns.requested(name)[rows])).astype(np.int64) << (i + 2)
            bits |= (counts & (amount > capacity)).astype(np.int64) << 1
        if not bits.any():
            return Verdicts(bits.astype(np.intp), [SUCCESS])
        patterns, codes = np.unique(bits, return_inverse=True)
        statuses = [self._status_of(int(pattern), [name for name, _ in wanted]) for pattern in patterns]
        if statuses[0] is not SUCCESS:
            return Verdicts(codes.astype(np.intp) + 1, [SUCCESS, *statuses])
        return Verdicts(codes.astype(np.intp), statuses)

    def _status_of(self, pattern: int, names: list[str]) -> Status:
        if not pattern:
            return SUCCESS
        reasons = ["Too many pods"] if pattern & 1 else []
        reasons += [f"Insufficient {name}" for i, name in enumerate(names) if pattern >> (i + 2) & 1]
        return unresolvable(*reasons) if pattern & 2 else unschedulable(*reasons)

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        sides = self._sides.of(pod, columns_of([node]), FIRST_ROW, lambda row: node)
        return int(self._strategy.combine([s[0] for s in sides], [s[1] for s in sides])[0])

    def score_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Scores:
        sides = self._sides.of(pod, snapshot.columns, rows, snapshot.nodes.__getitem__)
        return self._strategy.combine([s[0] for s in sides], [s[1] for s in sides])

    # -- queueing hints

    def events_to_register(self) -> list[EventWithHint]:
        gone = ClusterEvent(EventResource.ASSIGNED_POD, Action.DELETE | Action.UPDATE_POD_SCALE_DOWN)
        own = ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_SCALE_DOWN)
        node = ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE)
        listed = [
            EventWithHint(gone, self._after_pod),
            EventWithHint(own),
            EventWithHint(node, self._after_node),
        ]
        if at_least(self.handle.version, 36):
            kind = ClusterEvent(EventResource.DEVICE_CLASS, Action.ADD | Action.UPDATE)
            listed.append(EventWithHint(kind, self._after_class))
        return listed

    def _after_class(self, pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
        """A class has come to stand behind one of the resources; behind that of its own name it has always stood."""
        named = (new.get("spec") or {}).get("extendedResourceName")
        if old is not None and (old.get("spec") or {}).get("extendedResourceName") == named:
            return QueueingHint.SKIP
        names = {named} if old is not None else {named, implicit_resource(new)}
        return QueueingHint.QUEUE if names & pod.request.scalar.keys() else QueueingHint.SKIP

    def _after_pod(self, pod: PodInfo, old: PodInfo, new: PodInfo | None) -> QueueingHint:
        if new is None:
            bound = old.node_name or old.nominated_node_name
            return QueueingHint.QUEUE if bound else QueueingHint.SKIP
        freed = any(old.request.get(name) > new.request.get(name) for name, _ in self._wanted(pod))
        return QueueingHint.QUEUE if new.node_name and freed else QueueingHint.SKIP

    def _after_node(self, pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
        """A node helps if the pod fits it when empty, and if it is new or has more of something than before."""
        after = NodeInfo(new["metadata"]["name"], new)
        if self.insufficient(pod, after):
            return QueueingHint.SKIP
        if old is None:
            return QueueingHint.QUEUE
        before, now = NodeInfo(after.name, old).allocatable, after.allocatable
        if now.allowed_pods > before.allowed_pods:
            return QueueingHint.QUEUE
        more = any(
            now.get(name) > before.get(name) or (not now.get(name) and self._comes_from_devices(name))
            for name, _ in self._wanted(pod)
        )
        return QueueingHint.QUEUE if more else QueueingHint.SKIP
