"""InterPodAffinity: pods that want to be near or far from other pods, counted by topology domain.

Source: upstream's plugins/interpodaffinity filtering.go and scoring.go.
"""

from __future__ import annotations

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
from engine.scheduler.plugins.topology import DomainCounts, has_a_place
from engine.scheduler.pod_info import AffinityTerm, LabelGroup, PodInfo

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

AFFINITY = unresolvable("node(s) didn't match pod affinity rules")
ANTI_AFFINITY = unschedulable("node(s) didn't match pod anti-affinity rules")
EXISTING_ANTI_AFFINITY = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
DEFAULT_HARD_POD_AFFINITY_WEIGHT = 1


@dataclass(slots=True)
class FilterState:
    """How many pods stand in the pod's way, or answer its affinity, in each domain of each topology key."""

    existing_anti_affinity: DomainCounts
    affinity: DomainCounts
    anti_affinity: DomainCounts
    matches_itself: bool

    def clone(self) -> FilterState:
        return FilterState(
            self.existing_anti_affinity.clone(),
            self.affinity.clone(),
            self.anti_affinity.clone(),
            self.matches_itself,
        )


@dataclass(slots=True)
class ScoreState:
    points: DomainCounts

    def clone(self) -> ScoreState:
        return self


class InterPodAffinity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    name = "InterPodAffinity"
    _score_key = "PreScoreInterPodAffinity"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._hard_weight: int = args.get("hardPodAffinityWeight", DEFAULT_HARD_POD_AFFINITY_WEIGHT)
        self._ignore_existing: bool = args.get("ignorePreferredTermsOfExistingPods", False)

    # -- matching

    def matches(self, term: AffinityTerm, pod: PodInfo) -> bool:
        return term.matches(pod, self.handle.namespace_labels(pod.namespace))

    def _matches_all(self, terms: tuple[AffinityTerm, ...], pod: PodInfo) -> bool:
        return bool(terms) and all(self.matches(term, pod) for term in terms)

    def _counts(self, terms: tuple[AffinityTerm, ...], snapshot: Snapshot) -> NDArray[np.int64]:
        """Per node, how many pods match all of the terms."""

        def accepts(group: LabelGroup) -> bool:
            labels, namespace_labels = dict(group.labels), self.handle.namespace_labels(group.namespace)
            return all(term.matches_labels(group.namespace, labels, namespace_labels) for term in terms)

        # Whether a namespace selector matches changes with the labels of namespaces.
        version = 0 if all(term.static for term in terms) else self.handle.namespaces_version
        return snapshot.pod_groups.sum(("affinity", version, *(term.key for term in terms)), accepts)

    # -- filtering

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        existing = self._existing_anti_affinity(pod, snapshot)
        if not existing and not pod.required_affinity and not pod.required_anti_affinity:
            return PreFilterResult(SKIP)
        near, far = DomainCounts(snapshot), DomainCounts(snapshot)
        if pod.required_affinity:
            matching = self._counts(pod.required_affinity, snapshot)
            for term in pod.required_affinity:
                near.add(term.topology_key, matching)
        for term in pod.required_anti_affinity:
            far.add(term.topology_key, self._counts((term,), snapshot))
        itself = self._matches_all(pod.required_affinity, pod)
        state.write(self.name, FilterState(existing, near, far, itself))
        return PreFilterResult()

    def _existing_anti_affinity(self, pod: PodInfo, snapshot: Snapshot) -> DomainCounts:
        counts, terms = DomainCounts(snapshot), snapshot.anti_affinity_terms
        for term in list(terms.groups()):
            if self.matches(term, pod):
                counts.add(term.topology_key, terms.sum(term, term.__eq__))
        return counts

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> None:
        self._update(state, pod, other=added, node=node, sign=1)

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> None:
        self._update(state, pod, other=removed, node=node, sign=-1)

    def _update(self, state: CycleState, pod: PodInfo, *, other: PodInfo, node: NodeInfo, sign: int) -> None:
        kept = state.get(self.name, FilterState)
        if kept is None:
            return
        for term in other.required_anti_affinity:
            if self.matches(term, pod):
                kept.existing_anti_affinity.change(term.topology_key, node, sign)
        if self._matches_all(pod.required_affinity, other):
            for term in pod.required_affinity:
                kept.affinity.change(term.topology_key, node, sign)
        for term in pod.required_anti_affinity:
            if self.matches(term, other):
                kept.anti_affinity.change(term.topology_key, node, sign)

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        kept = state.read(self.name, FilterState)
        if not self.satisfies_affinity(kept, pod, node):
            return AFFINITY
        if any(kept.anti_affinity.on(term.topology_key, node) > 0 for term in pod.required_anti_affinity):
            return ANTI_AFFINITY
        if any(kept.existing_anti_affinity.on(key, node) > 0 for key in kept.existing_anti_affinity.keys):
            return EXISTING_ANTI_AFFINITY
        return SUCCESS

    def satisfies_affinity(self, kept: FilterState, pod: PodInfo, node: NodeInfo) -> bool:
        if any(term.topology_key not in node.labels for term in pod.required_affinity):
            return False
        if all(kept.affinity.on(term.topology_key, node) > 0 for term in pod.required_affinity):
            return True
        # The first pod of a group may go anywhere: no pod answers its affinity yet, but it does so itself.
        return not kept.affinity.any and kept.matches_itself

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        kept = state.read(self.name, FilterState)
        codes = np.zeros(len(rows), np.intp)
        for key in kept.existing_anti_affinity.keys:
            codes[kept.existing_anti_affinity.at(key, rows) > 0] = 3
        for term in pod.required_anti_affinity:
            codes[kept.anti_affinity.at(term.topology_key, rows) > 0] = 2
        alone = not kept.affinity.any and kept.matches_itself
        for term in pod.required_affinity:
            lacking = snapshot.domains(term.topology_key).ids[rows] < 0
            if not alone:
                lacking |= kept.affinity.at(term.topology_key, rows) <= 0
            codes[lacking] = 1
        return Verdicts(codes, [SUCCESS, AFFINITY, ANTI_AFFINITY, EXISTING_ANTI_AFFINITY])

    # -- scoring

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        own = bool(pod.preferred_affinity or pod.preferred_anti_affinity)
        if self._ignore_existing and not own:
            return SKIP
        points = DomainCounts(snapshot)
        for term, weight in pod.preferred_affinity:
            points.add(term.topology_key, self._counts((term,), snapshot) * weight)
        for term, weight in pod.preferred_anti_affinity:
            points.add(term.topology_key, self._counts((term,), snapshot) * -weight)
        self._add_wishes_of_existing(points, pod, snapshot)
        if not points:
            return SKIP
        state.write(self._score_key, ScoreState(points))
        return SUCCESS

    def _add_wishes_of_existing(self, points: DomainCounts, pod: PodInfo, snapshot: Snapshot) -> None:
        wishes = snapshot.wishes
        for wish in list(wishes.groups()):
            weight = wish.weight or self._hard_weight
            if weight and self.matches(wish.term, pod):
                held = wishes.sum(wish, wish.__eq__)
                points.add(wish.term.topology_key, held * weight)

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        points = state.read(self._score_key, ScoreState).points
        return sum(points.on(key, node) for key in points.keys)

    def score_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Scores:
        points = state.read(self._score_key, ScoreState).points
        total = np.zeros(len(rows), np.int64)
        for key in points.keys:
            total += points.at(key, rows)
        return total

    def normalize(self, state: CycleState, pod: PodInfo, scores: Scores, snapshot: Snapshot, rows: Rows) -> Scores:
        lowest, highest = int(scores.min()), int(scores.max())
        if highest == lowest:
            return np.zeros_like(scores)
        return (float(MAX_NODE_SCORE) * ((scores - lowest) / float(highest - lowest))).astype(np.int64)

    # -- queueing hints

    def events_to_register(self) -> list[EventWithHint]:
        pods = ClusterEvent(EventResource.ASSIGNED_POD, Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE)
        own = ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_LABEL)
        node = ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
        return [EventWithHint(pods, self._after_pod), EventWithHint(own), EventWithHint(node, self._after_node)]

    def _after_pod(self, pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> QueueingHint:
        """Queue if a pod on a node has begun to answer the affinity, or has ceased to stand in the way."""
        if any(other is not None and not has_a_place(other, self.handle.version) for other in (old, new)):
            return QueueingHint.SKIP
        answered = old is not None and self._matches_all(pod.required_affinity, old)
        if new is not None and not answered and self._matches_all(pod.required_affinity, new):
            return QueueingHint.QUEUE
        left = self._in_the_way(pod, old) if old is not None else set()
        if new is not None:
            left -= self._in_the_way(pod, new)
        return QueueingHint.QUEUE if left else QueueingHint.SKIP

    def _in_the_way(self, pod: PodInfo, other: PodInfo) -> set[AffinityTerm]:
        """By which terms the other keeps the pod out. That one of them no longer does may open other domains."""
        own = {term for term in pod.required_anti_affinity if self.matches(term, other)}
        return own | {term for term in other.required_anti_affinity if self.matches(term, pod)}

    def _after_node(self, pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
        """A node that has come into a domain of the affinity, or has left one of the anti-affinity."""
        after = new["metadata"].get("labels") or {}
        before = {} if old is None else old["metadata"].get("labels") or {}
        into = any(
            term.topology_key in after and before.get(term.topology_key) != after[term.topology_key]
            for term in pod.required_affinity
        )
        out = any(
            old is None or (term.topology_key in before and before[term.topology_key] != after.get(term.topology_key))
            for term in pod.required_anti_affinity
        )
        # Without terms the pod was rejected by the anti-affinity of others: any change of labels may lead out of it.
        free = not pod.required_affinity and not pod.required_anti_affinity
        return QueueingHint.QUEUE if into or out or free else QueueingHint.SKIP
