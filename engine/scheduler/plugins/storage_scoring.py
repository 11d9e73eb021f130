"""How much of the storage in a node's reach a pod's claims would use: the score of VolumeBinding (KEP 4049).

Source: upstream's plugins/volumebinding/scorer.go and the Score of volume_binding.go. On by default from 1.37 on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.api.persistent_volumes import class_of
from engine.api.types import Object
from engine.scheduler.plugins.claims import requested_size
from engine.scheduler.plugins.resource_strategies import MAX_UTILIZATION, Shape
from engine.scheduler.resource import whole

# The less is used, the better: a volume may have to grow.
DEFAULT_SHAPE: list[Object] = [{"utilization": 0, "score": 10}, {"utilization": MAX_UTILIZATION, "score": 0}]


class Provision(NamedTuple):
    """A claim that needs a volume, and the CSIStorageCapacity that it would be made from, where its driver tells."""

    claim: Object
    capacity: Object | None


class Usage(NamedTuple):
    requested: int = 0
    capacity: int = 0


def usage_of_bindings(bindings: Iterable[tuple[Object, Object]]) -> dict[str, Usage]:
    """By class, what claims ask for and what the volumes hold that they would be bound to."""
    found: dict[str, Usage] = {}
    for volume, claim in bindings:
        name = class_of(volume)
        before = found.get(name, Usage())
        size = whole(str((volume["spec"].get("capacity") or {}).get("storage", "0")))
        found[name] = Usage(before.requested + (requested_size(claim) or 0), before.capacity + size)
    return found


def usage_of_provisions(provisions: Iterable[Provision]) -> dict[str, Usage]:
    """The same for claims that are provisioned: those of a class share its capacity."""
    found: dict[str, Usage] = {}
    for claim, capacity in provisions:
        if capacity is None or capacity.get("capacity") is None:
            continue
        name = class_of(claim)
        before = found.get(name, Usage())
        found[name] = Usage(before.requested + (requested_size(claim) or 0), whole(str(capacity["capacity"])))
    return found


class StorageScorer:
    def __init__(self, points: Sequence[Mapping[str, Any]] | None) -> None:
        self._shape = Shape(points or DEFAULT_SHAPE)

    def __call__(self, usages: Mapping[str, Usage]) -> int:
        """The mean over the classes, all of one weight."""
        if not usages:
            return 0
        scores = [self._of_class(usage) for usage in usages.values()]
        return (2 * sum(scores) + len(scores)) // (2 * len(scores))

    def _of_class(self, usage: Usage) -> int:
        full = not usage.capacity or usage.requested > usage.capacity
        used = MAX_UTILIZATION if full else usage.requested * MAX_UTILIZATION // usage.capacity
        return int(self._shape(np.array([used], np.int64))[0])
