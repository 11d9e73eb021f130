"""What a whole Pod asks for, of what its containers ask for.

Used wherever Pods are added up: quota and limits, the scheduler, a kubelet that admits or resizes, `kubectl describe`.
Source: component-helpers resource helpers.go (AggregateContainerRequests, PodRequests, PodLimits).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from engine.api.quantity import Quantity
from engine.api.types import Object

Amount = TypeVar("Amount", int, Quantity)

_POD_LEVEL = ("cpu", "memory")
_HUGE_PAGES = "hugepages-"


def pod_amounts(pod: Object, part: str) -> dict[str, Quantity]:
    """The `requests` or `limits` of a Pod, its overhead included."""
    spec = pod.get("spec") or {}
    total, overhead = amounts_without_overhead(spec, part), parsed(spec.get("overhead"))
    if part == "limits":
        overhead = {name: amount for name, amount in overhead.items() if total.get(name)}
    add(total, overhead)
    return total


def amounts_without_overhead(spec: Object, part: str) -> dict[str, Quantity]:
    """What its containers take together at their peak, or what a Pod says itself."""
    total = peak(spec, lambda container: parsed((container.get("resources") or {}).get(part)))
    own = parsed((spec.get("resources") or {}).get(part))
    return total | {name: amount for name, amount in own.items() if is_pod_level(name)}


def peak(spec: Object, of: Callable[[Object], Mapping[str, Amount]]) -> dict[str, Amount]:
    """The sum over the containers and sidecars, or what an init container takes beside the sidecars that run by then,
    where that is more. `of` tells what one container takes."""
    total: dict[str, Amount] = {}
    for container in spec.get("containers") or ():
        add(total, of(container))
    sidecars: dict[str, Amount] = {}
    highest: dict[str, Amount] = {}
    for container in spec.get("initContainers") or ():
        running = dict(of(container))
        if container.get("restartPolicy") == "Always":
            add(total, running)
            add(sidecars, running)
            running = dict(sidecars)
        else:
            add(running, sidecars)
        raise_to(highest, running)
    raise_to(total, highest)
    return total


def add(total: dict[str, Amount], more: Mapping[str, Amount]) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def raise_to(total: dict[str, Amount], least: Mapping[str, Amount]) -> None:
    for name, amount in least.items():
        if name not in total or total[name] < amount:
            total[name] = amount


def is_pod_level(name: str) -> bool:
    """Whether a Pod can say for itself how much it needs of a resource (KEP-2837)."""
    return name in _POD_LEVEL or name.startswith(_HUGE_PAGES)


def has_own_resources(spec: Object) -> bool:
    own = spec.get("resources") or {}
    return any(is_pod_level(name) for part in ("requests", "limits") for name in own.get(part) or ())


def parsed(listed: Mapping[str, Any] | None) -> dict[str, Quantity]:
    """A v1.ResourceList."""
    return {name: Quantity.parse(amount) for name, amount in (listed or {}).items()}
