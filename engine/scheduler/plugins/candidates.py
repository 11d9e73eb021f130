"""The nodes that preemption may choose among, and which of them costs the least (framework/preemption Candidate)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.status import Status
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo

MAX_INT32 = 2**31 - 1


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

    def to_json(self) -> Object:
        return {"node": self.node, "victims": [v.key for v in self.victims], "pdbViolations": self.violations}


class Candidates(Protocol):
    """What a dry run has found."""

    def __len__(self) -> int: ...

    def listed(self) -> list[Candidate]: ...

    def pick(self) -> Candidate:
        """The node that costs the least, by rules of falling importance; the first one of those that are alike."""
        ...


class Listed:
    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._candidates = candidates

    def __len__(self) -> int:
        return len(self._candidates)

    def listed(self) -> list[Candidate]:
        return list(self._candidates)

    def pick(self) -> Candidate:
        costs = [(candidate.violations, cost_of(candidate.victims)) for candidate in self._candidates]
        return self._candidates[_cheapest(costs)]


class Alike:
    """Candidates by row with the number of their answer; who the victims are is looked up of those that matter, on the
    nodes as they were: the snapshot goes on."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._rows: Rows = np.zeros(0, np.intp)
        self._kinds: Rows = np.zeros(0, np.intp)
        self._nodes: list[NodeInfo] = []
        self._answers: Sequence[Places | Status] = ()

    def add(self, rows: Rows, kinds: Rows) -> None:
        self._rows, self._kinds = np.concatenate([self._rows, rows]), np.concatenate([self._kinds, kinds])

    def finish(self, wanted: int, answers: Sequence[Places | Status]) -> None:
        self._rows, self._kinds, self._answers = self._rows[:wanted], self._kinds[:wanted], answers
        nodes = self._snapshot.nodes
        self._nodes = [nodes[row] for row in self._rows.tolist()]

    def __len__(self) -> int:
        return len(self._rows)

    def _candidate(self, i: int) -> Candidate:
        answer, node = self._answers[self._kinds[i]], self._nodes[i]
        assert isinstance(answer, Places)
        pods = list(node.pods.values())
        return Candidate(node.name, tuple([pods[place] for place in answer.places]), 0)

    def listed(self) -> list[Candidate]:
        return [self._candidate(i) for i in range(len(self))]

    def pick(self) -> Candidate:
        present, first = np.unique(self._kinds, return_index=True)
        # In the order in which the kinds come, so that of those that cost the same the first node is taken.
        order = np.argsort(first)
        answers = [self._answers[kind] for kind in present[order].tolist()]
        cheapest = _cheapest([(0, answer.cost) for answer in answers if isinstance(answer, Places)])
        return self._candidate(int(first[order][cheapest]))


def cost_of(victims: tuple[PodInfo, ...]) -> Cost:
    highest = victims[0].priority
    return Cost(
        highest,
        # A priority is counted from the lowest there is, so that more victims never count for less.
        sum(v.priority + MAX_INT32 + 1 for v in victims),
        len(victims),
        min(v.start_time or "~" for v in victims if v.priority == highest),
    )


def _cheapest(costs: list[tuple[int, Cost]]) -> int:
    """The place of what costs the least: violations of budgets first, then what the victims are."""
    least = min((violations, *cost[:3]) for violations, cost in costs)
    latest = max(cost.earliest_start for violations, cost in costs if (violations, *cost[:3]) == least)
    return next(
        i
        for i, (violations, cost) in enumerate(costs)
        if (violations, *cost[:3]) == least and cost.earliest_start == latest
    )
