"""NodePorts: a host port is free or it is not."""

from __future__ import annotations

import numpy as np

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import FilterPlugin, PreFilterPlugin, PreFilterResult
from engine.scheduler.framework.status import SKIP, SUCCESS, Status, unschedulable
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.node_info import HostPorts, NodeInfo
from engine.scheduler.pod_info import PodInfo

NO_FREE_PORTS = unschedulable("node(s) didn't have free ports for the requested pod ports")


def _fits(pod: PodInfo, used: HostPorts) -> bool:
    return not any(used.conflicts(port) for port in pod.host_ports)


class NodePorts(PreFilterPlugin, FilterPlugin):
    name = "NodePorts"

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        return PreFilterResult(SUCCESS if pod.host_ports else SKIP)

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        return SUCCESS if _fits(pod, node.ports) else NO_FREE_PORTS

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        codes = np.zeros(len(rows), np.intp)
        for i in np.flatnonzero(snapshot.columns.used_ports[rows]):
            codes[i] = not _fits(pod, snapshot.nodes[rows[i]].ports)
        return Verdicts(codes, [SUCCESS, NO_FREE_PORTS])

    def events_to_register(self) -> list[EventWithHint]:
        deleted = ClusterEvent(EventResource.ASSIGNED_POD, Action.DELETE)
        node = ClusterEvent(EventResource.NODE, Action.ADD)
        return [EventWithHint(deleted, self._after_deletion), EventWithHint(node, self._after_node)]

    def _after_deletion(self, pod: PodInfo, old: PodInfo, new: PodInfo | None) -> QueueingHint:
        freed = HostPorts()
        for port in old.host_ports:
            freed.add(port)
        bound = old.node_name or old.nominated_node_name
        return QueueingHint.SKIP if not bound or _fits(pod, freed) else QueueingHint.QUEUE

    def _after_node(self, pod: PodInfo, old: Object | None, new: Object | None) -> QueueingHint:
        return QueueingHint.QUEUE
