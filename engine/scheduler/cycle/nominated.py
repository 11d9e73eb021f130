"""Where pods are nominated that count for a pod of some priority, and how much they request there.

Kept for each priority that was asked about and brought up to date by the nominator's changes: while many pods wait for
their victims to go, each of their attempts would otherwise count all the others anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from engine.scheduler.cache.load import Load
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.framework.handle import Nominator
from engine.scheduler.pod_info import PodInfo

KEPT_PRIORITIES = 16


@dataclass(slots=True)
class _Known:
    load: Load
    version: int
    order_version: int


class NominatedLoads:
    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}  # by priority, the one that was asked about last at the end

    @contextmanager
    def beside(self, pod: PodInfo, nominator: Nominator, snapshot: Snapshot) -> Iterator[Load]:
        """What other pods of this priority or a higher one request on the nodes that they are nominated to."""
        load, node = self._of(pod, nominator, snapshot), nominator.node_of(pod.uid)
        row = snapshot.rows.get(node)
        # The pod itself may be nominated; what it requests does not stand in its own way.
        own = (
            [o for o in nominator.nominated_on(node) if o.uid == pod.uid and o.priority >= pod.priority] if node else []
        )
        if row is None or not own:
            yield load
            return
        load.add(row, own[0].request, -1)
        try:
            yield load
        finally:
            load.add(row, own[0].request)

    def _of(self, pod: PodInfo, nominator: Nominator, snapshot: Snapshot) -> Load:
        known = self._known.pop(pod.priority, None)
        if (
            known is None
            or known.order_version != snapshot.order_version
            or not self._catch_up(known, pod.priority, nominator, snapshot)
        ):
            known = self._made(pod.priority, nominator, snapshot)
        if len(self._known) >= KEPT_PRIORITIES:
            del self._known[next(iter(self._known))]
        self._known[pod.priority] = known
        return known.load

    def _catch_up(self, known: _Known, priority: int, nominator: Nominator, snapshot: Snapshot) -> bool:
        changes = nominator.changes_since(known.version)
        if changes is None:
            return False
        for change in changes:
            row = snapshot.rows.get(change.node)
            if row is not None and change.pod.priority >= priority:
                known.load.add(row, change.pod.request, change.sign)
        known.version = nominator.version
        return True

    def _made(self, priority: int, nominator: Nominator, snapshot: Snapshot) -> _Known:
        load = Load(len(snapshot))
        for node in nominator.nominated_nodes():
            row = snapshot.rows.get(node)
            if row is None:
                continue
            for other in nominator.nominated_on(node):
                if other.priority >= priority:
                    load.add(row, other.request)
        return _Known(load, nominator.version, snapshot.order_version)
