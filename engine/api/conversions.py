"""Kinds whose versions differ in more than their name: Events of two groups, autoscalers of two versions.

Source: pkg/apis/core and pkg/apis/events (one internal Event behind both), pkg/apis/autoscaling/v1/conversion.go. The
results share with their sources what is the same, and are frozen as those are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from engine.api.types import GVK, Object

Convert = Callable[[Object], Object]

_CORE_EVENT, _NEW_EVENT = GVK("", "v1", "Event"), GVK("events.k8s.io", "v1", "Event")
_SCALER = GVK("autoscaling", "v2", "HorizontalPodAutoscaler")
_OLD_SCALER = _SCALER._replace(version="v1")

# A core event's field -> the same of events.k8s.io.
_EVENT_FIELDS = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_ANNOTATION = "autoscaling.alpha.kubernetes.io/"
_METRICS, _CURRENT = f"{_ANNOTATION}metrics", f"{_ANNOTATION}current-metrics"
_CONDITIONS, _BEHAVIOR = f"{_ANNOTATION}conditions", f"{_ANNOTATION}behavior"
# What v1 keeps in annotations, in the form of its own metric types.
_TARGET_FIELDS = {"averageUtilization": "targetAverageUtilization", "averageValue": "targetAverageValue"}
_VALUE_FIELDS = {"value": "targetValue", "averageValue": "targetAverageValue"}


def _renamed(fields: Mapping[str, str]) -> Convert:
    def convert(obj: Object) -> Object:
        return {fields.get(name, name): value for name, value in obj.items()}

    return convert


# -- autoscalers


def _to_v1(obj: Object) -> Object:
    """One CPU utilisation has a field of its own; all else of v2 goes into annotations."""
    spec, status = dict(obj.get("spec", {})), dict(obj.get("status", {}))
    kept: dict[str, Any] = {}
    metrics = spec.pop("metrics", [])
    cpu = next((metric for metric in metrics if _cpu_utilization(metric, "target") is not None), None)
    if cpu is not None:
        spec["targetCPUUtilizationPercentage"] = _cpu_utilization(cpu, "target")
    if others := [metric for metric in metrics if metric is not cpu]:
        kept[_METRICS] = [_old_metric(metric, "target") for metric in others]
    current = status.pop("currentMetrics", None) or []
    for metric in current:
        utilization = _cpu_utilization(metric, "current")
        if utilization is not None:
            status["currentCPUUtilizationPercentage"] = utilization
    if current:
        kept[_CURRENT] = [_old_metric(metric, "current") for metric in current]
    if conditions := status.pop("conditions", None):
        kept[_CONDITIONS] = conditions
    if behavior := spec.pop("behavior", None):
        kept[_BEHAVIOR] = behavior
    texts = {name: orjson.dumps(value).decode() for name, value in kept.items()}
    return {**obj, "metadata": _annotated(obj["metadata"], texts), "spec": spec, "status": status}


def _annotated(metadata: Object, texts: Mapping[str, str]) -> Object:
    if not texts:
        return metadata
    return {**metadata, "annotations": {**metadata.get("annotations", {}), **texts}}


def _cpu_utilization(metric: Object, side: str) -> int | None:
    resource = metric.get("resource", {})
    if metric.get("type") != "Resource" or resource.get("name") != "cpu":
        return None
    utilization = resource.get(side, {}).get("averageUtilization")
    return int(utilization) if utilization is not None else None


def _old_metric(metric: Object, side: str) -> Object:
    kind = metric["type"]
    field = kind[:1].lower() + kind[1:]
    source = metric.get(field, {})
    amounts = source.get(side, {})
    names = _TARGET_FIELDS if kind in ("Resource", "ContainerResource") else _VALUE_FIELDS
    if side == "current":
        names = {name: f"current{new.removeprefix('target')}" for name, new in names.items()}
    old = {new: amounts[name] for name, new in names.items() if name in amounts}
    for name in ("name", "container"):
        if name in source:
            old[name] = source[name]
    if "metric" in source:
        old["metricName"] = source["metric"].get("name", "")
        if "selector" in source["metric"]:
            old["selector" if kind != "External" else "metricSelector"] = source["metric"]["selector"]
    if "describedObject" in source:
        old["target"] = source["describedObject"]
    return {"type": kind, field: old}


def _to_v2(obj: Object) -> Object:
    spec, status = dict(obj.get("spec", {})), dict(obj.get("status", {}))
    annotations = dict(obj["metadata"].get("annotations", {}))
    metrics = [_new_metric(metric, "target") for metric in _taken(annotations, _METRICS, [])]
    percentage = spec.pop("targetCPUUtilizationPercentage", None)
    if percentage is not None:
        target = {"type": "Utilization", "averageUtilization": percentage}
        metrics.insert(0, {"type": "Resource", "resource": {"name": "cpu", "target": target}})
    if metrics:
        spec["metrics"] = metrics
    current = [_new_metric(metric, "current") for metric in _taken(annotations, _CURRENT, [])]
    percentage = status.pop("currentCPUUtilizationPercentage", None)
    if percentage is not None and not any(_cpu_utilization(metric, "current") is not None for metric in current):
        cpu = {"name": "cpu", "current": {"averageUtilization": percentage}}
        current.append({"type": "Resource", "resource": cpu})
    if current:
        status["currentMetrics"] = current
    if conditions := _taken(annotations, _CONDITIONS, None):
        status["conditions"] = conditions
    if behavior := _taken(annotations, _BEHAVIOR, None):
        spec["behavior"] = behavior
    metadata = {name: value for name, value in obj["metadata"].items() if name != "annotations"}
    if annotations:
        metadata["annotations"] = annotations
    return {**obj, "metadata": metadata, "spec": spec, "status": status}


def _taken(annotations: dict[str, str], name: str, default: Any) -> Any:
    """The value of an annotation, which is taken away; one that is no JSON counts as none (as upstream)."""
    text = annotations.pop(name, None)
    try:
        return orjson.loads(text) if text else default
    except orjson.JSONDecodeError:
        return default


def _new_metric(metric: Object, side: str) -> Object:
    kind = metric.get("type", "")
    field = kind[:1].lower() + kind[1:]
    old = metric.get(field, {})
    names = _TARGET_FIELDS if kind in ("Resource", "ContainerResource") else _VALUE_FIELDS
    if side == "current":
        names = {name: f"current{new.removeprefix('target')}" for name, new in names.items()}
    amounts = {name: old[new] for name, new in names.items() if new in old}
    if side == "target":
        amounts["type"] = "Utilization" if "averageUtilization" in amounts else "AverageValue"
        if "value" in amounts:
            amounts["type"] = "Value"
    source: Object = {side: amounts}
    for name in ("name", "container"):
        if name in old:
            source[name] = old[name]
    if "metricName" in old:
        selector = old.get("selector") or old.get("metricSelector")
        source["metric"] = {"name": old["metricName"], **({"selector": selector} if selector else {})}
    if "target" in old:
        source["describedObject"] = old["target"]
    return {"type": kind, field: source}


# (from, to) -> what makes the one of the other; apiVersion and kind are set by the caller.
CONVERSIONS: Mapping[tuple[GVK, GVK], Convert] = {
    (_CORE_EVENT, _NEW_EVENT): _renamed(_EVENT_FIELDS),
    (_NEW_EVENT, _CORE_EVENT): _renamed({new: old for old, new in _EVENT_FIELDS.items()}),
    (_SCALER, _OLD_SCALER): _to_v1,
    (_OLD_SCALER, _SCALER): _to_v2,
}
