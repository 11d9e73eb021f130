"""Two configurations on the same cluster and the same Pods: which Pods go elsewhere, and which plugin makes it so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.api.types import Object
from engine.scheduler.whatif.simulation import Outcome


@dataclass(frozen=True, slots=True)
class Difference:
    """One Pod under the two configurations. Scores are those of the two chosen nodes, where they were scored."""

    before: Outcome
    after: Outcome

    @property
    def differs(self) -> bool:
        before, after = ((o.node, o.preempted, o.evicted_by) for o in (self.before, self.after))
        return before != after

    def to_json(self) -> Object:
        nodes = [node for node in dict.fromkeys((self.before.node, self.after.node)) if node]
        return {
            "pod": self.before.pod,
            "madeFor": self.before.made_for,
            "differs": self.differs,
            "before": _side(self.before, nodes),
            "after": _side(self.after, nodes),
        }


def _side(outcome: Outcome, nodes: list[str]) -> Object:
    scores = {row["node"]: row for row in outcome.decision.to_json()["scores"]}
    shown: Object = {"node": outcome.node, "message": outcome.message, "preempted": outcome.preempted}
    if outcome.evicted_by:
        shown["evictedBy"] = outcome.evicted_by
    if outcome.unserved:
        shown["unserved"] = True
    shown["scores"] = {node: _weighted(scores[node]) for node in nodes if node in scores}
    return shown


def _weighted(row: dict[str, Any]) -> Object:
    return {"total": row["total"], "plugins": {entry["plugin"]: entry["weighted"] for entry in row["plugins"]}}


def compare(before: list[Outcome], after: list[Outcome]) -> list[Difference]:
    """Pods in the order in which they were placed, the same in both."""
    return [Difference(one, other) for one, other in zip(before, after, strict=True)]
