"""HorizontalPodAutoscalers of autoscaling/v1 and v2: what v1 has no field for, it keeps in annotations.

Source: pkg/apis/autoscaling/v1/conversion.go and pkg/apis/autoscaling/helpers.go. The metrics and conditions in the
annotations are v1's own types; the behaviour is upstream's internal type, whose fields have their names in Go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from engine.api.autoscaler_annotations import BEHAVIOR, CONDITIONS, metrics_form, taken
from engine.api.field_numbers import field_names
from engine.api.quantity import Quantity
from engine.api.types import Object

_PREFIX = "autoscaling.alpha.kubernetes.io/"
_METRICS, _CURRENT = f"{_PREFIX}metrics", f"{_PREFIX}current-metrics"
_CONDITIONS, _BEHAVIOR = f"{_PREFIX}conditions", f"{_PREFIX}behavior"
_KEPT = (_METRICS, _CURRENT, _CONDITIONS, _BEHAVIOR)
_CPU_PERCENT = 80

_Path = tuple[str, ...]
# Of a metric of v1, by its type: a field, where v2 has it, and what Go writes for one that is not set.
_Fields = tuple[tuple[str, _Path, Any], ...]
_NAME, _SELECTOR = ("metric", "name"), ("metric", "selector")
_TARGETS: Mapping[str, _Fields] = {
    "object": (
        ("target", ("describedObject",), {"kind": "", "name": ""}),
        ("metricName", _NAME, ""),
        ("targetValue", ("target", "value"), "0"),
        ("selector", _SELECTOR, None),
        ("averageValue", ("target", "averageValue"), None),
    ),
    "pods": (
        ("metricName", _NAME, ""),
        ("targetAverageValue", ("target", "averageValue"), "0"),
        ("selector", _SELECTOR, None),
    ),
    "resource": (
        ("name", ("name",), ""),
        ("targetAverageUtilization", ("target", "averageUtilization"), None),
        ("targetAverageValue", ("target", "averageValue"), None),
    ),
    "containerResource": (
        ("name", ("name",), ""),
        ("targetAverageUtilization", ("target", "averageUtilization"), None),
        ("targetAverageValue", ("target", "averageValue"), None),
        ("container", ("container",), ""),
    ),
    "external": (
        ("metricName", _NAME, ""),
        ("metricSelector", _SELECTOR, None),
        ("targetValue", ("target", "value"), None),
        ("targetAverageValue", ("target", "averageValue"), None),
    ),
}
_STATUSES: Mapping[str, _Fields] = {
    "object": (
        ("target", ("describedObject",), {"kind": "", "name": ""}),
        ("metricName", _NAME, ""),
        ("currentValue", ("current", "value"), "0"),
        ("selector", _SELECTOR, None),
        ("averageValue", ("current", "averageValue"), None),
    ),
    "pods": (
        ("metricName", _NAME, ""),
        ("currentAverageValue", ("current", "averageValue"), "0"),
        ("selector", _SELECTOR, None),
    ),
    "resource": (
        ("name", ("name",), ""),
        ("currentAverageUtilization", ("current", "averageUtilization"), None),
        ("currentAverageValue", ("current", "averageValue"), "0"),
    ),
    "containerResource": (
        ("name", ("name",), ""),
        ("currentAverageUtilization", ("current", "averageUtilization"), None),
        ("currentAverageValue", ("current", "averageValue"), "0"),
        ("container", ("container",), ""),
    ),
    "external": (
        ("metricName", _NAME, ""),
        ("metricSelector", _SELECTOR, None),
        ("currentValue", ("current", "value"), "0"),
        ("currentAverageValue", ("current", "averageValue"), None),
    ),
}
# Which of two amounts a target of v1 is about: the first that is given, else the last (MetricTarget.Type).
_TYPES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "object": (("averageValue", "AverageValue"), ("", "Value")),
    "pods": (("", "AverageValue"),),
    "resource": (("targetAverageUtilization", "Utilization"), ("", "AverageValue")),
    "containerResource": (("targetAverageUtilization", "Utilization"), ("", "AverageValue")),
    "external": (("targetValue", "Value"), ("", "AverageValue")),
}
_METRIC_SPECS = metrics_form("MetricSpec", {kind: [name for name, *_ in each] for kind, each in _TARGETS.items()})
_METRIC_STATUSES = metrics_form("MetricStatus", {kind: [name for name, *_ in each] for kind, each in _STATUSES.items()})
_RULES = (("StabilizationWindowSeconds", None), ("SelectPolicy", None), ("Policies", None), ("Tolerance", None))
_POLICY = (("Type", ""), ("Value", 0), ("PeriodSeconds", 0))


def to_v1(obj: Object) -> Object:
    """The utilisation of the CPU has a field of its own; all else of v2 goes into annotations."""
    spec, status = dict(obj.get("spec", {})), dict(obj.get("status", {}))
    kept: dict[str, Any] = {}
    metrics, current = spec.pop("metrics", None) or [], status.pop("currentMetrics", None) or []
    if percentages := _cpu_percentages(metrics, "target"):
        spec["targetCPUUtilizationPercentage"] = percentages[0]
    if others := [metric for metric in metrics if not _of_cpu(metric, "target")]:
        kept[_METRICS] = [_old_metric(metric, _TARGETS) for metric in others]
    if percentages := _cpu_percentages(current, "current"):
        status["currentCPUUtilizationPercentage"] = percentages[-1]
    if current:
        kept[_CURRENT] = [_old_metric(metric, _STATUSES) for metric in current]
    if (behavior := spec.pop("behavior", None)) is not None:
        kept[_BEHAVIOR] = _internal_behavior(behavior)
    if conditions := status.pop("conditions", None):
        kept[_CONDITIONS] = conditions
    status.setdefault("currentReplicas", 0)  # which v1 does not leave out
    texts = {name: orjson.dumps(value).decode() for name, value in kept.items()}
    return {**obj, "metadata": _annotated(obj["metadata"], texts), "spec": spec, "status": status}


def without_kept(metadata: Object) -> Object:
    """Metadata without the annotations that are v1's: no version has them of its own."""
    if not has_kept(metadata):
        return metadata
    annotations = metadata["annotations"]
    rest = {name: value for name, value in annotations.items() if name not in _KEPT}
    others = {name: value for name, value in metadata.items() if name != "annotations"}
    return {**others, "annotations": rest} if rest else others


def _annotated(metadata: Object, texts: Mapping[str, str]) -> Object:
    metadata = without_kept(metadata)
    if not texts:
        return metadata
    every = {**metadata.get("annotations", {}), **texts}
    made = {**metadata, "annotations": {name: every[name] for name in sorted(every)}}
    return {name: made[name] for name in field_names("meta.v1.ObjectMeta") if name in made}


def _of_cpu(metric: Object, side: str) -> bool:
    """Whether it is about how much of the CPU is used, for which v1 has a field."""
    resource = metric.get("resource", {})
    if metric.get("type") != "Resource" or resource.get("name") != "cpu":
        return False
    return resource.get(side, {}).get("averageUtilization") is not None


def _cpu_percentages(metrics: list[Object], side: str) -> list[int]:
    return [int(metric["resource"][side]["averageUtilization"]) for metric in metrics if _of_cpu(metric, side)]


def _old_metric(metric: Object, kinds: Mapping[str, _Fields]) -> Object:
    old: Object = {"type": metric.get("type", "")}
    for kind, fields in kinds.items():
        if kind in metric:
            found = ((name, _get(metric[kind], path, zero)) for name, path, zero in fields)
            old[kind] = {name: value for name, value in found if value is not None}
    return old


def _get(source: Object, path: _Path, zero: Any) -> Any:
    found: Any = source
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return zero if found is None else found


def _internal_behavior(behavior: Object) -> Object:
    return {field: _internal_rules(behavior.get(_json_name(field))) for field in ("ScaleUp", "ScaleDown")}


def _internal_rules(rules: Object | None) -> Object | None:
    if rules is None:
        return None
    shown = {field: rules.get(_json_name(field), zero) for field, zero in _RULES}
    if shown["Policies"] is not None:
        shown["Policies"] = [
            {field: each.get(_json_name(field), zero) for field, zero in _POLICY} for each in shown["Policies"]
        ]
    return shown


def _json_name(field: str) -> str:
    return field[:1].lower() + field[1:]


def to_v2(obj: Object) -> Object:
    spec, status = dict(obj.get("spec", {})), dict(obj.get("status", {}))
    annotations = obj["metadata"].get("annotations") or {}
    metrics = [_new_metric(metric, "target") for metric in taken(annotations, _METRICS, _METRIC_SPECS) or ()]
    percentage = spec.pop("targetCPUUtilizationPercentage", None)
    if percentage is None and not metrics:
        percentage = _CPU_PERCENT
    if percentage is not None:
        target = {"type": "Utilization", "averageUtilization": percentage}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    spec["metrics"] = metrics
    current = [_new_metric(metric, "current") for metric in taken(annotations, _CURRENT, _METRIC_STATUSES) or ()]
    percentage = status.pop("currentCPUUtilizationPercentage", None)
    if percentage is not None and not current:
        current = [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": percentage}}}]
    if current:
        status["currentMetrics"] = current
    if conditions := taken(annotations, _CONDITIONS, CONDITIONS):
        status["conditions"] = conditions
    if not status.get("currentReplicas"):
        status.pop("currentReplicas", None)
    if (behavior := taken(annotations, _BEHAVIOR, BEHAVIOR)) is not None:
        spec["behavior"] = _json_named(behavior)
    return {**obj, "metadata": without_kept(obj["metadata"]), "spec": spec, "status": status}


def has_kept(metadata: Object) -> bool:
    """Whether there are annotations of v1's, however little they say."""
    annotations = metadata.get("annotations") or {}
    return any(name in annotations for name in _KEPT)


def keeps_metrics(metadata: Object) -> bool:
    """Whether an object of v1 is about other metrics than the CPU, which its annotations hold."""
    return bool(taken(metadata.get("annotations") or {}, _METRICS, _METRIC_SPECS))


def _json_named(value: Any) -> Any:
    """Fields by their names in JSON."""
    if isinstance(value, list):
        return [_json_named(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {_json_name(name): _json_named(each) for name, each in value.items()}


def _new_metric(metric: Object, side: str) -> Object:
    kinds = _TARGETS if side == "target" else _STATUSES
    new: Object = {"type": metric.get("type", "")}
    for kind, fields in kinds.items():
        if kind in metric:
            source: Object = {side: {}}
            for name, path, zero in fields:
                _set(source, path, metric[kind].get(name, zero))
            if side == "target":
                source["target"]["type"] = next(
                    word for given, word in _TYPES[kind] if not given or metric[kind].get(given) is not None
                )
            if kind == "object":
                _drop_unset_value(source[side], side)
            new[kind] = source
    return new


def _drop_unset_value(amounts: Object, side: str) -> None:
    """Of an object that is about an average: v1 cannot leave the value out, which no target has besides."""
    if "averageValue" in amounts and (side == "current" or not Quantity.parse(amounts["value"])):
        del amounts["value"]


def _set(target: Object, path: _Path, value: Any) -> None:
    if value is not None:
        for name in path[:-1]:
            target = target.setdefault(name, {})
        target[path[-1]] = value
