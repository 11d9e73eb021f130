"""What the containers of a Pod use of CPU and memory. No process really computes anything, so a Pod uses what somebody
says that it uses:

* `ktui.io/cpu-usage`, `ktui.io/memory-usage` on a Pod: what the whole Pod uses;
* `ktui.io/cpu-load`, `ktui.io/memory-load` on an autoscaler: a load that all ready Pods of its target share, so that
  more of them have less to do each;
* else a container takes what the program `stress` is told to take, and any other idles.

Stands where the cgroups of a real node stand, which its kubelet reads.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.api import simulated_stress
from engine.api.quantity import Format, Quantity, QuantityError
from engine.api.types import Object

RESOURCES = ("cpu", "memory")
IDLE = {"cpu": Quantity.parse("1m"), "memory": Quantity.parse("16Mi")}
_FORMATS = {"cpu": Format.DECIMAL_SI, "memory": Format.BINARY_SI}


def load_of(autoscaler: Object, resource: str) -> Quantity | None:
    """What the Pods of an autoscaler's target are to use together; None if it does not say."""
    return _annotated(autoscaler, f"ktui.io/{resource}-load")


def containers_of(pod: Object) -> list[Object]:
    """Those that are there for as long as the Pod: its containers and its sidecars."""
    spec = pod["spec"]
    sidecars = [each for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"]
    return [*spec["containers"], *sidecars]


def usage(pod: Object, loads: Mapping[str, Quantity]) -> dict[str, dict[str, Quantity]]:
    """By container and resource. `loads` is the Pod's share of what an autoscaler says, by resource."""
    containers = containers_of(pod)
    used: dict[str, dict[str, Quantity]] = {container["name"]: {} for container in containers}
    for resource in RESOURCES:
        total = _annotated(pod, f"ktui.io/{resource}-usage")
        if total is None:
            total = loads.get(resource)
        for container, amount in zip(containers, _shares(pod, containers, total, resource), strict=True):
            used[container["name"]][resource] = amount
    return used


def _shares(pod: Object, containers: list[Object], total: Quantity | None, resource: str) -> list[Quantity]:
    """As the containers share the Pod's requests; evenly where none asks for anything."""
    if total is None:
        return [_idling(pod, container, resource) for container in containers]
    asked = [_amount(container, "requests", resource) for container in containers]
    parts = [amount.milli if amount is not None else 0 for amount in asked]
    whole = sum(parts)
    if not whole:
        parts, whole = [1] * len(containers), len(containers)
    return [_measured(total.milli * part // whole, resource) for part in parts]


def _measured(milli: int, resource: str) -> Quantity:
    """Memory comes in whole bytes."""
    if resource == "memory":
        return Quantity.of(milli // 1000, _FORMATS[resource])
    return Quantity.of_milli(milli, _FORMATS[resource])


def _idling(pod: Object, container: Object, resource: str) -> Quantity:
    """Nobody who only idles runs into its limit."""
    if (demanded := simulated_stress.demand(container, _limit(pod, container, "cpu")).get(resource)) is not None:
        return demanded
    limit = _limit(pod, container, resource)
    return IDLE[resource] if limit is None else min(IDLE[resource], limit)


def _limit(pod: Object, container: Object, resource: str) -> Quantity | None:
    """Its own, or that of its Pod as a whole."""
    own = _amount(container, "limits", resource)
    return own if own is not None else _amount(pod["spec"], "limits", resource)


def _amount(container: Object, part: str, resource: str) -> Quantity | None:
    amount = ((container.get("resources") or {}).get(part) or {}).get(resource)
    return Quantity.parse(amount) if amount is not None else None


def _annotated(obj: Object, name: str) -> Quantity | None:
    text = (obj["metadata"].get("annotations") or {}).get(name)
    if not text:
        return None
    try:
        return max(Quantity(), Quantity.parse(str(text)))
    except QuantityError:
        return None
