"""Which nodes have pods nominated to them that request the same: those are alike for preemption.

Kept for each priority that was asked about and brought up to date by the nominator's changes, as `NominatedLoads` is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.framework.handle import Nominator
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.resource import Resource

KEPT_PRIORITIES = 16
KEPT_NUMBERS = 4096


@dataclass(slots=True)
class _Known:
    kinds: NDArray[np.int64]
    version: int
    order_version: int


class NominatedKinds:
    """A number for each set of requests, 0 for none. Requests are shared, and so are told by identity."""

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}  # by priority, the one that was asked about last at the end
        self._numbers: dict[tuple[Resource, ...], int] = {(): 0}
        self._next = count(1)

    def of(self, pod: PodInfo, nominator: Nominator, snapshot: Snapshot) -> NDArray[np.int64]:
        """By row, the number of what other pods of this priority or a higher one request there."""
        if len(self._numbers) > KEPT_NUMBERS:
            self._numbers, self._known = {(): 0}, {}
        kinds = self._up_to_date(pod.priority, nominator, snapshot)
        row = snapshot.rows.get(nominator.node_of(pod.uid))
        if row is not None:
            # The pod itself may be nominated; it does not stand in its own way.
            kinds = kinds.copy()
            kinds[row] = self._number(nominator, snapshot.names[row], pod.priority, without=pod.uid)
        return kinds

    def _up_to_date(self, priority: int, nominator: Nominator, snapshot: Snapshot) -> NDArray[np.int64]:
        known = self._known.pop(priority, None)
        changes = nominator.changes_since(known.version) if known is not None else None
        if known is None or known.order_version != snapshot.order_version or changes is None:
            known = _Known(np.zeros(len(snapshot), np.int64), 0, snapshot.order_version)
            changed = list(nominator.nominated_nodes())
        else:
            changed = [change.node for change in changes]
        for node in dict.fromkeys(changed):
            if (row := snapshot.rows.get(node)) is not None:
                known.kinds[row] = self._number(nominator, node, priority)
        known.version = nominator.version
        if len(self._known) >= KEPT_PRIORITIES:
            del self._known[next(iter(self._known))]
        self._known[priority] = known
        return known.kinds

    def _number(self, nominator: Nominator, node: str, priority: int, *, without: str = "") -> int:
        counted = [other for other in nominator.nominated_on(node) if other.priority >= priority]
        requests = tuple([other.request for other in counted if other.uid != without])
        # A number is never given again: answers are kept by it.
        return self._numbers.setdefault(requests, next(self._next))
