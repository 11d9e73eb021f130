"""Further pods by row: what those that are nominated to nodes request, beside the columns of what is there."""

from __future__ import annotations

import numpy as np

from engine.scheduler.cache.columns import Column
from engine.scheduler.resource import Resource


class Load:
    """Sums of requests, one row a node; kept true as single pods come and go."""

    def __init__(self, size: int) -> None:
        def column() -> Column:
            return np.zeros(size, np.int64)

        self.size = size
        self.pods, self.cpu, self.memory, self.ephemeral = column(), column(), column(), column()
        self.scalar: dict[str, Column] = {}

    def add(self, row: int, request: Resource, sign: int = 1) -> None:
        self.pods[row] += sign
        self.cpu[row] += sign * request.milli_cpu
        self.memory[row] += sign * request.memory
        self.ephemeral[row] += sign * request.ephemeral_storage
        for name, amount in request.scalar.items():
            if name not in self.scalar:
                self.scalar[name] = np.zeros(self.size, np.int64)
            self.scalar[name][row] += sign * amount
