"""What NodeResourcesFit and NodeResourcesBalancedAllocation share: the requests of a pod set against those of nodes.

Source: upstream's plugins/noderesources/resource_allocation.go.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.scheduler.cache.columns import Columns
from engine.scheduler.cache.snapshot import Rows
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.resource import CPU, EPHEMERAL_STORAGE, MEMORY

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


def columns_of(nodes: Sequence[NodeInfo]) -> Columns:
    """Columns of just these nodes."""
    columns = Columns(len(nodes))
    for row, node in enumerate(nodes):
        columns.set_row(row, node)
    return columns


FIRST_ROW: Rows = np.zeros(1, np.intp)
