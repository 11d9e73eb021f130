"""The resource metrics API, metrics.k8s.io/v1beta1: its resources, their schemas, and its objects.

What is used is simulated (`simulated_usage`); when it was measured is as metrics-server measures: every fifteen
seconds, where the CPU takes two looks, or one at a container that has run for ten seconds and less than those fifteen.
Source: k8s.io/metrics pkg/apis/metrics/v1beta1, metrics-server pkg/storage (node.go, pod.go) and manifests/base.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from engine.api.golang.duration import duration_text
from engine.api.quantity import Quantity
from engine.api.resources import ResourceInfo
from engine.api.schema import DURATION, QUANTITY, TIME
from engine.api.simulated_usage import IDLE, RESOURCES, containers_of
from engine.api.types import GVK, GVR, Object

GROUP, VERSION = "metrics.k8s.io", "v1beta1"
POD_METRICS = GVR(GROUP, VERSION, "pods")
NODE_METRICS = GVR(GROUP, VERSION, "nodes")
READER = "system:aggregated-metrics-reader"  # the ClusterRole that comes with the API
RESOLUTION = 15  # seconds, --metric-resolution
_FRESH = 10  # seconds that a new container must have run (freshContainerMinMetricsResolution)
_LABELS = {"k8s-app": "metrics-server"}
_SERVICE = {"name": "metrics-server", "namespace": "kube-system"}

Usage = Mapping[str, Mapping[str, Quantity]]  # by container and resource


def resources(release: tuple[int, int]) -> tuple[ResourceInfo, ...]:
    """What the API serves; all of it can only be read."""
    return (_resource("nodes", "NodeMetrics", release), _resource("pods", "PodMetrics", release))


def _resource(name: str, kind: str, release: tuple[int, int]) -> ResourceInfo:
    return ResourceInfo(
        gvr=GVR(GROUP, VERSION, name),
        kind=kind,
        list_kind=f"{kind}List",
        singular="",
        namespaced=name == "pods",
        storage_prefix=f"/registry/{GROUP}/{name}",
        storage_gvk=GVK(GROUP, VERSION, kind),
        verbs=("get", "list"),
        release=release,
    )


def api_service() -> Object:
    """The APIService by which the API is there, as metrics-server's manifest has it."""
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{VERSION}.{GROUP}", "labels": dict(_LABELS)},
        "spec": {
            "group": GROUP,
            "groupPriorityMinimum": 100,
            "insecureSkipTLSVerify": True,
            "service": dict(_SERVICE),
            "version": VERSION,
            "versionPriority": 100,
        },
    }


def stands_for_it(spec: Object) -> bool:
    """Whether an APIService's is that of metrics-server, which is simulated, and not that of another adapter."""
    service = spec.get("service") or {}
    named = {"name": service.get("name"), "namespace": service.get("namespace")}
    return (spec.get("group"), spec.get("version")) == (GROUP, VERSION) and named == _SERVICE


# -- what was measured


class Sample(NamedTuple):
    taken: datetime
    window: int  # seconds before it


def _sample(started: datetime, now: datetime) -> Sample | None:
    """The newest of what has run since `started`; None if there is none yet."""
    taken = _last_look(now)
    ran = int((taken - started).total_seconds())
    return Sample(taken, min(ran, RESOLUTION)) if ran >= _FRESH else None


def _last_look(now: datetime) -> datetime:
    return datetime.fromtimestamp(int(now.timestamp()) // RESOLUTION * RESOLUTION, UTC)


def is_measured(pod: Object) -> bool:
    """Whether the node's kubelet tells what a Pod uses."""
    return (pod.get("status") or {}).get("phase") == "Running"


def running(pod: Object) -> dict[str, datetime]:
    """Since when each running container runs. Who reports no containers, as a Pod's status that somebody writes by
    hand, has them run since the Pod started."""
    status = pod.get("status") or {}
    statuses = [*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ())]
    names = [container["name"] for container in containers_of(pod)]
    if not statuses:
        return dict.fromkeys(names, _time(status.get("startTime") or pod["metadata"]["creationTimestamp"]))
    started = {each["name"]: ((each.get("state") or {}).get("running") or {}).get("startedAt") for each in statuses}
    return {name: _time(since) for name in names if (since := started.get(name))}


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def pod_metrics(pod: Object, used: Usage, now: datetime) -> Object | None:
    """None for a Pod that is not measured, or not yet. A container that has started since the last look is left out."""
    if not is_measured(pod):
        return None
    looked_at = {name: start for name, start in running(pod).items() if start <= _last_look(now)}
    samples = [_sample(start, now) for start in looked_at.values()]
    found = [each for each in samples if each is not None]
    if not found or len(found) < len(samples):
        return None
    return {
        **_metrics("PodMetrics", pod, found[0], now),
        "containers": [{"name": name, "usage": _amounts(used[name])} for name in looked_at],
    }


def node_metrics(node: Object, used: Iterable[Mapping[str, Quantity]], now: datetime) -> Object | None:
    """`used` is of the containers that run there. The machine itself idles as one more of them does."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    heard_of = any(each["type"] == "Ready" and each["status"] != "Unknown" for each in conditions)
    sample = _sample(_time(node["metadata"]["creationTimestamp"]), now)
    if not heard_of or sample is None:
        return None
    total = dict(IDLE)
    for amounts in used:
        for resource in RESOURCES:
            total[resource] += amounts[resource]
    return {**_metrics("NodeMetrics", node, sample, now), "usage": _amounts(total)}


def _metrics(kind: str, obj: Object, sample: Sample, now: datetime) -> Object:
    metadata: Object = {"name": obj["metadata"]["name"]}
    if namespace := obj["metadata"].get("namespace"):
        metadata["namespace"] = namespace
    metadata["creationTimestamp"] = _text(now)
    if labels := obj["metadata"].get("labels"):
        metadata["labels"] = dict(labels)
    return {
        "kind": kind,
        "apiVersion": f"{GROUP}/{VERSION}",
        "metadata": metadata,
        "timestamp": _text(sample.taken),
        "window": duration_text(timedelta(seconds=sample.window).total_seconds()),
    }


def _text(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _amounts(usage: Mapping[str, Quantity]) -> dict[str, str]:
    return {resource: str(usage[resource]) for resource in RESOURCES}


# -- the schemas

_PACKAGE = "io.k8s.metrics.pkg.apis.metrics.v1beta1"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1"


def _reference(name: str) -> Object:
    return {"$ref": f"#/$defs/{name}"}


def _described(text: str, schema: Object) -> Object:
    return {"description": text, **schema}


def _kind(name: str, text: str, required: tuple[str, ...], **properties: Object) -> Object:
    words = {
        "apiVersion": _described("The version of the schema of this object.", {"type": "string"}),
        "kind": _described("The REST resource that this object is.", {"type": "string"}),
    }
    return {
        "description": text,
        "type": "object",
        "required": list(required),
        "properties": {**words, **properties},
        "x-kubernetes-group-version-kind": [{"group": GROUP, "kind": name, "version": VERSION}],
    }


def _list(name: str) -> Object:
    items = {"type": "array", "items": _reference(f"{_PACKAGE}.{name}")}
    metadata = _reference(f"{_META}.ListMeta")
    return _kind(f"{name}List", f"A list of {name}.", ("items",), metadata=metadata, items=items)


_USAGE = _described(
    "What is used of each resource: the memory is the working set.",
    {"type": "object", "additionalProperties": _reference(QUANTITY)},
)
_MEASURED = {
    "metadata": _reference(f"{_META}.ObjectMeta"),
    "timestamp": _described("The end of the time in which it was measured.", _reference(TIME)),
    "window": _described("How long it was measured before the timestamp.", _reference(DURATION)),
}
SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    DURATION: {"description": "A time.Duration in the words of its ParseDuration.", "type": "string"},
    f"{_PACKAGE}.ContainerMetrics": {
        "description": "What a container uses.",
        "type": "object",
        "required": ["name", "usage"],
        "properties": {"name": _described("The container of the Pod.", {"type": "string"}), "usage": _USAGE},
    },
    f"{_PACKAGE}.NodeMetrics": _kind(
        "NodeMetrics", "What a node uses.", ("timestamp", "window", "usage"), **_MEASURED, usage=_USAGE
    ),
    f"{_PACKAGE}.NodeMetricsList": _list("NodeMetrics"),
    f"{_PACKAGE}.PodMetrics": _kind(
        "PodMetrics",
        "What the containers of a Pod use.",
        ("timestamp", "window", "containers"),
        **_MEASURED,
        containers={
            "description": "All that were measured in the same window.",
            "type": "array",
            "items": _reference(f"{_PACKAGE}.ContainerMetrics"),
        },
    ),
    f"{_PACKAGE}.PodMetricsList": _list("PodMetrics"),
}
