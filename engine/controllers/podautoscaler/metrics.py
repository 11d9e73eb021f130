"""Simulated use of CPU and memory, in the place of the resource metrics API.

No process really computes anything, so a Pod uses what somebody says that it uses:

* `ktui.io/cpu-usage`, `ktui.io/memory-usage` on a Pod: what the whole Pod uses;
* `ktui.io/cpu-load`, `ktui.io/memory-load` on the autoscaler: a load that all ready Pods of its target share, so that
  more of them have less to do each;
* else every container idles.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.quantity import Quantity, QuantityError
from engine.api.types import Object
from engine.controllers.pods import is_ready

IDLE = {"cpu": Quantity.parse("1m"), "memory": Quantity.parse("16Mi")}


def usage(pods: Iterable[Object], autoscaler: Object, resource: str) -> dict[str, dict[str, int]]:
    """What each container of each running Pod uses, in thousandths of the resource's unit, by Pod name."""
    running = [pod for pod in pods if (pod.get("status") or {}).get("phase") == "Running"]
    load = _annotated(autoscaler, f"ktui.io/{resource}-load")
    ready = sum(1 for pod in running if is_ready(pod))
    found = {}
    for pod in running:
        total = _annotated(pod, f"ktui.io/{resource}-usage")
        if total is None and load is not None and is_ready(pod):
            total = load // max(1, ready)
        found[pod["metadata"]["name"]] = _shared(pod, total, resource)
    return found


def _shared(pod: Object, total: int | None, resource: str) -> dict[str, int]:
    """A Pod's use among its containers, as they share its requests; evenly where none asks for anything."""
    containers = pod["spec"]["containers"]
    idle = IDLE.get(resource, Quantity()).milli
    if total is None:
        return {container["name"]: idle for container in containers}
    asked = {container["name"]: request_of(container, resource) or 0 for container in containers}
    whole = sum(asked.values())
    if not whole:
        return {name: total // len(asked) for name in asked}
    return {name: total * amount // whole for name, amount in asked.items()}


def request_of(container: Object, resource: str) -> int | None:
    """In thousandths; None if the container does not say."""
    amount = ((container.get("resources") or {}).get("requests") or {}).get(resource)
    return Quantity.parse(amount).milli if amount is not None else None


def _annotated(obj: Object, name: str) -> int | None:
    text = (obj["metadata"].get("annotations") or {}).get(name)
    if not text:
        return None
    try:
        return max(0, Quantity.parse(str(text)).milli)
    except QuantityError:
        return None
