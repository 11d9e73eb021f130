"""Counts by topology domain: of each topology key, how much of something is in each of its domains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.profile import at_least
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo

Counts = NDArray[np.int64]


def by_domain(
    snapshot: Snapshot, topology_key: str, per_node: Counts, where: NDArray[np.bool_] | None = None
) -> Counts:
    """Sums of a per-node figure over the domains of a topology key; of the nodes `where` alone, if given."""
    ids, values = snapshot.domains(topology_key)
    # Nodes without the label have id -1 and fall into the first bin, which is dropped.
    bins = ids + 1 if where is None else np.where(where, ids + 1, 0)
    sums = np.bincount(bins, weights=per_node, minlength=len(values) + 1)[1:]
    return sums.astype(np.int64)


class DomainCounts:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._counts: dict[str, Counts] = {}

    @property
    def keys(self) -> list[str]:
        return list(self._counts)

    def add(self, topology_key: str, per_node: Counts) -> None:
        """Add a per-node figure to the domains of a key; what adds nothing anywhere leaves no trace."""
        sums = by_domain(self._snapshot, topology_key, per_node)
        present = self._counts.get(topology_key)
        if present is not None:
            sums = sums + present
        if present is not None or sums.any():
            self._counts[topology_key] = sums

    def change(self, topology_key: str, node: NodeInfo, by: int) -> None:
        """One more or less in the domain that a node is in."""
        ids, values = self._snapshot.domains(topology_key)
        domain = ids[self._snapshot.rows[node.name]]
        if domain >= 0:
            counts = self._counts.get(topology_key)
            if counts is None:
                counts = self._counts[topology_key] = np.zeros(len(values), np.int64)
            counts[domain] += by

    def on(self, topology_key: str, node: NodeInfo) -> int:
        """The count of the domain that a node is in; 0 without one."""
        counts = self._counts.get(topology_key)
        if counts is None:
            return 0
        domain = self._snapshot.domains(topology_key).ids[self._snapshot.rows[node.name]]
        return int(counts[domain]) if domain >= 0 else 0

    def at(self, topology_key: str, rows: Rows) -> Counts:
        """`on` for many nodes."""
        counts = self._counts.get(topology_key)
        if counts is None:
            return np.zeros(len(rows), np.int64)
        ids = self._snapshot.domains(topology_key).ids[rows]
        return np.where(ids >= 0, counts[ids] if len(counts) else 0, 0)

    @property
    def any(self) -> bool:
        """Whether anything is counted anywhere."""
        return any(bool(counts.any()) for counts in self._counts.values())

    def __bool__(self) -> bool:
        return bool(self._counts)

    def clone(self) -> DomainCounts:
        twin = DomainCounts(self._snapshot)
        twin._counts = {key: counts.copy() for key, counts in self._counts.items()}
        return twin


def has_a_place(pod: PodInfo, version: str) -> bool:
    """Whether what becomes of a pod shifts counts: it is on a node or, since 1.36, nominated to one."""
    return bool(pod.node_name or (pod.nominated_node_name and at_least(version, 36)))
