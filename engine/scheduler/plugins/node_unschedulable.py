"""NodeUnschedulable: a cordoned node takes no pod that does not tolerate node.kubernetes.io/unschedulable."""

from __future__ import annotations

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import Depends, FilterPlugin
from engine.scheduler.framework.status import SUCCESS, Status, unresolvable
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.tolerating import UNSCHEDULABLE_TAINT, any_tolerates

UNSCHEDULABLE = unresolvable("node(s) were unschedulable")


def _cordoned(node: NodeInfo) -> int:
    return int(node.unschedulable)


class NodeUnschedulable(FilterPlugin):
    name = "NodeUnschedulable"
    depends = Depends.NODE

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        if node.unschedulable and not any_tolerates(pod.tolerations, UNSCHEDULABLE_TAINT):
            return UNSCHEDULABLE
        return SUCCESS

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        failed = snapshot.static(self.name, _cordoned)[rows] > 0
        if failed.any() and any_tolerates(pod.tolerations, UNSCHEDULABLE_TAINT):
            failed[:] = False
        return Verdicts.where(failed, UNSCHEDULABLE)

    def events_to_register(self) -> list[EventWithHint]:
        node = ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT)
        target = ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_TOLERATION)
        return [EventWithHint(node, self._after_node), EventWithHint(target, self._after_toleration)]

    def _after_node(self, pod: PodInfo, old: Object | None, new: Object | None) -> QueueingHint:
        def closed(node: Object | None) -> bool:
            return bool(((node or {}).get("spec") or {}).get("unschedulable"))

        # An update that leaves the node open says nothing new: the node was not what this plugin rejected.
        if closed(new) or (old is not None and not closed(old)):
            return QueueingHint.SKIP
        return QueueingHint.QUEUE

    def _after_toleration(self, pod: PodInfo, old: PodInfo, new: PodInfo) -> QueueingHint:
        tolerated = any_tolerates(new.tolerations, UNSCHEDULABLE_TAINT)
        return QueueingHint.QUEUE if tolerated else QueueingHint.SKIP
