"""Extended resources that come from devices: a pod that asks for `example.com/gpu` gets a claim of a DeviceClass.

Source: upstream's plugins/dynamicresources/extendeddynamicresources.go (KEP 5004). The claim is the scheduler's own: it
is thought up for each node, and written once the pod goes there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from engine.api.types import Object
from engine.scheduler.framework.profile import at_least
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.resource_claims import DEVICE_CLASSES, is_for
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.resource import is_extended, whole

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

IN_MEMORY = "<extended-resources>"  # no valid name of a claim, so it is nobody's
ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
_IMPLICIT = "deviceclass.resource.kubernetes.io/"


def is_backed(name: str) -> bool:
    """Whether a resource is of the kind that devices may stand behind."""
    return is_extended(name) or name.startswith(_IMPLICIT)


def device_class_of(resource: str, handle: Handle) -> Object | None:
    """The class behind a resource: the one that is named so, or the newest that says so."""
    if not is_backed(resource) or not at_least(handle.version, 36):
        return None
    classes = handle.lister(DEVICE_CLASSES)
    if resource.startswith(_IMPLICIT):
        return classes.get(resource.removeprefix(_IMPLICIT))
    named = [c for c in classes.list() if (c.get("spec") or {}).get("extendedResourceName") == resource]
    named.sort(key=lambda c: str(c["metadata"]["name"]))
    return max(named, key=lambda c: str(c["metadata"].get("creationTimestamp") or ""), default=None)


def implicit_resource(device_class: Object) -> str:
    """The resource that every class stands behind, by its name."""
    return _IMPLICIT + str(device_class["metadata"]["name"])


def asks_for_devices(pod: PodInfo, handle: Handle) -> bool:
    return any(amount and device_class_of(name, handle) for name, amount in pod.request.scalar.items())


def left_over(pod: PodInfo, claims: Iterable[Object]) -> Object | None:
    """The claim that an earlier attempt on the pod has written."""
    for claim in claims:
        if (claim["metadata"].get("annotations") or {}).get(ANNOTATION) == "true" and is_for(claim, pod):
            return claim
    return None


def claim_for(pod: PodInfo) -> Object:
    """The pod's claim, without requests: those depend on the node."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid, "controller": True}
    return {
        "metadata": {
            "name": IN_MEMORY,
            "namespace": pod.namespace,
            "uid": f"{IN_MEMORY}/{pod.uid}",
            "generateName": f"{pod.name}-extended-resources-",
            "ownerReferences": [owner],
            "annotations": {ANNOTATION: "true"},
        },
        "spec": {"devices": {}},
    }


def from_devices(pod: PodInfo, node: NodeInfo, handle: Handle) -> list[str] | None:
    """The resources that the node offers as devices alone; None where it has one of them in no form."""
    found = []
    for name, amount in pod.request.scalar.items():
        if not amount or not is_backed(name):
            continue
        if not node.allocatable.scalar.get(name) and device_class_of(name, handle) is not None:
            found.append(name)
        elif name not in node.allocatable.scalar:
            return None
    return sorted(found)


class Asked(NamedTuple):
    """Requests of the claim, and which container gets what of which request."""

    requests: list[Object]
    mappings: list[Object]


def asked_for(pod: PodInfo, resources: Sequence[str], handle: Handle) -> Asked:
    found = Asked([], [])
    for resource in resources:
        device_class = device_class_of(resource, handle)
        if device_class is not None:
            requests, mappings = _of_resource(pod, resource, device_class["metadata"]["name"])
            found.requests.extend(requests)
            found.mappings.extend(mappings)
    found.requests.sort(key=lambda request: str(request["name"]))
    return found


def _of_resource(pod: PodInfo, resource: str, kind: str) -> Asked:
    """A request for each container that runs on, and one for all those that run before them, as far as the devices of
    those behind them do not do for these too."""
    init = pod.spec.get("initContainers") or []
    containers = [*init, *(pod.spec.get("containers") or ())]
    brief = {i for i, container in enumerate(init) if container.get("restartPolicy") != "Always"}
    lasting: dict[int, Object] = {}
    found = Asked([], [])
    for i in (i for i in range(len(containers)) if i not in brief):
        request, mappings = _of_container(i, containers[i], resource, kind, ())
        if request is not None:
            lasting[i] = request
        found.mappings.extend(mappings)
    extra: list[Object] = []
    early: list[Object] = []
    for i in sorted(brief):
        behind = [request for place, request in lasting.items() if place >= i]
        request, mappings = _of_container(i, containers[i], resource, kind, behind)
        extra += [request] if request is not None else []
        early += mappings
    if extra:
        most = max(extra, key=lambda request: int(request["exactly"]["count"]))
        names = {request["name"] for request in extra}
        early = [{**m, "requestName": most["name"]} if m["requestName"] in names else m for m in early]
        found.requests.append(most)
    found.requests.extend(lasting.values())
    found.mappings.extend(early)
    return found


def _of_container(
    place: int, container: Object, resource: str, kind: str, behind: Iterable[Object]
) -> tuple[Object | None, list[Object]]:
    """What a container asks for beyond what those behind it have, and what it gets of which request."""
    requests = (container.get("resources") or {}).get("requests") or {}
    wanted = whole(str(requests.get(resource, "0")))
    if not wanted:
        return None, []

    def mapping(name: str) -> Object:
        return {"containerName": container.get("name", ""), "resourceName": resource, "requestName": name}

    had, mappings = 0, list[Object]()
    for other in behind:
        had += int(other["exactly"]["count"])
        mappings.append(mapping(other["name"]))
        if had >= wanted:
            return None, mappings
    name = f"container-{place}-request-{sorted(requests).index(resource)}"
    exactly = {"deviceClassName": kind, "allocationMode": "ExactCount", "count": wanted - had}
    return {"name": name, "exactly": exactly}, [*mappings, mapping(name)]
