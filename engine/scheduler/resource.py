"""Amounts of resources as the scheduler counts them, and what a pod requests.

Source: upstream's pkg/scheduler/framework/types.go (Resource) and component-helpers/resource (PodRequests): init
containers run one after another and beside the sidecars started before them, pod-level resources replace the sum of
the containers', overhead comes on top; a container that is being resized counts with the larger of its figures.
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

# What a container without a request counts as when nodes are compared (pkg/scheduler/util/pod_resources.go), so that
# pods without requests do not all land on one node.
DEFAULT_MILLI_CPU_REQUEST = 100
DEFAULT_MEMORY_REQUEST = 200 * 1024 * 1024

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


def _add(total: Amounts, other: Amounts) -> None:
    for name, amount in other.items():
        total[name] = total.get(name, 0) + amount


def _raise_to(total: Amounts, other: Amounts) -> None:
    for name, amount in other.items():
        if amount > total.get(name, 0) or name not in total:
            total[name] = max(amount, total.get(name, 0))


def _resize_infeasible(pod: Object) -> bool:
    return any(
        c.get("type") == "PodResizePending" and c.get("reason") == "Infeasible"
        for c in pod.get("status", {}).get("conditions") or ()
    )


def _container_amounts(container: Object, statuses: Mapping[str, Object], infeasible: bool) -> Amounts:
    """A container's requests, with what a resize of it in place still holds."""
    listed = amounts((container.get("resources") or {}).get("requests"))
    status = statuses.get(container.get("name", ""))
    actual = (status or {}).get("resources")
    if status is None or actual is None:
        return listed
    held = amounts(actual.get("requests"))
    if infeasible:
        return held
    _raise_to(held, listed)
    _raise_to(held, amounts(status.get("allocatedResources")))
    return held


def pod_level_requests(pod: Object) -> Amounts:
    """spec.resources.requests: what the pod asks for as a whole (KEP 2837)."""
    return amounts((pod.get("spec", {}).get("resources") or {}).get("requests"))


def pod_amounts(pod: Object, *, missing: Amounts | None = None) -> Amounts:
    """What a pod requests. `missing` stands in for the requests that a container leaves out."""
    spec = pod.get("spec", {})
    statuses = _statuses(pod)
    infeasible = bool(statuses) and _resize_infeasible(pod)

    def of(container: Object) -> Amounts:
        listed = _container_amounts(container, statuses, infeasible)
        return {**missing, **listed} if missing else listed

    total: Amounts = {}
    for container in spec.get("containers") or ():
        _add(total, of(container))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        running = of(container)
        if container.get("restartPolicy") == "Always":
            _add(total, running)
            _add(sidecars, running)
            running = dict(sidecars)
        else:
            _add(running, sidecars)
        _raise_to(peak, running)
    _raise_to(total, peak)
    for name, amount in pod_level_requests(pod).items():
        if name in (CPU, MEMORY) or name.startswith("hugepages-"):
            total[name] = amount
    _add(total, amounts(spec.get("overhead")))
    return total


def _statuses(pod: Object) -> dict[str, Object]:
    status = pod.get("status", {})
    listed = [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]
    return {s.get("name", ""): s for s in listed if "resources" in s or "allocatedResources" in s}


def non_zero_amounts(pod: Object, known: Amounts) -> tuple[int, int]:
    """cpu and memory for comparing nodes, with a default for each container that requests none."""
    level = pod_level_requests(pod)
    missing: Amounts = {}
    if CPU not in level:
        missing[CPU] = DEFAULT_MILLI_CPU_REQUEST
    if MEMORY not in level:
        missing[MEMORY] = DEFAULT_MEMORY_REQUEST
    filled = pod_amounts(pod, missing=missing) if missing else known
    return filled.get(CPU, 0), filled.get(MEMORY, 0)
