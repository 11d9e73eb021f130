"""/metrics/resources: what each Pod requests and may use at most, as it is counted when Pods are placed.

Source: pkg/scheduler/metrics/resources (kube-scheduler serves it; both are one process here), component-helpers
resource PodRequests and PodLimits. A Pod that has ended is left out, and so is what comes to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.api.pod_amounts import pod_amounts
from engine.api.types import PODS, Object
from engine.api.wire import Response
from engine.apiserver.backend import Backend
from engine.metric_text import CONTENT_TYPE, metric
from engine.metrics import Sample

_AT_ONCE = 50  # Pods, or ten times as many lines, between which others have their turn
_TERMINAL = ("Succeeded", "Failed")
_UNITS = {"cpu": "cores", "memory": "bytes", "storage": "bytes", "ephemeral-storage": "bytes"}
_TAIL = (
    "broken down by pod. This shows the resource usage the scheduler and kubelet expect per pod for resources along "
    "with the unit for the resource if any."
)
_FAMILIES = (
    ("kube_pod_resource_limit", "limits", f"[STABLE] Resources limit for workloads on the cluster, {_TAIL}"),
    ("kube_pod_resource_request", "requests", f"[STABLE] Resources requested by workloads on the cluster, {_TAIL}"),
)


async def pod_resource_metrics(backend: Backend) -> Response:
    clock, lines = backend.world.clock, list[str]()
    pods = await _pods(backend)
    for name, part, help in _FAMILIES:
        samples: list[Sample] = []
        for index, pod in enumerate(pods, 1):
            samples += _samples(pod, part)
            if index % _AT_ONCE == 0:
                await clock.sleep(0)
        for line in metric(name, "gauge", samples, help):
            lines.append(line)
            if len(lines) % (10 * _AT_ONCE) == 0:
                await clock.sleep(0)
    return Response(200, "\n".join([*lines, ""]).encode(), {"content-type": CONTENT_TYPE})


async def _pods(backend: Backend) -> list[Object]:
    """Those that hold resources, in the order of their labels."""
    info = backend.resources.get(PODS.group, PODS.version, PODS.resource)
    if info is None:
        return []
    cache = await backend.caches.started(info)
    found = [pod for pod in cache.objects() if not _ended(pod)]
    return sorted(found, key=lambda pod: (pod["metadata"]["namespace"], _node(pod), pod["metadata"]["name"]))


def _node(pod: Object) -> str:
    return str(pod["spec"].get("nodeName", ""))


def _ended(pod: Object) -> bool:
    """Until it is on a node its phase does not count."""
    return bool(_node(pod)) and (pod.get("status") or {}).get("phase") in _TERMINAL


def _samples(pod: Object, part: str) -> Iterator[Sample]:
    metadata, spec = pod["metadata"], pod["spec"]
    for resource, amount in sorted(pod_amounts(pod, part).items()):
        if amount:
            labels = {
                "namespace": metadata["namespace"],
                "node": _node(pod),
                "pod": metadata["name"],
                "priority": str(spec.get("priority", "")),
                "resource": resource,
                "scheduler": spec.get("schedulerName", ""),
                "unit": _unit(resource),
            }
            yield Sample(labels, float(amount))


def _unit(resource: str) -> str:
    if resource.startswith("hugepages-"):
        return "bytes"
    if resource.startswith("attachable-volumes-"):
        return "integer"
    return _UNITS.get(resource, "")
