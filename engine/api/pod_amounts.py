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

Held = Callable[[Object], dict[str, Quantity]]

_POD_LEVEL = ("cpu", "memory")
_HUGE_PAGES = "hugepages-"


def pod_amounts(pod: Object, part: str, *, resizing: bool = False) -> dict[str, Quantity]:
    """The `requests` or `limits` of a Pod, its overhead included. With `resizing`, a container that is being resized in
    place counts with all that it may still hold (UseStatusResources)."""
    spec = pod.get("spec") or {}
    of = _held(pod, part) if resizing else None
    total, overhead = amounts_without_overhead(spec, part, of), parsed(spec.get("overhead"))
    if part == "limits":
        overhead = {name: amount for name, amount in overhead.items() if total.get(name)}
    add(total, overhead)
    return total


def amounts_without_overhead(spec: Object, part: str, of: Held | None = None) -> dict[str, Quantity]:
    """What its containers take together at their peak, or what a Pod says itself. `of` tells what one container takes,
    if not what it says."""
    total = peak(spec, of or (lambda container: _said(container, part)))
    return total | {name: amount for name, amount in _said(spec, part).items() if is_pod_level(name)}


def _held(pod: Object, part: str) -> Held:
    """The most of what a container asks for, has been given and runs with; what cannot be asked for is left out."""
    status = pod.get("status") or {}
    kinds = ("containerStatuses", "initContainerStatuses")
    running = {each["name"]: each for kind in kinds for each in status.get(kind) or () if "resources" in each}
    pending: Object = next((c for c in status.get("conditions") or () if c.get("type") == "PodResizePending"), {})

    def of(container: Object) -> dict[str, Quantity]:
        told = running.get(container.get("name", ""))
        if told is None or not _runs_on(pod, container):
            return _said(container, part)
        total = {} if pending.get("reason") == "Infeasible" else _said(container, part)
        raise_to(total, _said(told, part))
        if part == "requests":
            raise_to(total, parsed(told.get("allocatedResources")))
        return total

    return of


def _runs_on(pod: Object, container: Object) -> bool:
    """Whether it is no init container that ends."""
    ends = container.get("restartPolicy") != "Always"
    return not (ends and any(container is each for each in (pod.get("spec") or {}).get("initContainers") or ()))


def _said(holder: Object, part: str) -> dict[str, Quantity]:
    return parsed((holder.get("resources") or {}).get(part))


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
