"""TaintToleration: NoSchedule and NoExecute taints keep pods off that do not tolerate them; PreferNoSchedule taints
cost a node points.

Since 1.35 the message keeps to itself which taint it was: keys and values may be secrets (kubernetes PR 134740).
"""

from __future__ import annotations

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import Depends, FilterPlugin, ScorePlugin, Scores, default_normalize
from engine.scheduler.framework.profile import at_least
from engine.scheduler.framework.status import SUCCESS, Status, unresolvable
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.selecting import canonical
from engine.scheduler.tolerating import PREFER_NO_SCHEDULE, any_tolerates, untolerated_taint

UNTOLERATED = unresolvable("node(s) had untolerated taint(s)")


def _taints(node: Object | None) -> list[Object]:
    return ((node or {}).get("spec") or {}).get("taints") or []


class TaintToleration(FilterPlugin, ScorePlugin):
    name = "TaintToleration"
    depends = Depends.NODE

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        taint = untolerated_taint(node.taints, pod.tolerations)
        return SUCCESS if taint is None else self._untolerated(taint)

    def _untolerated(self, taint: Object) -> Status:
        if at_least(self.handle.version, 35):
            return UNTOLERATED
        return unresolvable(f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}")

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        tolerations = pod.tolerations
        table = snapshot.static(
            ("taints", canonical(tolerations)),
            lambda node: int(untolerated_taint(node.taints, tolerations) is not None),
        )
        failed = table[rows] > 0
        if failed.any() and not at_least(self.handle.version, 35):
            return self.filter_each(state, pod, snapshot, rows)  # each node has a message of its own
        return Verdicts.where(failed, UNTOLERATED)

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """How many PreferNoSchedule taints the pod does not tolerate; fewer is better."""
        tolerations = [t for t in pod.tolerations if t.get("effect") in (None, "", PREFER_NO_SCHEDULE)]
        soft = [t for t in node.taints if t.get("effect") == PREFER_NO_SCHEDULE]
        return sum(not any_tolerates(tolerations, taint) for taint in soft)

    def score_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Scores:
        key = ("soft taints", canonical(pod.tolerations))
        return snapshot.static(key, lambda node: self.score(state, pod, node))[rows]

    def normalize(self, state: CycleState, pod: PodInfo, scores: Scores, snapshot: Snapshot, rows: Rows) -> Scores:
        return default_normalize(scores, reverse=True)

    def events_to_register(self) -> list[EventWithHint]:
        node = ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT)
        target = ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_TOLERATION)
        return [EventWithHint(node, self._after_node), EventWithHint(target)]

    def _after_node(self, pod: PodInfo, old: Object | None, new: Object | None) -> QueueingHint:
        """Only a node that had a taint in the way and has none now helps."""
        was_closed = old is None or untolerated_taint(_taints(old), pod.tolerations) is not None
        is_closed = untolerated_taint(_taints(new), pod.tolerations) is not None
        return QueueingHint.QUEUE if was_closed and not is_closed else QueueingHint.SKIP
