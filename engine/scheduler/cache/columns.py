"""The figures of all nodes as columns, one row a node, so that a question is asked of all of them at once."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.scheduler.node_info import NodeInfo

if TYPE_CHECKING:
    from engine.scheduler.cache.load import Load

Column = NDArray[np.int64]
Origin = NDArray[np.intp]
A = TypeVar("A", NDArray[np.int64], NDArray[np.bool_])


def taken(column: A, origin: Origin) -> A:
    """A column on other rows; rows that are new have nothing."""
    if not len(column):
        return np.zeros(len(origin), column.dtype)
    moved = column[origin]
    moved[origin < 0] = 0
    return moved


class Columns:
    def __init__(self, size: int) -> None:
        def column() -> Column:
            return np.zeros(size, np.int64)

        self.size = size
        self.allocatable_cpu, self.allocatable_memory, self.allocatable_ephemeral = column(), column(), column()
        self.allowed_pods, self.pods = column(), column()
        self.requested_cpu, self.requested_memory, self.requested_ephemeral = column(), column(), column()
        self.non_zero_cpu, self.non_zero_memory = column(), column()
        self.used_ports = np.zeros(size, np.bool_)
        self._allocatable_scalar: dict[str, Column] = {}
        self._requested_scalar: dict[str, Column] = {}

    def rearranged(self, origin: Origin) -> Columns:
        """The same figures on other rows: `origin` has the row of before for each row, -1 for one that is new."""
        twin = copy(self)
        twin.size = len(origin)
        for name, column in vars(self).items():
            if isinstance(column, np.ndarray):
                setattr(twin, name, taken(column, origin))
            elif isinstance(column, dict):
                setattr(twin, name, {key: taken(amounts, origin) for key, amounts in column.items()})
        return twin

    def loaded(self, load: Load) -> Columns:
        """These columns with further requests; what nobody adds to is shared."""
        twin = copy(self)
        twin.pods = self.pods + load.pods
        twin.requested_cpu = self.requested_cpu + load.cpu
        twin.requested_memory = self.requested_memory + load.memory
        twin.requested_ephemeral = self.requested_ephemeral + load.ephemeral
        if load.scalar:
            twin._requested_scalar = dict(self._requested_scalar)
            for name, column in load.scalar.items():
                twin._requested_scalar[name] = self.requested(name) + column
        return twin

    def set_row(self, row: int, info: NodeInfo) -> None:
        allocatable, requested = info.allocatable, info.requested
        self.allocatable_cpu[row] = allocatable.milli_cpu
        self.allocatable_memory[row] = allocatable.memory
        self.allocatable_ephemeral[row] = allocatable.ephemeral_storage
        self.allowed_pods[row] = allocatable.allowed_pods
        self.pods[row] = len(info.pods)
        self.requested_cpu[row] = requested.milli_cpu
        self.requested_memory[row] = requested.memory
        self.requested_ephemeral[row] = requested.ephemeral_storage
        self.non_zero_cpu[row] = info.non_zero_cpu
        self.non_zero_memory[row] = info.non_zero_memory
        self.used_ports[row] = bool(info.ports)
        self._set_scalars(self._allocatable_scalar, row, allocatable.scalar)
        self._set_scalars(self._requested_scalar, row, requested.scalar)

    def _set_scalars(self, columns: dict[str, Column], row: int, amounts: dict[str, int]) -> None:
        for name in amounts:
            if name not in columns:
                columns[name] = np.zeros(self.size, np.int64)
        for name, column in columns.items():
            column[row] = amounts.get(name, 0)

    def allocatable(self, resource: str) -> Column:
        return self._named(resource, "allocatable", self._allocatable_scalar)

    def requested(self, resource: str) -> Column:
        return self._named(resource, "requested", self._requested_scalar)

    def _named(self, resource: str, side: str, scalars: dict[str, Column]) -> Column:
        known = {"cpu": "cpu", "memory": "memory", "ephemeral-storage": "ephemeral"}.get(resource)
        if known is not None:
            column: Column = getattr(self, f"{side}_{known}")
            return column
        if resource not in scalars:
            scalars[resource] = np.zeros(self.size, np.int64)
        return scalars[resource]
