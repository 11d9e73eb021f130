"""The tables of HorizontalPodAutoscalers and scales (printers.go, formatHPAMetrics)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.tables.columns import AGE, META, NAME, Column, Field, Row, kind_table
from engine.api.tables.formats import quantity, with_more

_SHOWN = 2  # metrics
_UNKNOWN = "<unknown>"
_NIL = "<nil>"  # a quantity that a status does not say, as Go prints it: the target may have become one of another type
_SOURCES = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _targets(row: Row) -> str:
    specs, statuses = _metrics(row)
    shown = [_target(spec, statuses[i] if i < len(statuses) else {}) for i, spec in enumerate(specs)]
    return with_more(shown, _SHOWN, ", ") if shown else "<none>"


def _metrics(row: Row) -> tuple[list[Any], list[Any]]:
    """Metrics and their status. autoscaling/v1 knows only the CPU's utilisation, in fields of its own."""
    percent = row.spec.get("targetCPUUtilizationPercentage")
    if percent is None:
        return row.spec.get("metrics") or [], row.status.get("currentMetrics") or []
    spec = {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": percent}}}
    current = row.status.get("currentCPUUtilizationPercentage")
    if current is None:
        return [spec], []
    return [spec], [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": current}}}]


def _target(spec: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    source = _SOURCES.get(spec.get("type", ""))
    if source is None:
        return "<unknown type>"
    metric, told = spec.get(source) or {}, status.get(source)
    target = metric.get("target") or {}
    current = (told or {}).get("current") or {}
    missing = _UNKNOWN if told is None else _NIL
    if source in ("resource", "containerResource"):
        return f"{metric.get('name', '')}: {_resource(target, current)}"
    if source == "pods":
        return f"{_amount(current, 'averageValue', missing)}/{quantity(target.get('averageValue'))}"
    if "averageValue" in target:
        return f"{_amount(current, 'averageValue')}/{quantity(target['averageValue'])} (avg)"
    return f"{_amount(current, 'value', missing)}/{quantity(target.get('value'))}"


def _amount(current: Mapping[str, Any], field: str, missing: str = _UNKNOWN) -> str:
    return quantity(current[field]) if field in current else missing


def _resource(target: Mapping[str, Any], current: Mapping[str, Any]) -> str:
    if "averageValue" in target:
        return f"{_amount(current, 'averageValue')}/{quantity(target['averageValue'])}"
    used, wanted = current.get("averageUtilization"), target.get("averageUtilization")
    return f"{_UNKNOWN if used is None else f'{used}%'}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _reference(row: Row) -> str:
    reference = row.spec.get("scaleTargetRef") or {}
    return f"{reference.get('kind', '')}/{reference.get('name', '')}"


_SPEC = "api.autoscaling.v2.HorizontalPodAutoscalerSpec"
HORIZONTAL_POD_AUTOSCALERS = kind_table(
    NAME,
    Column("Reference", _reference, Field(_SPEC, "scaleTargetRef")),
    Column("Targets", _targets, Field(_SPEC, "metrics")),
    Column("MinPods", lambda row: str(row.spec.get("minReplicas", "<unset>")), Field(_SPEC, "minReplicas")),
    Column("MaxPods", lambda row: row.spec.get("maxReplicas", 0), Field(_SPEC, "maxReplicas")),
    Column(
        "Replicas",
        lambda row: row.status.get("currentReplicas", 0),
        Field("api.autoscaling.v2.HorizontalPodAutoscalerStatus", "currentReplicas"),
    ),
    AGE,
)

SCALES = kind_table(
    Column("Name", lambda row: row.name, Field(META, "name")),
    Column(
        "Desired",
        lambda row: row.spec.get("replicas", 0),
        Field("api.autoscaling.v1.ScaleSpec", "replicas"),
        type="integer",
    ),
    Column(
        "Available",
        lambda row: row.status.get("replicas", 0),
        Field("api.autoscaling.v1.ScaleStatus", "replicas"),
        type="integer",
    ),
    AGE,
)
