"""How many more of a Pod fit, and what runs out first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.api.types import Object
from engine.scheduler.whatif.remedies import NodeRemedies
from engine.scheduler.whatif.simulation import Outcome, Simulation


@dataclass(slots=True)
class Capacity:
    """`nodes` is how many went to each node; `reasons` how many nodes reject the first Pod that does not fit, and
    `spent` how many of the `had_room` nodes that would have taken a Pod before the others came. `pod` is the
    one that they are like, `made_for` as in Outcome."""

    pod: str
    made_for: str = ""
    count: int = 0
    nodes: dict[str, int] = field(default_factory=dict)
    had_room: int = 0
    limited: bool = False  # the count went to its limit: more may fit
    failed: bool = False  # the count ended early, by an error that `message` tells: it says nothing of the room
    message: str = ""
    reasons: dict[str, int] = field(default_factory=dict)
    spent: dict[str, int] = field(default_factory=dict)
    remedies: list[NodeRemedies] = field(default_factory=list)

    @property
    def first(self) -> str:
        """What runs out first: the reason that most nodes reject the next Pod for, of those that had room for one."""
        reasons = self.spent or self.reasons
        return max(reasons, key=lambda reason: reasons[reason]) if reasons else ""

    def to_json(self) -> Object:
        return {
            "pod": self.pod,
            "madeFor": self.made_for,
            "fit": self.count,
            "limited": self.limited,
            "nodes": self.nodes,
            "hadRoom": self.had_room,
            "runsOutFirst": self.first,
            "reasons": self.reasons,
            "spent": self.spent,
            "message": self.message,
            "remedies": [node.to_json() for node in self.remedies],
        }


async def capacity(simulation: Simulation, pods: Iterable[Object], *, like: str = "", made_for: str = "") -> Capacity:
    """Place Pods that are alike until one does not fit. The simulation should be one without preemption. `like` is the
    Pod that all are copies of, else the first of them is told."""
    found = Capacity("", made_for)
    never: set[str] = set()  # nodes that did not even take the first one
    for pod in pods:
        outcome = await simulation.place(pod)
        found.pod = found.pod or like or outcome.pod
        if not outcome.node:
            found.message, found.remedies = outcome.message, outcome.remedies
            found.failed = outcome.decision.result == "error"
            _note_reasons(found, outcome, never)
            return found
        if not found.count:
            never = set(outcome.decision.node_verdicts())
            found.had_room = len(outcome.decision.names) - len(never)
        found.count += 1
        found.nodes[outcome.node] = found.nodes.get(outcome.node, 0) + 1
    found.limited = True
    return found


def _note_reasons(found: Capacity, outcome: Outcome, never: set[str]) -> None:
    for node, status in outcome.decision.node_verdicts().items():
        for reason in status.reasons:
            found.reasons[reason] = found.reasons.get(reason, 0) + 1
            if found.count and node not in never:
                found.spent[reason] = found.spent.get(reason, 0) + 1
