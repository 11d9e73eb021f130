"""Coscheduling: a gang of pods is bound together or not at all. A sample of what Permit is for; off by default.

After the scheduler-plugins project's first, label-based coscheduling: pods of one namespace that carry the same
`pod-group.scheduling.sigs.k8s.io/name` are a gang, and each says by `.../min-available` how many must have a node
before any is bound. Until then those that have one wait, holding it, for `permitWaitingTimeSeconds` at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.api.types import PODS
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import (
    ASSIGNED_POD_DELETE,
    Action,
    ClusterEvent,
    EventResource,
    EventWithHint,
    QueueingHint,
)
from engine.scheduler.framework.plugin import (
    PermitPlugin,
    PermitResult,
    PreFilterPlugin,
    PreFilterResult,
    ReservePlugin,
)
from engine.scheduler.framework.status import SUCCESS, Code, Status, unresolvable
from engine.scheduler.pod_info import PodInfo

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

GROUP_LABEL = "pod-group.scheduling.sigs.k8s.io/name"
MIN_AVAILABLE_LABEL = "pod-group.scheduling.sigs.k8s.io/min-available"
DEFAULT_WAITING_SECONDS = 10.0

# A gang that found too few nodes is told of by this plugin alone, whatever the filters had against the others.
_NODE_ROOM = (
    Action.ADD
    | Action.UPDATE_NODE_ALLOCATABLE
    | Action.UPDATE_NODE_LABEL
    | Action.UPDATE_NODE_TAINT
    | Action.UPDATE_NODE_CONDITION
)


def gang_of(pod: PodInfo) -> tuple[str, int]:
    """Name and size of the pod's gang; "" and 0 for a pod of its own."""
    name, size = pod.labels.get(GROUP_LABEL, ""), pod.labels.get(MIN_AVAILABLE_LABEL, "")
    return (name, int(size)) if name and size.isdigit() and int(size) > 1 else ("", 0)


class Coscheduling(PreFilterPlugin, ReservePlugin, PermitPlugin):
    name = "Coscheduling"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._seconds = float(args.get("permitWaitingTimeSeconds", DEFAULT_WAITING_SECONDS))
        self._gave_up: dict[tuple[str, str], float] = {}  # gangs by namespace and name, and when they did last

    def _is_same(self, pod: PodInfo, other: PodInfo) -> bool:
        return pod.namespace == other.namespace and gang_of(pod)[0] == gang_of(other)[0]

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        """A gang that is not there in full need not take nodes."""
        name, size = gang_of(pod)
        if not name:
            return PreFilterResult()
        there = sum(
            found["metadata"].get("labels", {}).get(GROUP_LABEL) == name
            for found in self.handle.lister(PODS).list(pod.namespace)
        )
        if there < size:
            return PreFilterResult(unresolvable(f"pod group {name} has {there} of {size} pods"))
        return PreFilterResult()

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        name, size = gang_of(pod)
        if not name:
            return PermitResult()
        bound = sum(self._is_same(pod, other) for node in self.handle.snapshot.nodes for other in node.pods.values())
        # The snapshot has those that wait, too: each is assumed on its node. The pod itself is not in it yet.
        if bound + 1 < size:
            if self._has_its_turn(pod):
                self._activate_others(pod)
            return PermitResult(Status(Code.WAIT), self._seconds)
        for waiting in self.handle.waiting:
            if self._is_same(pod, waiting.pod):
                waiting.allow(self.name)
        self._gave_up.pop((pod.namespace, name), None)
        return PermitResult(SUCCESS)

    def _has_its_turn(self, pod: PodInfo) -> bool:
        """A gang that has just given up does not hurry: others would never find the room that it gave back."""
        gave_up = self._gave_up.get((pod.namespace, gang_of(pod)[0]))
        return gave_up is None or self.handle.clock.monotonic() - gave_up >= self._seconds

    def _activate_others(self, pod: PodInfo) -> None:
        """While this one waits, the others of the gang are to be tried at once."""
        for found in self.handle.lister(PODS).list(pod.namespace):
            other = PodInfo(found)
            if other.uid != pod.uid and not other.node_name and self._is_same(pod, other):
                self.handle.activate(other)

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """One gives up, all give up: the nodes are free for another gang."""
        name, _ = gang_of(pod)
        if not name:
            return
        now = self.handle.clock.monotonic()
        self._gave_up = {gang: when for gang, when in self._gave_up.items() if now - when < self._seconds}
        self._gave_up[pod.namespace, name] = now
        for waiting in self.handle.waiting:
            if waiting.pod.uid != pod.uid and self._is_same(pod, waiting.pod):
                waiting.reject(self.name, f"pod group {name} cannot be scheduled as a whole")

    def events_to_register(self) -> list[EventWithHint]:
        added = ClusterEvent(EventResource.UNSCHEDULED_POD, Action.ADD | Action.UPDATE_POD_LABEL)
        bound = ClusterEvent(EventResource.ASSIGNED_POD, Action.ADD)
        return [
            EventWithHint(added, self._after_pod),
            EventWithHint(bound, self._after_pod),
            EventWithHint(ClusterEvent(EventResource.NODE, _NODE_ROOM)),
            EventWithHint(ASSIGNED_POD_DELETE, self._after_room),
            EventWithHint(ClusterEvent(EventResource.ASSIGNED_POD, Action.UPDATE_POD_SCALE_DOWN), self._after_room),
        ]

    def _after_room(self, pod: PodInfo, old: PodInfo, new: PodInfo | None) -> QueueingHint:
        """Room for a gang that had not enough of it; what its own members gave back is not more than there was."""
        return QueueingHint.SKIP if self._is_same(pod, old) else QueueingHint.QUEUE

    def _after_pod(self, pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> QueueingHint:
        return QueueingHint.QUEUE if new is not None and self._is_same(pod, new) else QueueingHint.SKIP
