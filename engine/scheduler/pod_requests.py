"""What a pod requests.

Source: component-helpers/resource helpers.go (PodRequests): init containers run one after another and beside the
sidecars started before them, pod-level resources replace the sum of the containers', overhead comes on top; what is
being resized in place counts with the largest of its figures.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.pod_amounts import add, is_pod_level, peak, raise_to
from engine.api.types import Object
from engine.scheduler.resource import CPU, MEMORY, Amounts, amounts

# What a container without a request counts as when nodes are compared (pkg/scheduler/util/pod_resources.go), so that
# pods without requests do not all land on one node.
DEFAULT_MILLI_CPU_REQUEST = 100
DEFAULT_MEMORY_REQUEST = 200 * 1024 * 1024


# What a container asks for, by itself and by its status.
Requests = Callable[[Object, Object], Amounts]


def _wanted(container: Object, status: Object) -> Amounts:
    return amounts((container.get("resources") or {}).get("requests"))


def _allocated(container: Object, status: Object) -> Amounts:
    """What the kubelet has admitted of a resize in place."""
    allocated = status.get("allocatedResources")
    return _wanted(container, status) if allocated is None else amounts(allocated)


def _actuated(container: Object, status: Object) -> Amounts:
    """What the container runs with."""
    running = (status.get("resources") or {}).get("requests")
    return _allocated(container, status) if running is None else amounts(running)


def _of_containers(pod: Object, requests: Requests, missing: Amounts | None) -> Amounts:
    """The sum over the containers, or what the init containers need at most where that is more."""
    spec, statuses = pod.get("spec", {}), _statuses(pod)

    def of(container: Object) -> Amounts:
        listed = requests(container, statuses.get(container.get("name", ""), {}))
        return {**missing, **listed} if missing else listed

    return peak(spec, of)


def _resize_infeasible(pod: Object) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    pending: Object = next((c for c in conditions if c.get("type") == "PodResizePending"), {})
    return bool(pending.get("reason") == "Infeasible")


def _with_resizes(pod: Object, wanted: Amounts, missing: Amounts | None) -> Amounts:
    """The most of what is wanted, admitted and running; less what is wanted if that cannot be."""
    status, total = pod.get("status", {}), dict(wanted)
    infeasible = _resize_infeasible(pod)
    if infeasible:
        total = {}
    running = (status.get("resources") or {}).get("requests")
    if status.get("allocatedResources") is not None and running is not None:
        raise_to(total, amounts(status["allocatedResources"]))
        raise_to(total, amounts(running))
    elif infeasible:
        raise_to(total, _of_containers(_unwanted(pod), _allocated, missing))
        raise_to(total, _of_containers(_unwanted(pod), _actuated, missing))
    elif _statuses(pod):
        raise_to(total, _of_containers(pod, _allocated, missing))
        raise_to(total, _of_containers(pod, _actuated, missing))
    return total


def _unwanted(pod: Object) -> Object:
    """The pod with containers that want nothing themselves."""
    spec = pod.get("spec", {})
    kinds = ("containers", "initContainers")
    bare = {kind: [{**c, "resources": None} for c in spec.get(kind) or ()] for kind in kinds}
    return {**pod, "spec": {**spec, **bare}}


def pod_level_requests(pod: Object) -> Amounts:
    """spec.resources.requests: what the pod asks for as a whole (KEP 2837)."""
    return amounts((pod.get("spec", {}).get("resources") or {}).get("requests"))


def _effective_level(pod: Object) -> Amounts:
    """The same, with what a resize of the pod as a whole still holds (KEP 5419)."""
    wanted, status = pod_level_requests(pod), pod.get("status", {})
    if not wanted or status.get("resources") is None:
        return wanted
    effective = {} if _resize_infeasible(pod) else dict(wanted)
    raise_to(effective, amounts(status["resources"].get("requests")))
    raise_to(effective, amounts(status.get("allocatedResources")))
    return effective


def pod_amounts(pod: Object, *, missing: Amounts | None = None) -> Amounts:
    """What a pod requests. `missing` stands in for the requests that a container leaves out."""
    total = _with_resizes(pod, _of_containers(pod, _wanted, missing), missing)
    if any(map(is_pod_level, pod_level_requests(pod))):
        total.update({name: amount for name, amount in _effective_level(pod).items() if is_pod_level(name)})
    add(total, amounts(pod.get("spec", {}).get("overhead")))
    return total


def _statuses(pod: Object) -> dict[str, Object]:
    """The containers' statuses that tell of resources."""
    status = pod.get("status", {})
    listed = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
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
