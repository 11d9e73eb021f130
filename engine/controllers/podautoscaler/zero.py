"""Scaling to zero and back (KEP-2021; reconcileAutoscaler of horizontal.go, since 1.37).

A target with no replicas may be one that somebody switched off, and which is then left alone, or one that its
autoscaler took to zero. The condition `ScaledToZero` of the autoscaler is what tells them apart.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.api.types import Object
from engine.controllers.conditions import find_condition

SCALED_TO_ZERO = "ScaledToZero"


class Condition(NamedTuple):
    """Status, reason and message of `ScaledToZero`."""

    status: str
    reason: str
    message: str


def wakes(spec: Object, status: Object) -> bool:
    """Whether the target, which has no replicas, may be given some: its autoscaler took them, and can tell when they
    are needed again, or may no longer leave it without any."""
    condition = find_condition(status["conditions"], SCALED_TO_ZERO)
    owned = condition is not None and condition["status"] == "True"
    return owned and (spec.get("minReplicas", 1) != 0 or _measures_without_pods(spec))


def after_rescale(spec: Object, current: int, desired: int) -> Condition:
    if current > 0 and desired == 0 and spec.get("minReplicas", 1) == 0 and _measures_without_pods(spec):
        return Condition("True", "ScaledToZero", "the HPA controller scaled the workload to zero")
    return Condition("False", "NotScaledToZero", "the HPA controller did not scale the workload to zero")


def _measures_without_pods(spec: Object) -> bool:
    return any(metric["type"] in ("Object", "External") for metric in spec.get("metrics") or ())
