"""The quality of service class of a Pod (pkg/apis/core/helper/qos): who is evicted first when a node runs short."""

from __future__ import annotations

from collections.abc import Iterator

from engine.api.quantity import Quantity
from engine.api.types import Object

_COMPUTE = ("cpu", "memory")


def qos_class(pod: Object) -> str:
    """`Guaranteed`, `Burstable` or `BestEffort`. The resources of the Pod itself, if it has some, decide alone."""
    spec = pod.get("spec", {})
    own = spec.get("resources")
    sources = [own] if own else [container.get("resources") or {} for container in _containers(spec)]
    requests = [_compute(source.get("requests")) for source in sources]
    limits = [_compute(source.get("limits")) for source in sources]
    if not any(requests) and not any(limits):
        return "BestEffort"
    every_limit_set = all(len(limit) == len(_COMPUTE) for limit in limits)
    if every_limit_set and _totals(requests) == _totals(limits):
        return "Guaranteed"
    return "Burstable"


def _containers(spec: Object) -> Iterator[Object]:
    yield from spec.get("containers", ())
    yield from spec.get("initContainers", ())


def _compute(amounts: Object | None) -> dict[str, Quantity]:
    found = {}
    for name in _COMPUTE:
        amount = Quantity.parse((amounts or {}).get(name, "0"))
        if amount:
            found[name] = amount
    return found


def _totals(resources: list[dict[str, Quantity]]) -> dict[str, Quantity]:
    totals: dict[str, Quantity] = {}
    for amounts in resources:
        for name, amount in amounts.items():
            totals[name] = totals.get(name, Quantity()) + amount
    return totals
