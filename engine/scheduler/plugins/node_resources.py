"""What NodeResourcesFit and NodeResourcesBalancedAllocation share: the requests of a pod set against those of nodes.

Source: upstream's plugins/noderesources/resource_allocation.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.scheduler.cache.columns import Columns
from engine.scheduler.cache.snapshot import Rows
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.device_totals import ClassTotals, DeviceTotals
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.resource import CPU, EPHEMERAL_STORAGE, MEMORY

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

Column = NDArray[np.int64]


def pod_request(pod: PodInfo, resource: str, *, non_zero: bool) -> int:
    """What the pod asks of a resource; `non_zero` counts a default for containers that ask for no cpu or memory."""
    if non_zero and resource == CPU:
        return pod.non_zero_cpu
    if non_zero and resource == MEMORY:
        return pod.non_zero_memory
    return pod.request.get(resource)


def compared(pod: PodInfo, resource: str, columns: Columns, *, rows: Rows, non_zero: bool) -> tuple[Column, Column]:
    """Requested (with the pod) and allocatable of a resource on these nodes; a resource that is left out of the
    comparison counts as allocatable zero."""
    wanted = pod_request(pod, resource, non_zero=non_zero)
    allocatable = columns.allocatable(resource)[rows]
    if resource not in (CPU, MEMORY, EPHEMERAL_STORAGE) and wanted == 0:
        return np.zeros_like(allocatable), np.zeros_like(allocatable)
    if non_zero and resource == CPU:
        return columns.non_zero_cpu[rows] + wanted, allocatable
    if non_zero and resource == MEMORY:
        return columns.non_zero_memory[rows] + wanted, allocatable
    return columns.requested(resource)[rows] + wanted, allocatable


class Sides:
    """Requested and allocatable of some resources, on the side of the pod and of nodes."""

    def __init__(self, resources: Sequence[str], handle: Handle, *, non_zero: bool) -> None:
        self._resources = resources
        self._non_zero = non_zero
        self._devices = DeviceTotals(handle)

    def of(
        self, pod: PodInfo, columns: Columns, rows: Rows, node_of: Callable[[int], NodeInfo]
    ) -> list[tuple[Column, Column]]:
        """For each resource, on the nodes of these rows of the columns; `node_of` gives the node of a row."""
        sides = []
        for name in self._resources:
            side = compared(pod, name, columns, rows=rows, non_zero=self._non_zero)
            wanted = pod.request.scalar.get(name, 0)
            totals = self._devices.of(name) if wanted else None
            sides.append(side if totals is None else _with_devices(side, wanted, totals, rows, node_of))
        return sides


def _with_devices(
    side: tuple[Column, Column], wanted: int, totals: ClassTotals, rows: Rows, node_of: Callable[[int], NodeInfo]
) -> tuple[Column, Column]:
    """The side with the devices of those nodes that have the resource in no other form."""
    requested, allocatable = (column.copy() for column in side)
    for i in np.flatnonzero(allocatable == 0).tolist():
        node = node_of(int(rows[i])).node
        capacity, allocated = totals.on(node) if node is not None else (0, 0)
        if capacity:
            requested[i], allocatable[i] = allocated + wanted, capacity
    return requested, allocatable


def columns_of(nodes: Sequence[NodeInfo]) -> Columns:
    """Columns of just these nodes."""
    columns = Columns(len(nodes))
    for row, node in enumerate(nodes):
        columns.set_row(row, node)
    return columns


FIRST_ROW: Rows = np.zeros(1, np.intp)
