"""Defaults of HorizontalPodAutoscalers (pkg/apis/autoscaling/{v1,v2}/defaults.go)."""

from __future__ import annotations

from engine.api.autoscaler_versions import has_kept, keeps_metrics, to_v1, to_v2, without_kept
from engine.api.types import Object

_CPU_PERCENT = 80


def horizontal_pod_autoscaler(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("minReplicas", 1)
    if obj.get("apiVersion") == "autoscaling/v1":  # where the conversion from v1 defaults it
        if not keeps_metrics(obj.get("metadata") or {}):
            spec.setdefault("targetCPUUtilizationPercentage", _CPU_PERCENT)
        if has_kept(obj.get("metadata") or {}):  # which are written anew from what they say
            obj.update(to_v1(to_v2(obj)))
        return
    if "metadata" in obj:
        obj["metadata"] = without_kept(obj["metadata"])
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": _CPU_PERCENT}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    if "behavior" in spec:
        _behavior(spec["behavior"])


def _behavior(behavior: Object) -> None:
    up = behavior.setdefault("scaleUp", {})
    up.setdefault("stabilizationWindowSeconds", 0)
    up.setdefault("selectPolicy", "Max")
    up.setdefault(
        "policies",
        [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ],
    )
    down = behavior.setdefault("scaleDown", {})
    down.setdefault("selectPolicy", "Max")
    down.setdefault("policies", [{"type": "Percent", "value": 100, "periodSeconds": 15}])
