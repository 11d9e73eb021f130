"""Which resources of a running container differ from those allocated to it (kuberuntime_manager.go
computePodResizeAction; KEP-1287)."""

from __future__ import annotations

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.kubelet.cri import ContainerStatus

# What the runtime enforces, and is told of when it changes.
_ENFORCED = (("cpu", "requests"), ("cpu", "limits"), ("memory", "requests"), ("memory", "limits"))


def changed_resources(container: Object, found: ContainerStatus) -> list[str]:
    """`cpu`, `memory` or both; the container has what is allocated in its spec."""
    allocated, actual = container.get("resources") or {}, found.config.resources
    changed = [name for name, field in _ENFORCED if _amount(allocated, field, name) != _amount(actual, field, name)]
    return list(dict.fromkeys(changed))


def _amount(resources: Object, field: str, name: str) -> Quantity | None:
    amount = (resources.get(field) or {}).get(name)
    return Quantity.parse(amount) if amount is not None else None


def restarts_for(container: Object, resized: list[str]) -> bool:
    """Whether the container is restarted for a change of one of these."""
    return any(
        policy["restartPolicy"] == "RestartContainer" and policy["resourceName"] in resized
        for policy in container.get("resizePolicy") or ()
    )
