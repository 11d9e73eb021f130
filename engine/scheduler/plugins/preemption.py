"""Which pods would have to go so that a pod fits, and which node that costs the least.

Source: upstream's pkg/scheduler/framework/preemption/preemption.go and plugins/defaultpreemption. Pure decisions: the
acting is in `default_preemption`, what is found in `candidates`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.diagnosis import NodeToStatus
from engine.scheduler.framework.handle import Filters
from engine.scheduler.framework.status import PluginError, Status, error, unresolvable
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.candidates import Alike, Candidate, Candidates, Listed, Memo, Places, cost_of
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.selecting import pod_selector

KEPT_SHAPES = 4096
NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")
NEEDLESS = error("expected at least one victim pod")  # as it fits already; told with the name of the node


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
    nominated: NDArray[np.int64] | None = None  # by row, which pods count on it besides (`NominatedKinds`)

    def run(self, snapshot: Snapshot, rows: Rows, *, offset: int, wanted: int) -> Candidates:
        """Candidates from the `offset`-th row on, until there are `wanted` and one of them violates no budget."""
        order = np.roll(rows, -offset)
        if not self.budgets and self.filters.only_room_matters(self.state):
            return self._run_by_shape(snapshot, order, wanted)
        clean: list[Candidate] = []
        violating: list[Candidate] = []
        for row in order.tolist():
            node = snapshot.nodes[row]
            found = self._victims_on(node)
            if isinstance(found, Status):
                self._reject(node.name, found)
                continue
            (violating if found.violations else clean).append(found)
            if clean and len(clean) + len(violating) >= wanted:
                break
        return Listed(clean + violating)

    def _run_by_shape(self, snapshot: Snapshot, order: Rows, wanted: int) -> Candidates:
        """The same where only room matters and no budget counts: nodes that are as big and as full of the same give
        the same answer, so that one of each kind is tried."""
        answers, found, rejected = Answers(self, snapshot), Alike(snapshot), list[tuple[Rows, Status]]()
        size = max(wanted, 1)
        for start in range(0, len(order), size):
            chunk = order[start : start + size]
            kinds = answers.of(chunk)
            helps = np.array([not isinstance(answer, Status) for answer in answers.known], np.bool_)[kinds]
            found.add(chunk[helps], kinds[helps])
            rejected += [(chunk[kinds == k], a) for k, a in enumerate(answers.known) if isinstance(a, Status)]
            if len(found) >= wanted:
                break
        found.finish(wanted, answers.known)
        if not len(found):
            for rows, status in rejected:
                for row in rows.tolist():
                    self._reject(snapshot.names[row], status)
        return found

    def _reject(self, node: str, status: Status) -> None:
        told = error(f'{status.message} on node "{node}"') if status is NEEDLESS else status
        self.statuses.set(node, told)

    def answer(self, node: NodeInfo) -> Places | Status:
        """Whose going helps on a node, by their places among its pods; for where only room matters."""
        found = self._victims_on(node)
        if isinstance(found, Status):
            return found
        places = {uid: place for place, uid in enumerate(node.pods)}
        return Places([places[victim.uid] for victim in found.victims], cost_of(found.victims))

    def _victims_on(self, original: NodeInfo) -> Candidate | Status:
        """The fewest and least important pods of a node that make room, or why none do."""
        try:
            return self._fewest_on(original)
        except PluginError as failure:
            return error(str(failure))

    def _fewest_on(self, original: NodeInfo) -> Candidate | Status:
        """Raises PluginError."""
        potential = [other for other in original.pods.values() if other.priority < self.pod.priority]
        if not potential:
            return NO_VICTIMS
        trial = self._trial(original)
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
            return NEEDLESS
        return Candidate(original.name, tuple(by_importance(lost)), violations)

    def _trial(self, node: NodeInfo) -> Trial:
        if self.filters.only_room_matters(self.state):
            return RoomTrial(self.filters, self.state, self.pod, node.room())
        return Trial(self.filters, self.state.clone(), self.pod, node.copy())


class Answers:
    """Answers for nodes of one kind after another, each asked for once; over attempts they stay in the memo."""

    def __init__(self, dry_run: DryRun, snapshot: Snapshot) -> None:
        self._dry_run = dry_run
        self._snapshot = snapshot
        self._kinds: dict[Hashable, int] = {}
        self.known: list[Places | Status] = []

    def of(self, rows: Rows) -> Rows:
        """For each row the number of its answer among those that are known."""
        dry_run, snapshot = self._dry_run, self._snapshot
        shapes = snapshot.shapes(rows)
        nominated = dry_run.nominated[rows] if dry_run.nominated is not None else np.zeros_like(shapes)
        passing = np.isin(rows, dry_run.filters.node_filter_rows(dry_run.state, dry_run.pod, snapshot, rows))
        keys = shapes * (int(nominated.max(initial=0)) + 1) + nominated
        # Nodes that are rejected for what they are themselves are of no kind.
        keys[~passing] = -1 - np.arange(np.count_nonzero(~passing))
        _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
        numbers = [self._number(rows[i], int(nominated[i]) if passing[i] else None) for i in first.tolist()]
        return np.array(numbers, np.intp)[kind]

    def _number(self, row: int, nominated: int | None) -> int:
        node, pod, memo = self._snapshot.nodes[row], self._dry_run.pod, self._dry_run.memo
        key = (pod.priority, pod.request, node.shape, nominated)
        if nominated is None:
            return self._add(self._dry_run.answer(node))
        number = self._kinds.get(key)
        if number is None:
            answer = memo.get(key)
            if answer is None:
                if len(memo) >= KEPT_SHAPES:
                    memo.clear()
                answer = memo[key] = self._dry_run.answer(node)
            number = self._kinds[key] = self._add(answer)
        return number

    def _add(self, answer: Places | Status) -> int:
        self.known.append(answer)
        return len(self.known) - 1


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
