"""NodeAffinity: spec.nodeSelector and node affinity, required and preferred, and the affinity that the profile adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import (
    Depends,
    FilterPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
    Scores,
    default_normalize,
)
from engine.scheduler.framework.status import SKIP, SUCCESS, Status, error, unresolvable
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.selecting import (
    canonical,
    has_selected_labels,
    is_readable,
    node_matches_pod,
    node_selector_matches,
    preferred_node_affinity,
    preferred_problems,
    preferred_score,
    required_node_affinity,
)

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

NOT_MATCHED = unresolvable("node(s) didn't match Pod's node affinity/selector")
NOT_ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")
CONFLICT = unresolvable("pod affinity terms conflict")


def named_nodes(required: Object | None) -> frozenset[str] | None:
    """The nodes that the required terms name by metadata.name; None if a term names none and so leaves all open."""
    terms = (required or {}).get("nodeSelectorTerms") or ()
    names: set[str] = set()
    for term in terms:
        listed = [
            set(field.get("values") or ())
            for field in term.get("matchFields") or ()
            if field.get("key") == "metadata.name" and field.get("operator") == "In"
        ]
        if not listed:
            return None
        names |= set.intersection(*listed)
    return frozenset(names) if terms else None


def affinity_key(pod: PodInfo) -> bytes:
    """Pods of equal keys match the same nodes."""
    return canonical([pod.spec.get("nodeSelector"), required_node_affinity(pod.pod)])


class NodeAffinity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    name = "NodeAffinity"
    depends = Depends.NODE

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        added = args.get("addedAffinity") or {}
        self.added_required: Object | None = added.get("requiredDuringSchedulingIgnoredDuringExecution")
        self._added_preferred: list[Object] = added.get("preferredDuringSchedulingIgnoredDuringExecution") or []

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        required = required_node_affinity(pod.pod)
        if required is None and self.added_required is None and not pod.spec.get("nodeSelector"):
            return PreFilterResult(SKIP)
        names = named_nodes(required)
        if names is not None and not names:
            return PreFilterResult(CONFLICT)
        return PreFilterResult(node_names=names)

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        return (SUCCESS, NOT_ENFORCED, NOT_MATCHED)[self._verdict(pod, node)]

    def _verdict(self, pod: PodInfo, node: NodeInfo) -> int:
        if node.node is None:
            return 2
        if self.added_required is not None and not node_selector_matches(self.added_required, node.node):
            return 1
        return 0 if node_matches_pod(pod.pod, node.node) else 2

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        key = (self.name, id(self), affinity_key(pod))
        table = snapshot.static(key, lambda node: self._verdict(pod, node))
        return Verdicts(table[rows].astype(np.intp), [SUCCESS, NOT_ENFORCED, NOT_MATCHED])

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        preferred = preferred_node_affinity(pod.pod)
        if problems := preferred_problems(preferred):
            # The API lets such terms pass. A required one matches no node; a preferred one ends the attempt.
            told = [f"{cause.field}: {cause.message}" for cause in problems]
            return error(told[0] if len(told) == 1 else f"[{', '.join(told)}]")
        return SUCCESS if self._added_preferred or preferred else SKIP

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        if node.node is None:
            return 0
        own = preferred_score(preferred_node_affinity(pod.pod), node.node)
        return own + preferred_score(self._added_preferred, node.node)

    def score_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Scores:
        key = (f"{self.name} preferred", id(self), canonical(preferred_node_affinity(pod.pod)))
        return snapshot.static(key, lambda node: self.score(state, pod, node))[rows]

    def normalize(self, state: CycleState, pod: PodInfo, scores: Scores, snapshot: Snapshot, rows: Rows) -> Scores:
        return default_normalize(scores)

    def events_to_register(self) -> list[EventWithHint]:
        event = ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
        return [EventWithHint(event, self._after_node)]

    def _after_node(self, pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
        if self.added_required is not None and not node_selector_matches(self.added_required, new):
            return QueueingHint.SKIP
        if not node_matches_pod(pod.pod, new):
            # What of the affinity cannot be read says neither yes nor no.
            readable = is_readable(required_node_affinity(pod.pod) or {})
            return QueueingHint.SKIP if readable or not has_selected_labels(pod.pod, new) else QueueingHint.QUEUE
        matched_before = old is not None and node_matches_pod(pod.pod, old)
        return QueueingHint.SKIP if matched_before else QueueingHint.QUEUE
