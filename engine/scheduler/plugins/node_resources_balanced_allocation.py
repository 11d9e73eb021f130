"""NodeResourcesBalancedAllocation: nodes whose resources would be used to an even degree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.scheduler.cache.columns import Columns
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.plugin import MAX_NODE_SCORE, PreScorePlugin, ScorePlugin, Scores
from engine.scheduler.framework.status import SKIP, SUCCESS, Status
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.node_resources import FIRST_ROW, columns_of, compared, pod_request
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


class NodeResourcesBalancedAllocation(PreScorePlugin, ScorePlugin):
    name = "NodeResourcesBalancedAllocation"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._resources = [resource.name for resource in weighed_resources(args.get("resources"))]

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """A pod that asks for nothing would go where the balance is best, all such pods to one node."""
        asks = any(pod_request(pod, resource, non_zero=False) for resource in self._resources)
        return SUCCESS if asks else SKIP

    def _scores(self, pod: PodInfo, columns: Columns, rows: Rows) -> Scores:
        fractions, present = [], []
        for resource in self._resources:
            requested, allocatable = compared(pod, resource, columns, rows=rows, non_zero=False)
            has = allocatable > 0
            share = np.minimum(requested / np.maximum(allocatable, 1), 1.0)
            fractions.append(np.where(has, share, 0.0))
            present.append(has)
        scores: Scores = ((1 - _deviation(fractions, present)) * MAX_NODE_SCORE).astype(np.int64)
        return scores

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        return int(self._scores(pod, columns_of([node]), FIRST_ROW)[0])

    def score_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Scores:
        return self._scores(pod, snapshot.columns, rows)
