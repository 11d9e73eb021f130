"""How metrics, and what is wrong with them, are told: pure (computeReplicasForMetric and the computeStatusFor functions
of horizontal.go, replica_calculator.go).

Pods, Object and External metrics need an API that nobody serves here, and fail as in a cluster without adapters.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.api.quantity import Quantity
from engine.api.shown_selector import shown_selector
from engine.api.types import Object
from engine.controllers.podautoscaler.metrics import MetricError
from engine.controllers.podautoscaler.replicas import Proposal

UNSERVED = {"Pods": "FailedGetPodsMetric", "Object": "FailedGetObjectMetric", "External": "FailedGetExternalMetric"}
_NO_CUSTOM = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
_NO_EXTERNAL = (
    "unable to fetch metrics from external metrics API: the server could not find the requested resource "
    "(get {name}.external.metrics.k8s.io)"
)


class Failure(NamedTuple):
    """`reason` and `text` are those of the metric's own event; `prefixed` is how all metrics' event tells it."""

    reason: str
    text: str
    prefixed: str


def failure(metric: Object, error: MetricError) -> Failure:
    kind, text = metric["type"], str(error)
    match kind:
        case "Resource":
            reason, prefix = "FailedGetResourceMetric", f"{metric['resource']['name']} resource"
        case "ContainerResource":
            reason, prefix = "FailedGetContainerResourceMetric", f"{metric['containerResource']['container']} container"
        case _:
            reason, prefix = UNSERVED[kind], kind.lower()
    inner = f"failed to get {metric['external']['metric']['name']} external metric: " if kind == "External" else ""
    return Failure(reason, text, f"failed to get {prefix} metric value: {inner}{text}")


def not_served(metric: Object, namespace: str, *, error_last: bool = True) -> str:
    """Why a metric of no resource cannot be had; before 1.37, without `error_last`, the object's name is amiss."""
    kind = metric["type"]
    source = metric[kind.lower()]
    name = source["metric"]["name"]
    if kind == "External":
        shown = f"{namespace}/{name}/{shown_selector(source['metric'].get('selector'))}"
        return f"unable to get external metric {shown}: {_NO_EXTERNAL.format(name=name)}"
    if kind == "Object":
        kind, of = (source["describedObject"][field] for field in ("kind", "name"))
        if error_last:
            return f"unable to get metric {name} on {kind} {namespace}/{of}: {_NO_CUSTOM}"
        return f"unable to get metric {name}: {kind} on {namespace} {of}/{_NO_CUSTOM}"
    return f"unable to get metric {name}: {_NO_CUSTOM}"


def metric_name(resource: str, container: str, proposal: Proposal) -> str:
    """As conditions and events call the metric; an average does not say that it is of one container."""
    if proposal.utilization is None:
        return f"{resource} resource"
    return f"{resource} {'container ' if container else ''}resource utilization (percentage of request)"


def metric_status(metric: Object, source: Object, proposal: Proposal) -> Object:
    """A v2.MetricStatus. An amount of bytes is told as a plain number, whatever form it was measured in."""
    current: Object = {"averageValue": str(Quantity.of_milli(proposal.value))}
    if proposal.utilization is not None:
        current["averageUtilization"] = proposal.utilization
    shown: Object = {"name": source["name"], "current": current}
    if source.get("container"):
        shown["container"] = source["container"]
    return {"type": metric["type"], "resource" if metric["type"] == "Resource" else "containerResource": shown}
