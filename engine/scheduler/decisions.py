"""The record of every scheduling attempt: who said what of which node, and why the winner won.

Kept as the arrays that the attempt worked on; the text is made when somebody looks.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows
from engine.scheduler.framework.measuring import Durations
from engine.scheduler.framework.runtime import ScoreColumn
from engine.scheduler.framework.status import Status
from engine.scheduler.framework.verdicts import Rejection

if TYPE_CHECKING:
    from engine.scheduler.framework.pods_in_pre_bind import PodsInPreBind
    from engine.scheduler.framework.waiting_pods import WaitingPod

KEPT = 300

_NO_ROWS: Rows = np.zeros(0, np.intp)


@dataclass(slots=True, eq=False)
class Decision:
    """One attempt on one pod.

    `result` is what the scheduling cycle came to: `scheduled`, `unschedulable`, `error` or `skipped`; `binding` what
    became of it after that: `binding`, `waiting` at Permit or PreBind, `bound`, or `failed`, and why.
    """

    pod: str
    uid: str
    attempt: int
    profile: str
    time: str
    labels: Mapping[str, str] = field(default_factory=dict)  # the pod's, then
    names: list[str] = field(default_factory=list)  # all nodes, by row
    filters: list[str] = field(default_factory=list)  # the plugins that looked at nodes, in the order in which they do
    rejections: list[Rejection] = field(default_factory=list)
    statuses: dict[str, Status] = field(default_factory=dict)  # of nodes that were asked about one by one
    feasible: Rows = field(default_factory=lambda: _NO_ROWS)
    scores: list[ScoreColumn] = field(default_factory=list)
    totals: Rows = field(default_factory=lambda: _NO_ROWS)
    winner: str = ""
    ties: Rows = field(default_factory=lambda: _NO_ROWS)  # the best of them, where there were several
    result: str = ""
    message: str = ""
    nominated: str = ""
    bound: str = ""  # `binding`, `bound` or `failed`
    bound_message: str = ""
    permit: WaitingPod | None = None  # what the pod waits in, or has waited in
    in_pre_bind: PodsInPreBind | None = None  # where the pod is to be found while PreBind plugins work
    evaluated: int = 0
    notes: dict[str, Any] = field(default_factory=dict)
    durations: Durations = field(default_factory=Durations)
    wall_ms: float = 0.0
    moves: list[Object] = field(default_factory=list)
    trace: str = ""

    def summary(self) -> Object:
        """One line of it, as the span of the attempt and the list of decisions show it."""
        shown: Object = {
            "pod": self.pod,
            "attempt": self.attempt,
            "profile": self.profile,
            "time": self.time,
            "result": self.result,
            "node": self.winner,
            "message": self.message,
            "nodes": len(self.names),
            "evaluatedNodes": self.evaluated,
            "feasibleNodes": len(self.feasible),
            "ties": len(self.ties),
        }
        if self.nominated:
            shown["nominatedNode"] = self.nominated
        if self.bound:
            shown |= self._binding()
        return shown

    def _binding(self) -> Object:
        if self.bound == "binding":
            if self.permit is not None and (asked := self.permit.pending_plugins):
                why = f"waits at Permit for {', '.join(asked)}"
                return {"binding": "waiting", "bindingMessage": why, "waitsAt": "Permit"}
            if self.in_pre_bind is not None and (why := self.in_pre_bind.wait_of(self.uid)):
                return {"binding": "waiting", "bindingMessage": why, "waitsAt": "PreBind"}
        return {"binding": self.bound, "bindingMessage": self.bound_message}

    def node_verdicts(self) -> dict[str, Status]:
        """The rejection of each rejected node."""
        found: dict[str, Status] = dict(self.statuses)
        for rejection in self.rejections:
            found.update(rejection.by_name(self.names))
        return found

    def rejected_by(self) -> list[Object]:
        """How many nodes each plugin rejected, for which reasons; the most first."""
        counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
        for rejection in self.rejections:
            for status, count in rejection.counted():
                counts[status.plugin, tuple(status.reasons)] += count
        for status in self.statuses.values():
            counts[status.plugin, tuple(status.reasons)] += 1
        return [
            {"plugin": plugin, "reasons": list(reasons), "nodes": count}
            for (plugin, reasons), count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
        ]

    def to_json(self, *, nodes: int | None = None) -> Object:
        """All of it; scores and rejections of at most `nodes` nodes each."""
        verdicts = self.node_verdicts()
        rejected = [
            {"node": name, "plugin": s.plugin, "code": s.code.label, "reasons": list(s.reasons)}
            for name, s in sorted(verdicts.items())[:nodes]
        ]
        return {
            **self.summary(),
            "wall_ms": round(self.wall_ms, 3),
            "uid": self.uid,
            "traceId": self.trace,
            "tiedNodes": [self.names[row] for row in self.ties],
            "filters": self.filters,
            "scores": self._score_table(nodes),
            "rejected": rejected,
            "rejectedBy": self.rejected_by(),
            "notEvaluated": len(self.names) - len(self.feasible) - len(verdicts),
            "notes": {key: note() if callable(note) else note for key, note in self.notes.items()},
            "moves": self.moves,
            "durations": [
                {"extensionPoint": point, "plugin": plugin, "wall_ms": round(seconds * 1000, 3)}
                for (point, plugin), seconds in self.durations.taken.items()
            ],
        }

    def _score_table(self, limit: int | None) -> list[Object]:
        """Feasible nodes, the best first, each with what every plugin gave it."""
        if not len(self.totals):
            return [{"node": self.names[row], "total": None, "plugins": []} for row in self.feasible[:limit]]
        order = np.argsort(-self.totals, kind="stable")
        return [
            {
                "node": self.names[self.feasible[i]],
                "total": int(self.totals[i]),
                "plugins": [
                    {
                        "plugin": column.plugin,
                        "raw": int(column.raw[i]),
                        "normalized": int(column.normalized[i]),
                        "weight": column.weight,
                        "weighted": int(column.normalized[i]) * column.weight,
                    }
                    for column in self.scores
                ],
            }
            for i in order[:limit]
        ]


class Decisions:
    """The newest attempts, and the newest of each pod among them."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept: deque[Decision] = deque(maxlen=kept)
        self.total = 0

    def add(self, decision: Decision) -> None:
        self.total += 1
        self._kept.append(decision)

    def newest(self, limit: int = KEPT) -> list[Decision]:
        """The newest first."""
        return [decision for _, decision in zip(range(limit), reversed(self._kept), strict=False)]

    def of_pod(self, key: str) -> list[Decision]:
        """All kept attempts on `namespace/name`, the newest first."""
        return [decision for decision in reversed(self._kept) if decision.pod == key]
