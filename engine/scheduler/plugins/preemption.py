"""Which pods would have to go so that a pod fits, and which node that costs the least.

Source: upstream's pkg/scheduler/framework/preemption/preemption.go and plugins/defaultpreemption. Pure decisions: the
acting is in `default_preemption`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.diagnosis import NodeToStatus
from engine.scheduler.framework.handle import Filters
from engine.scheduler.framework.status import Status, error, unresolvable
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.selecting import pod_selector

NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")
MAX_INT32 = 2**31 - 1
KEPT_SHAPES = 4096


class Cost(NamedTuple):
    """What victims count for, the most important first; the later the earliest start, the better."""

    highest_priority: int
    priorities: int
    victims: int
    earliest_start: str


class Places(NamedTuple):
    """Of nodes of a shape: where the victims are among their pods, and what they cost."""

    places: list[int]
    cost: Cost


Memo = dict[Hashable, Places | Status]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node, the pods that must leave it (the most important first) and how many disruption budgets that violates."""

    node: str
    victims: tuple[PodInfo, ...]
    violations: int
    cost: Cost | None = field(default=None, compare=False)  # where it is known already

    def to_json(self) -> Object:
        return {"node": self.node, "victims": [v.key for v in self.victims], "pdbViolations": self.violations}


def by_importance(pods: Iterable[PodInfo]) -> list[PodInfo]:
    """Higher priority first, then the longer running; a pod without a start time counts as started just now."""
    return sorted(pods, key=lambda pod: (-pod.priority, pod.start_time or "~"))


def split_by_budgets(pods: list[PodInfo], budgets: list[Object]) -> tuple[list[PodInfo], list[PodInfo]]:
    """Those whose going violates a PodDisruptionBudget, and the others, both in the order given."""
    left = [(b.get("status") or {}).get("disruptionsAllowed", 0) for b in budgets]
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for pod in pods:
        violated = False
        for i, budget in enumerate(budgets):
            if _covers(budget, pod):
                left[i] -= 1
                violated = violated or left[i] < 0
        (violating if violated else others).append(pod)
    return violating, others


def _covers(budget: Object, pod: PodInfo) -> bool:
    if not pod.labels or budget["metadata"].get("namespace") != pod.namespace:
        return False
    selector = pod_selector((budget.get("spec") or {}).get("selector"))
    if selector.empty or not selector.matches(pod.labels):
        return False
    return pod.name not in ((budget.get("status") or {}).get("disruptedPods") or {})


@dataclass(slots=True)
class DryRun:
    """Tries preemption on copies of nodes."""

    filters: Filters
    state: CycleState
    pod: PodInfo
    budgets: list[Object]
    statuses: NodeToStatus = field(default_factory=NodeToStatus)
    memo: Memo = field(default_factory=dict)

    def run(self, snapshot: Snapshot, rows: Rows, *, offset: int, wanted: int) -> list[Candidate]:
        """Candidates from the `offset`-th row on, until there are `wanted` and one of them violates no budget."""
        clean: list[Candidate] = []
        violating: list[Candidate] = []
        by_shape = not self.budgets and self.filters.only_room_matters(self.state)
        passing = self._passing(snapshot, rows) if by_shape else frozenset()
        for row in np.roll(rows, -offset).tolist():
            node = snapshot.nodes[row]
            found = self._like_others(node) if row in passing else self._victims_on(node)
            if isinstance(found, Status):
                self.statuses.set(node.name, found)
                continue
            (violating if found.violations else clean).append(found)
            if clean and len(clean) + len(violating) >= wanted:
                break
        return clean + violating

    def _passing(self, snapshot: Snapshot, rows: Rows) -> frozenset[int]:
        """The rows that no filter rejects which looks at the node alone."""
        return frozenset(self.filters.node_filter_rows(self.state, self.pod, snapshot, rows).tolist())

    def _like_others(self, original: NodeInfo) -> Candidate | Status:
        """`_victims_on` where only room matters: nodes that are as big and as full of the same give the same answer."""
        nominated = self.filters.counted_nominated(self.pod, original.name)
        key = (self.pod.priority, self.pod.request, original.shape, *(other.request for other in nominated))
        known = self.memo.get(key)
        if known is None:
            found = self._victims_on(original)
            if len(self.memo) >= KEPT_SHAPES:
                self.memo.clear()
            places = {uid: place for place, uid in enumerate(original.pods)}
            self.memo[key] = (
                found
                if isinstance(found, Status)
                else Places([places[victim.uid] for victim in found.victims], _cost(found.victims))
            )
            return found
        if isinstance(known, Status):
            return known
        pods = list(original.pods.values())
        return Candidate(original.name, tuple([pods[place] for place in known.places]), 0, known.cost)

    def _victims_on(self, original: NodeInfo) -> Candidate | Status:
        """The fewest and least important pods of a node that make room, or why none do."""
        trial = self._trial(original)
        potential = [other for other in original.pods.values() if other.priority < self.pod.priority]
        if not potential:
            return NO_VICTIMS
        for other in potential:
            trial.remove(other)
        status = trial.check()
        if not status.ok:
            return status
        # Spare as many as possible, the most important first, and first of all those that a budget protects.
        protected, others = split_by_budgets(by_importance(potential), self.budgets)
        lost = [other for other in protected if not trial.spare(other)]
        violations = len(lost)
        lost += [other for other in others if not trial.spare(other)]
        if not lost:
            return error(f'expected at least one victim pod on node "{original.name}"')
        return Candidate(original.name, tuple(by_importance(lost)), violations)

    def _trial(self, node: NodeInfo) -> Trial:
        if self.filters.only_room_matters(self.state):
            return RoomTrial(self.filters, self.state, self.pod, node.room())
        return Trial(self.filters, self.state.clone(), self.pod, node.copy())


class Trial:
    """A copy of a node and of the state, from which pods are taken and to which they are given back."""

    def __init__(self, filters: Filters, state: CycleState, pod: PodInfo, node: NodeInfo) -> None:
        self.filters, self.state, self.pod, self.node = filters, state, pod, node

    def remove(self, other: PodInfo) -> None:
        self.node.remove_pod(other)
        self.filters.remove_pod(self.state, self.pod, other, self.node)

    def check(self) -> Status:
        return self.filters.filter_with_nominated(self.state, self.pod, self.node)

    def spare(self, other: PodInfo) -> bool:
        """Give a pod back, if the pod fits all the same."""
        self.node.add_pod(other)
        self.filters.add_pod(self.state, self.pod, other, self.node)
        if self.check().ok:
            return True
        self.remove(other)
        return False


class RoomTrial(Trial):
    """The same where only room matters: filters that ask for the node alone are asked once, and nominated pods are
    counted from the start, as without them there is but more room."""

    def __init__(self, filters: Filters, state: CycleState, pod: PodInfo, node: NodeInfo) -> None:
        super().__init__(filters, state, pod, node)
        for other in filters.counted_nominated(pod, node.name):
            node.add_pod(other)

    def remove(self, other: PodInfo) -> None:
        self.node.remove_pod(other)

    def check(self) -> Status:
        return self.filters.run_filters(self.state, self.pod, self.node)

    def spare(self, other: PodInfo) -> bool:
        self.node.add_pod(other)
        if self.filters.run_room_filters(self.state, self.pod, self.node).ok:
            return True
        self.node.remove_pod(other)
        return False


def _cost(victims: tuple[PodInfo, ...]) -> Cost:
    highest = victims[0].priority
    return Cost(
        highest,
        # A priority is counted from the lowest there is, so that more victims never count for less.
        sum(v.priority + MAX_INT32 + 1 for v in victims),
        len(victims),
        min(v.start_time or "~" for v in victims if v.priority == highest),
    )


def pick(candidates: list[Candidate]) -> Candidate:
    """The node that costs the least, by rules of falling importance; the first one of those that are alike."""
    costs = [(c, c.cost or _cost(c.victims)) for c in candidates]
    least = min((c.violations, *cost[:3]) for c, cost in costs)
    left = [(c, cost.earliest_start) for c, cost in costs if (c.violations, *cost[:3]) == least]
    latest = max(start for _, start in left)
    return next(c for c, start in left if start == latest)
