"""NodeResourcesBalancedAllocation: nodes whose resources would be used to an even degree.

From 1.36 on what counts is how the pod changes the balance: 75 if it does not, 100 if it makes all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.plugin import MAX_NODE_SCORE, PreScorePlugin, ScorePlugin, Scores
from engine.scheduler.framework.profile import at_least
from engine.scheduler.framework.status import SKIP, SUCCESS, Status
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.node_resources import FIRST_ROW, Column, Sides, columns_of, pod_request
from engine.scheduler.plugins.resource_strategies import weighed_resources
from engine.scheduler.pod_info import PodInfo

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

Fractions = NDArray[np.float64]


def _deviation(fractions: list[Fractions], present: list[NDArray[np.bool_]]) -> Fractions:
    """The standard deviation of those fractions that a node has; zero for fewer than two."""
    count = np.sum(present, axis=0)
    if len(fractions) == 2:
        return np.where(count == 2, np.abs((fractions[0] - fractions[1]) / 2), 0.0)
    mean = np.sum(fractions, axis=0) / np.maximum(count, 1)
    squares = sum((np.where(p, (f - mean) ** 2, 0.0) for f, p in zip(fractions, present, strict=True)), np.zeros(1))
    return np.where(count >= 2, np.sqrt(squares / np.maximum(count, 1)), 0.0)


def _balance(sides: Sequence[tuple[Column, Column]]) -> Scores:
    """100 for requests that take the same share of each resource, less the more the shares differ."""
    fractions, present = [], []
    for requested, allocatable in sides:
        has = allocatable > 0
        share = np.minimum(requested / np.maximum(allocatable, 1), 1.0)
        fractions.append(np.where(has, share, 0.0))
        present.append(has)
    scores: Scores = ((1 - _deviation(fractions, present)) * MAX_NODE_SCORE).astype(np.int64)
    return scores


class NodeResourcesBalancedAllocation(PreScorePlugin, ScorePlugin):
    name = "NodeResourcesBalancedAllocation"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._resources = [resource.name for resource in weighed_resources(args.get("resources"))]
        self._sides = Sides(self._resources, handle, non_zero=False)
        self._by_change = at_least(handle.version, 36)

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """A pod that asks for nothing would go where the balance is best, all such pods to one node."""
        asks = any(pod_request(pod, resource, non_zero=False) for resource in self._resources)
        return SUCCESS if asks else SKIP

    def _scores(self, pod: PodInfo, sides: list[tuple[Column, Column]]) -> Scores:
        after = _balance(sides)
        if not self._by_change:
            return after
        wanted = [pod_request(pod, resource, non_zero=False) for resource in self._resources]
        # What is left out of the comparison is allocatable zero, whatever is requested of it.
        before = _balance([(has - asked, room) for (has, room), asked in zip(sides, wanted, strict=True)])
        half = MAX_NODE_SCORE // 2
        return half + (half + after - before) // 2

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        return int(self._scores(pod, self._sides.of(pod, columns_of([node]), FIRST_ROW, lambda row: node))[0])

    def score_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Scores:
        return self._scores(pod, self._sides.of(pod, snapshot.columns, rows, snapshot.nodes.__getitem__))
