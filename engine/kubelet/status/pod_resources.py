"""What a Pod as a whole has of its node, since 1.36 (kubelet_pods.go convertToAPIPodLevelResourcesStatus, cm
helpers_linux.go ResourceConfigForPod; KEP-5419)."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.pod_amounts import add, amounts_without_overhead, parsed, pod_amounts
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.kuberuntime.pod_status import PodRuntimeStatus

RESOURCES_SINCE = (1, 36)
_ENFORCED = ("cpu", "memory")


def allocated_requests(pod: Object) -> dict[str, str]:
    """`status.allocatedResources`: all that is set aside for it, its overhead included."""
    return _written(pod_amounts(pod, "requests"))


def enforced_resources(pod: Object, status: PodRuntimeStatus, actual: Object) -> Object:
    """`status.resources`: what its cgroup asks for and is held to. `actual` is what it has of its own resources by now,
    which a resize may want otherwise; its containers count with what they run with."""
    running = {container.name: container.config.resources for container in status.running()}
    spec = {**pod["spec"], "resources": actual}

    def amounts(part: str) -> dict[str, Quantity]:
        total = amounts_without_overhead(spec, part, lambda container: parsed(_of(container, running).get(part)))
        add(total, parsed(spec.get("overhead")))
        return {name: amount for name, amount in total.items() if name in _ENFORCED}

    limited = _limited(pod, actual)
    limits = {name: amount for name, amount in amounts("limits").items() if name in limited}
    made = {"limits": _written(limits), "requests": _written(amounts("requests"))}
    return {part: listed for part, listed in made.items() if listed}


def _of(container: Object, running: Mapping[str, Object]) -> Object:
    return running.get(container["name"], container.get("resources") or {})


def _limited(pod: Object, actual: Object) -> list[str]:
    """A container without a limit leaves its Pod without one, unless the Pod has its own."""
    containers = [*pods.containers_of(pod), *pods.init_containers_of(pod)]
    listed = [(container.get("resources") or {}).get("limits") or {} for container in containers]
    own = actual.get("limits") or {}
    return [name for name in _ENFORCED if name in own or all(name in limits for limits in listed)]


def _written(amounts: Mapping[str, Quantity]) -> dict[str, str]:
    return {name: str(amount) for name, amount in sorted(amounts.items()) if amount}
