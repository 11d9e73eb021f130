"""PodTopologySpread: pods spread evenly over the domains of topology keys.

Source: upstream's plugins/podtopologyspread filtering.go and scoring.go.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import (
    MAX_NODE_SCORE,
    FilterPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
    Scores,
)
from engine.scheduler.framework.status import SKIP, SUCCESS, Status, unresolvable, unschedulable
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.spread_constraints import (
    DO_NOT_SCHEDULE,
    HOSTNAME,
    SCHEDULE_ANYWAY,
    SYSTEM_DEFAULTS,
    Constraint,
    default_constraints,
    parse,
)
from engine.scheduler.plugins.topology import by_domain, has_a_place
from engine.scheduler.pod_info import PodInfo

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

NOT_MATCHED = unschedulable("node(s) didn't match pod topology spread constraints")
MISSING_LABEL = unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")

Counts = NDArray[np.int64]


@dataclass(slots=True)
class Spread:
    """One hard constraint: matching pods in each domain, and which domains count."""

    constraint: Constraint
    counts: Counts
    eligible: NDArray[np.bool_]
    matches_itself: bool

    @property
    def minimum(self) -> int:
        """The global minimum, which is 0 while there are fewer domains than minDomains."""
        domains = int(self.eligible.sum())
        return int(self.counts[self.eligible].min()) if domains and domains >= self.constraint.min_domains else 0

    def room(self) -> int:
        """How many matching pods a domain may have at most for one more to go there."""
        return self.constraint.max_skew + self.minimum - int(self.matches_itself)

    def clone(self) -> Spread:
        return Spread(self.constraint, self.counts.copy(), self.eligible, self.matches_itself)


@dataclass(slots=True)
class FilterState:
    spreads: list[Spread]

    def clone(self) -> FilterState:
        return FilterState([spread.clone() for spread in self.spreads])


@dataclass(slots=True)
class ScoreState:
    """`per_node[i]` is what a node's domain adds for the i-th constraint; `ignored` nodes lack a topology label."""

    constraints: tuple[Constraint, ...]
    per_node: list[NDArray[np.float64]]
    ignored: NDArray[np.bool_]

    def clone(self) -> ScoreState:
        return self


class PodTopologySpread(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    name = "PodTopologySpread"
    _score_key = "PreScorePodTopologySpread"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._system_defaulted = (args.get("defaultingType") or "System") == "System"
        listed = SYSTEM_DEFAULTS if self._system_defaulted else args.get("defaultConstraints") or []
        self._defaults: list[Object] = list(listed)

    def _constraints(self, pod: PodInfo, action: str) -> tuple[Constraint, ...]:
        own = pod.spec.get("topologySpreadConstraints")
        if own:
            return parse(own, pod.labels, action)
        return default_constraints(self._defaults, pod, action, handle=self.handle)

    # -- filtering

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        constraints = self._constraints(pod, DO_NOT_SCHEDULE)
        if not constraints:
            return PreFilterResult(SKIP)
        labelled = _labelled(constraints, snapshot)
        spreads = []
        for constraint in constraints:
            where = labelled & constraint.included(pod, snapshot)
            counts = by_domain(snapshot, constraint.topology_key, constraint.matching(pod, snapshot), where)
            eligible = by_domain(snapshot, constraint.topology_key, np.ones(len(snapshot), np.int64), where) > 0
            spreads.append(Spread(constraint, counts, eligible, constraint.selector.matches(pod.labels)))
        state.write(self.name, FilterState(spreads))
        return PreFilterResult()

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> None:
        self._update(state, pod, other=added, node=node, by=1)

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> None:
        self._update(state, pod, other=removed, node=node, by=-1)

    def _update(self, state: CycleState, pod: PodInfo, *, other: PodInfo, node: NodeInfo, by: int) -> None:
        kept = state.get(self.name, FilterState)
        if kept is None or other.namespace != pod.namespace or other.terminating:
            return
        if any(spread.constraint.topology_key not in node.labels for spread in kept.spreads):
            return
        for spread in kept.spreads:
            constraint = spread.constraint
            if constraint.selector.matches(other.labels) and constraint.includes(pod, node):
                spread.counts[self.domain_of(constraint.topology_key, node)] += by

    def domain_of(self, topology_key: str, node: NodeInfo) -> int:
        """The domain that a node is in, -1 for none."""
        snapshot = self.handle.snapshot
        return int(snapshot.domains(topology_key).ids[snapshot.rows[node.name]])

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        for spread in state.read(self.name, FilterState).spreads:
            domain = self.domain_of(spread.constraint.topology_key, node)
            if domain < 0:
                return MISSING_LABEL
            if spread.counts[domain] > spread.room():
                return NOT_MATCHED
        return SUCCESS

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        codes = np.zeros(len(rows), np.intp)
        # The last constraint first, so that the first one that fails is what is told.
        for spread in reversed(state.read(self.name, FilterState).spreads):
            ids, values = snapshot.domains(spread.constraint.topology_key)
            full = spread.counts > spread.room()
            if len(values):
                codes[full[ids[rows]]] = 1
            codes[ids[rows] < 0] = 2
        return Verdicts(codes, [SUCCESS, NOT_MATCHED, MISSING_LABEL])

    # -- scoring

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        constraints = self._constraints(pod, SCHEDULE_ANYWAY)
        if not constraints:
            return SKIP
        # Of the system's defaults a node need not have all labels: one without a zone still spreads by host name.
        strict = bool(pod.spec.get("topologySpreadConstraints")) or not self._system_defaulted
        everywhere = _labelled(constraints, snapshot) if strict else np.ones(len(snapshot), np.bool_)
        per_node = [self._points(c, pod, snapshot, rows=rows, where=everywhere) for c in constraints]
        state.write(self._score_key, ScoreState(constraints, per_node, ~everywhere))
        return SUCCESS

    def _points(
        self, constraint: Constraint, pod: PodInfo, snapshot: Snapshot, *, rows: Rows, where: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """What a node is charged for the matching pods in its domain; more where there are more domains."""
        ids, values = snapshot.domains(constraint.topology_key)
        candidates = rows[where[rows]]
        if constraint.topology_key == HOSTNAME:
            size, counts = len(candidates), constraint.matching(pod, snapshot)
        else:
            # A candidate without the label is in a domain of its own, that of no value.
            size = len(np.unique(ids[candidates]))
            included = where & constraint.included(pod, snapshot)
            sums = by_domain(snapshot, constraint.topology_key, constraint.matching(pod, snapshot), included)
            counts = np.where(ids >= 0, sums[ids], 0) if len(values) else np.zeros(len(snapshot), np.int64)
        charged = counts * math.log(size + 2) + (constraint.max_skew - 1)
        return np.where(ids >= 0, charged, 0.0)

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        kept, row = state.read(self._score_key, ScoreState), self.handle.snapshot.rows[node.name]
        if kept.ignored[row]:
            return 0
        return math.floor(sum(float(points[row]) for points in kept.per_node) + 0.5)

    def score_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Scores:
        kept = state.read(self._score_key, ScoreState)
        total = np.zeros(len(rows))
        for points in kept.per_node:
            total += points[rows]
        return np.where(kept.ignored[rows], 0, np.floor(total + 0.5)).astype(np.int64)

    def normalize(self, state: CycleState, pod: PodInfo, scores: Scores, snapshot: Snapshot, rows: Rows) -> Scores:
        """The fewer matching pods, the better; nodes that lack a topology label get nothing."""
        ignored = state.read(self._score_key, ScoreState).ignored[rows]
        counted = scores[~ignored]
        if not len(counted):
            return np.zeros_like(scores)
        lowest, highest = int(counted.min()), int(counted.max())
        if highest == 0:
            return np.where(ignored, 0, MAX_NODE_SCORE)
        return np.where(ignored, 0, MAX_NODE_SCORE * (highest + lowest - scores) // highest)

    # -- queueing hints

    def events_to_register(self) -> list[EventWithHint]:
        pods = ClusterEvent(EventResource.ASSIGNED_POD, Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE)
        own = ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_LABEL | Action.UPDATE_POD_TOLERATION)
        node_action = Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT
        return [
            EventWithHint(pods, self._after_pod),
            EventWithHint(own, self._after_pod),
            EventWithHint(ClusterEvent(EventResource.NODE, node_action), self._after_node),
        ]

    def _after_pod(self, pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> QueueingHint:
        """A change in the number of matching pods shifts the skew."""
        if any(other is not None and not self._counts_for(pod, other) for other in (old, new)):
            return QueueingHint.SKIP
        constraints = self._constraints(pod, DO_NOT_SCHEDULE)
        if _tolerates_others(pod, old, new) and any(constraint.honor_taints for constraint in constraints):
            return QueueingHint.QUEUE
        for constraint in constraints:
            before = old is not None and constraint.selector.matches(old.labels)
            after = new is not None and constraint.selector.matches(new.labels)
            if before != after:
                return QueueingHint.QUEUE
        return QueueingHint.SKIP

    def _counts_for(self, pod: PodInfo, other: PodInfo) -> bool:
        """Whether another pod has a part in the pod's spread: as itself, or on a node and in its namespace."""
        return other.uid == pod.uid or (other.namespace == pod.namespace and has_a_place(other, self.handle.version))

    def _after_node(self, pod: PodInfo, old: Object | None, new: Object | None) -> QueueingHint:
        """A node that is, was or has become one of the spread, unless nothing of it changes that matters to it."""
        constraints = self._constraints(pod, DO_NOT_SCHEDULE)
        before, after = _values(old, constraints), _values(new, constraints)
        tainted = old is not None and new is not None and after is not None and _taints(old) != _taints(new)
        return QueueingHint.QUEUE if before != after or tainted else QueueingHint.SKIP


def _tolerates_others(pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> bool:
    """Whether the pod itself has got other tolerations."""
    return old is not None and new is not None and new.uid == pod.uid and old.tolerations != new.tolerations


def _taints(node: Object) -> list[Object]:
    return (node.get("spec") or {}).get("taints") or []


def _labelled(constraints: tuple[Constraint, ...], snapshot: Snapshot) -> NDArray[np.bool_]:
    """Nodes that have the labels of all constraints."""
    labelled = np.ones(len(snapshot), np.bool_)
    for constraint in constraints:
        labelled &= snapshot.domains(constraint.topology_key).ids >= 0
    return labelled


def _values(node: Object | None, constraints: tuple[Constraint, ...]) -> list[str] | None:
    """The node's domains; None for a node that is not in the spread."""
    if node is None:
        return None
    labels = node["metadata"].get("labels") or {}
    if any(constraint.topology_key not in labels for constraint in constraints):
        return None
    return [labels[constraint.topology_key] for constraint in constraints]
