"""NodeName: a pod that names its node fits no other."""

from __future__ import annotations

import numpy as np

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import Depends, FilterPlugin
from engine.scheduler.framework.status import SUCCESS, Status, unresolvable
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo

OTHER_NODE = unresolvable("node(s) didn't match the requested node name")


class NodeName(FilterPlugin):
    name = "NodeName"
    depends = Depends.NODE

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        wanted = pod.spec.get("nodeName")
        return OTHER_NODE if wanted and wanted != node.name else SUCCESS

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        if not pod.spec.get("nodeName"):
            return Verdicts(np.zeros(len(rows), np.intp), [SUCCESS])
        return self.filter_each(state, pod, snapshot, rows)

    def events_to_register(self) -> list[EventWithHint]:
        return [EventWithHint(ClusterEvent(EventResource.NODE, Action.ADD), self._after_node)]

    def _after_node(self, pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
        wanted = pod.spec.get("nodeName")
        fits = not wanted or wanted == new["metadata"]["name"]
        return QueueingHint.QUEUE if fits else QueueingHint.SKIP
