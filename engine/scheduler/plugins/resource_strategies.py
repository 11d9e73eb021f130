"""How full nodes are compared: the scoring strategies of NodeResourcesFit, for one node and for many.

Source: upstream's plugins/noderesources least_allocated.go, most_allocated.go, requested_to_capacity_ratio.go. All is
done in whole numbers, so that both ways give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.scheduler.framework.plugin import MAX_NODE_SCORE

Column = NDArray[np.int64]
# Requested and allocatable of one resource on many nodes to points of it.
Points = Callable[[Column, Column], Column]

MAX_UTILIZATION = 100
MAX_CUSTOM_PRIORITY = 10


class WeighedResource(NamedTuple):
    name: str
    weight: int


def weighed_resources(listed: Sequence[Mapping[str, Any]] | None) -> list[WeighedResource]:
    """A strategy's `resources`; cpu and memory alike by default."""
    if not listed:
        return [WeighedResource("cpu", 1), WeighedResource("memory", 1)]
    return [WeighedResource(item["name"], item.get("weight") or 1) for item in listed]


def least_allocated(requested: Column, allocatable: Column) -> Column:
    free = (allocatable - requested) * MAX_NODE_SCORE // np.maximum(allocatable, 1)
    return np.where(requested > allocatable, 0, free)


def most_allocated(requested: Column, allocatable: Column) -> Column:
    return np.minimum(requested, allocatable) * MAX_NODE_SCORE // np.maximum(allocatable, 1)


def _truncated(numerator: Column, denominator: int) -> Column:
    """Division that goes towards zero, as Go's does."""
    quotient: Column = np.sign(numerator) * (np.abs(numerator) // denominator)
    return quotient


class Shape:
    """A broken line from utilisation to score."""

    def __init__(self, points: Sequence[Mapping[str, Any]] | None) -> None:
        listed = points or ({"utilization": 0, "score": 0}, {"utilization": 100, "score": MAX_CUSTOM_PRIORITY})
        scale = MAX_NODE_SCORE // MAX_CUSTOM_PRIORITY
        self.points = [(int(p.get("utilization", 0)), int(p.get("score", 0)) * scale) for p in listed]

    def __call__(self, utilization: Column) -> Column:
        result = np.full_like(utilization, self.points[-1][1])
        for i in range(len(self.points) - 1, -1, -1):
            at, score = self.points[i]
            if i == 0:
                result = np.where(utilization <= at, score, result)
                continue
            before, lower = self.points[i - 1]
            along = lower + _truncated((score - lower) * (utilization - before), at - before)
            result = np.where(utilization <= at, along, result)
        return result

    def of(self, requested: Column, allocatable: Column) -> Column:
        used = requested * MAX_UTILIZATION // np.maximum(allocatable, 1)
        full = np.full_like(used, MAX_UTILIZATION)
        return self(np.where(requested > allocatable, full, used))


class Strategy(NamedTuple):
    """`rounded`: weights of resources with no points are left out and the mean is rounded, not cut."""

    resources: list[WeighedResource]
    points: Points
    rounded: bool = False

    def combine(self, requested: Sequence[Column], allocatable: Sequence[Column]) -> Column:
        """The weighed mean over those resources that a node has."""
        total, weights = np.zeros_like(requested[0]), np.zeros_like(requested[0])
        for (_, weight), wanted, capacity in zip(self.resources, requested, allocatable, strict=True):
            points = np.where(capacity > 0, self.points(wanted, capacity), 0)
            counts = (capacity > 0) & (points > 0) if self.rounded else capacity > 0
            total += np.where(counts, points * weight, 0)
            weights += np.where(counts, weight, 0)
        divisor = np.maximum(weights, 1)
        return (2 * total + divisor) // (2 * divisor) if self.rounded else total // divisor


def strategy_of(args: Mapping[str, Any] | None) -> Strategy:
    """NodeResourcesFitArgs.scoringStrategy; LeastAllocated by default."""
    args = args or {}
    resources = weighed_resources(args.get("resources"))
    kind = args.get("type") or "LeastAllocated"
    if kind == "LeastAllocated":
        return Strategy(resources, least_allocated)
    if kind == "MostAllocated":
        return Strategy(resources, most_allocated)
    if kind == "RequestedToCapacityRatio":
        shape = Shape((args.get("requestedToCapacityRatio") or {}).get("shape"))
        return Strategy(resources, shape.of, rounded=True)
    raise ValueError(f"scoringStrategy.type: Unsupported value: {kind!r}")
