"""All nodes as they are at the start of a scheduling attempt (upstream's backend/cache/snapshot.go).

The cache may change while an attempt waits; the snapshot does not. It is brought up to date by copying only the nodes
that changed. Beside the nodes stand columns and counts over all of them, for plugins that look at all nodes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.api.types import Object
from engine.scheduler.cache.cache import Cache, ImageState
from engine.scheduler.cache.columns import Columns, taken
from engine.scheduler.cache.counts import GroupedCounts
from engine.scheduler.cache.load import Load
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import AffinityTerm, LabelGroup, PodInfo, WeightedTerm

KEPT_TABLES = 512
Rows = NDArray[np.intp]
Table = NDArray[np.int64]


class Domains(NamedTuple):
    """The value of one topology label per node: `ids` index `values`, -1 where a node has no such label."""

    ids: NDArray[np.intp]
    values: list[str]


def _face(node: Object) -> tuple[object, ...]:
    """What of a node the static tables depend on."""
    spec, metadata = node.get("spec") or {}, node["metadata"]
    declared = (node.get("status") or {}).get("declaredFeatures")
    return (metadata["name"], metadata.get("labels"), spec.get("taints"), spec.get("unschedulable"), declared)


class Snapshot:
    def __init__(self) -> None:
        self.nodes: list[NodeInfo] = []
        self.names: list[str] = []
        self.rows: dict[str, int] = {}
        self.columns = Columns(0)
        self.pod_groups: GroupedCounts[LabelGroup] = GroupedCounts()
        self.anti_affinity_terms: GroupedCounts[AffinityTerm] = GroupedCounts()
        self.wishes: GroupedCounts[WeightedTerm] = GroupedCounts()
        self.images: dict[str, ImageState] = {}
        self.images_version = 0
        self.order_version = -1
        self._static: dict[Hashable, tuple[Table, Callable[[NodeInfo], int]]] = {}
        self._domains: dict[str, Domains] = {}
        self._shapes: Table = np.zeros(0, np.int64)  # 0 where nobody has asked since the node changed

    @classmethod
    def of(cls, nodes: list[Object], pods: list[Object] | None = None) -> Snapshot:
        """A snapshot of plain objects: bound pods count on their nodes."""
        cache = Cache()
        for node in nodes:
            cache.add_node(node)
        for pod in pods or ():
            cache.add_pod(PodInfo(pod))
        snapshot = cls()
        snapshot.update(cache)
        return snapshot

    def __len__(self) -> int:
        return len(self.nodes)

    def get(self, name: str) -> NodeInfo | None:
        row = self.rows.get(name)
        return None if row is None else self.nodes[row]

    def update(self, cache: Cache) -> None:
        """Take over what changed in the cache since the last update."""
        self.images, self.images_version = cache.images, cache.images_version
        if self.order_version != cache.order_version:
            self._rearrange(cache)
        for name in cache.dirty:
            row, info = self.rows.get(name), cache.nodes.get(name)
            if row is not None and info is not None and info.node is not None:
                self._refresh(row, info)
        cache.dirty.clear()

    def _rearrange(self, cache: Cache) -> None:
        """Nodes have come or gone, or are looked at in another order; what is known of the others moves with them."""
        self.order_version = cache.order_version
        names = cache.tree.names()
        origin = np.array([self.rows.get(name, -1) for name in names], np.intp)
        nodes = [self.nodes[row] if row >= 0 else None for row in origin.tolist()]
        self.names, self.rows = names, {name: row for row, name in enumerate(names)}
        self.columns = self.columns.rearranged(origin)
        for counts in (self.pod_groups, self.anti_affinity_terms, self.wishes):
            counts.rearrange(origin)
        self._static = {key: (taken(table, origin), of) for key, (table, of) in self._static.items()}
        self._domains.clear()
        self._shapes = taken(self._shapes, origin)
        self.nodes = [node if node is not None else NodeInfo(names[row]) for row, node in enumerate(nodes)]
        for row, node in enumerate(nodes):
            if node is None:
                self._refresh(row, cache.nodes[names[row]])

    def replace(self, row: int, info: NodeInfo) -> None:
        """Another state of a node than that of the cache, for a question; to be put back before the next update."""
        self._refresh(row, info)

    def _refresh(self, row: int, info: NodeInfo) -> None:
        before, after = self.nodes[row].node, info.node
        self.nodes[row] = twin = info.copy()
        self._shapes[row] = 0
        self._count(row, twin)
        if before is not after and after is not None and (before is None or _face(before) != _face(after)):
            for table, of in self._static.values():
                table[row] = of(twin)
            self._domains.clear()

    def _count(self, row: int, info: NodeInfo) -> None:
        self.columns.set_row(row, info)
        self.pod_groups.set_row(row, info.label_counts)
        self.anti_affinity_terms.set_row(row, info.anti_affinity_terms)
        self.wishes.set_row(row, info.wishes)

    def crowded(self, load: Load) -> Snapshot:
        """The same nodes with further requests, in the columns alone."""
        twin = copy(self)
        twin.columns = self.columns.loaded(load)
        return twin

    def static(self, key: Hashable, of: Callable[[NodeInfo], int]) -> Table:
        """`of(node)` for every node, for what depends on names, labels, taints, schedulability and declared features
        alone; kept true as those change. Not to be changed."""
        known = self._static.pop(key, None)
        if known is None:
            known = np.fromiter((of(info) for info in self.nodes), np.int64, len(self.nodes)), of
            if len(self._static) >= KEPT_TABLES:
                del self._static[next(iter(self._static))]
        self._static[key] = known  # the newest last
        return known[0]

    def shapes(self, rows: Rows) -> Table:
        """`NodeInfo.shape` of these nodes."""
        for row in rows[self._shapes[rows] == 0].tolist():
            self._shapes[row] = self.nodes[row].shape
        return self._shapes[rows]

    def domains(self, topology_key: str) -> Domains:
        found = self._domains.get(topology_key)
        if found is None:
            ids = np.full(len(self.nodes), -1, np.intp)
            values: dict[str, int] = {}
            for row, info in enumerate(self.nodes):
                if (value := info.labels.get(topology_key)) is not None:
                    ids[row] = values.setdefault(value, len(values))
            found = self._domains[topology_key] = Domains(ids, list(values))
        return found
