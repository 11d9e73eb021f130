"""Which resources of a running container differ from those allocated to it (kuberuntime_manager.go
computePodResizeAction; KEP-1287)."""

from __future__ import annotations

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.kubelet.cri import ContainerStatus

# What the runtime enforces, and is told of when it changes.
_ENFORCED = (("cpu", "requests"), ("cpu", "limits"), ("memory", "requests"), ("memory", "limits"))


# What a container without a limit of its own may take all of that its Pod may (KEP-2837).
_INHERITED = ("cpu", "memory")


def enforced_resources(pod: Object, container: Object) -> Object:
    """What the runtime is told of a container's resources."""
    own: Object = container.get("resources") or {}
    of_pod, limits = (pod["spec"].get("resources") or {}).get("limits") or {}, own.get("limits") or {}
    inherited = {name: of_pod[name] for name in _INHERITED if name in of_pod and name not in limits}
    return {**own, "limits": {**limits, **inherited}} if inherited else own


def changed_resources(pod: Object, container: Object, found: ContainerStatus) -> list[str]:
    """`cpu`, `memory` or both; Pod and container have what is allocated in their spec."""
    allocated, actual = enforced_resources(pod, container), found.config.resources
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
