"""Amounts of resources as the scheduler counts them.

Source: upstream's pkg/scheduler/framework/types.go (Resource).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from engine.api.quantity import Quantity
from engine.api.types import Object

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"

Amounts = dict[str, int]  # milli for cpu, whole units for the rest


@lru_cache(maxsize=4096)
def milli(quantity: str) -> int:
    return Quantity.parse(quantity).milli


@lru_cache(maxsize=4096)
def whole(quantity: str) -> int:
    return Quantity.parse(quantity).value


def amounts(resource_list: Mapping[str, Any] | None) -> Amounts:
    """A v1.ResourceList in integers."""
    if not resource_list:
        return {}
    return {
        name: milli(str(quantity)) if name == CPU else whole(str(quantity)) for name, quantity in resource_list.items()
    }


def is_scalar(name: str) -> bool:
    """Whether a resource is counted beyond cpu, memory, ephemeral storage and pods: extended, hugepages, attachable."""
    if name.startswith(("hugepages-", "attachable-volumes-")):
        return True
    return is_extended(name) or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """v1helper.IsExtendedResourceName: a domain of its own and not `kubernetes.io/`."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


class Resource:
    """Amounts of the resources of one pod or node."""

    __slots__ = ("allowed_pods", "ephemeral_storage", "memory", "milli_cpu", "scalar")

    def __init__(
        self,
        milli_cpu: int = 0,
        memory: int = 0,
        ephemeral_storage: int = 0,
        *,
        allowed_pods: int = 0,
        scalar: Amounts | None = None,
    ) -> None:
        self.milli_cpu = milli_cpu
        self.memory = memory
        self.ephemeral_storage = ephemeral_storage
        self.allowed_pods = allowed_pods
        self.scalar: Amounts = scalar if scalar is not None else {}

    @classmethod
    def of(cls, listed: Amounts) -> Resource:
        return cls(
            listed.get(CPU, 0),
            listed.get(MEMORY, 0),
            listed.get(EPHEMERAL_STORAGE, 0),
            allowed_pods=listed.get(PODS, 0),
            scalar={name: amount for name, amount in listed.items() if is_scalar(name)},
        )

    def copy(self) -> Resource:
        return Resource(
            self.milli_cpu,
            self.memory,
            self.ephemeral_storage,
            allowed_pods=self.allowed_pods,
            scalar=dict(self.scalar),
        )

    def add(self, other: Resource, sign: int = 1) -> None:
        self.milli_cpu += sign * other.milli_cpu
        self.memory += sign * other.memory
        self.ephemeral_storage += sign * other.ephemeral_storage
        for name, amount in other.scalar.items():
            self.scalar[name] = self.scalar.get(name, 0) + sign * amount

    def get(self, name: str) -> int:
        if name == CPU:
            return self.milli_cpu
        if name == MEMORY:
            return self.memory
        if name == EPHEMERAL_STORAGE:
            return self.ephemeral_storage
        return self.scalar.get(name, 0)

    def to_json(self) -> Object:
        shown: Object = {"cpu": f"{self.milli_cpu}m", "memory": self.memory}
        if self.ephemeral_storage:
            shown[EPHEMERAL_STORAGE] = self.ephemeral_storage
        shown.update(self.scalar)
        return shown
