"""How fast a target may grow and shrink (pkg/controller/podautoscaler/horizontal.go: stabilisation, behaviours)."""

from __future__ import annotations

import math
from typing import NamedTuple

from engine.api.types import Object

DOWNSCALE_STABILIZATION = 300.0  # --horizontal-pod-autoscaler-downscale-stabilization

_LOWEST = "recent recommendations were lower than current one, applying the lowest recent recommendation"
_HIGHEST = "recent recommendations were higher than current one, applying the highest recent recommendation"
_FAST_UP = "the desired replica count is increasing faster than the maximum scale rate"
_FAST_DOWN = "the desired replica count is decreasing faster than the maximum scale rate"
_TOO_MANY = "the desired replica count is more than the maximum replica count"
_TOO_FEW = "the desired replica count is less than the minimum replica count"


class Verdict(NamedTuple):
    """The size that is allowed, and the conditions AbleToScale and ScalingLimited as (status, reason, message)."""

    replicas: int
    able: tuple[str, str, str]
    limited: tuple[str, str, str]


class History:
    """What was recommended for one autoscaler and what was done, by model time."""

    def __init__(self, replicas: int, now: float) -> None:
        self.recommendations = [(now, replicas)]
        self.up: list[tuple[float, int]] = []
        self.down: list[tuple[float, int]] = []

    def scaled(self, before: int, after: int, now: float) -> None:
        events = self.up if after > before else self.down
        events.append((now, abs(after - before)))
        del events[:-200]


def normalize(autoscaler: Object, history: History, *, current: int, desired: int, now: float) -> Verdict:
    spec = autoscaler["spec"]
    behavior = spec.get("behavior") or {}
    stabilized, reason = _stabilized(history, behavior, current=current, desired=desired, now=now)
    able = ("True", "ReadyForNewScale", "recommended size matches current size")
    if stabilized != desired:
        able = ("True", reason, _LOWEST if reason == "ScaleUpStabilized" else _HIGHEST)
    bounds = _bounds(behavior, history, current, now=now)
    replicas, why, message = _within(stabilized, current, spec, bounds)
    return Verdict(replicas, able, ("False" if replicas == stabilized else "True", why, message))


def _stabilized(history: History, behavior: Object, *, current: int, desired: int, now: float) -> tuple[int, str]:
    """The smallest of the recent recommendations to grow, the greatest of those to shrink."""
    up = float((behavior.get("scaleUp") or {}).get("stabilizationWindowSeconds") or 0)
    window = (behavior.get("scaleDown") or {}).get("stabilizationWindowSeconds")
    down = DOWNSCALE_STABILIZATION if window is None else float(window)
    growing = desired >= current
    cutoff = now - (up if growing else down)
    recent = [replicas for at, replicas in history.recommendations if at > cutoff]
    history.recommendations = [each for each in history.recommendations if each[0] > now - max(up, down)]
    history.recommendations.append((now, desired))
    best = min([desired, *recent]) if growing else max([desired, *recent])
    return best, "ScaleUpStabilized" if growing else "ScaleDownStabilized"


def _bounds(behavior: Object, history: History, current: int, *, now: float) -> tuple[int, int]:
    """The least and the most that the rate allows: the policies, or without any twice the size but at least four."""
    if not behavior:
        return 0, max(2 * current, 4)
    down = _rate(behavior.get("scaleDown") or _DOUBLE, history.down, current, now=now, growing=False)
    up = _rate(behavior.get("scaleUp") or _UP, history.up, current, now=now, growing=True)
    return min(current, down), max(current, up)


_DOUBLE: Object = {"policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}
_UP: Object = {"policies": [*_DOUBLE["policies"], {"type": "Pods", "value": 4, "periodSeconds": 15}]}


def _within(desired: int, current: int, spec: Object, bounds: tuple[int, int]) -> tuple[int, str, str]:
    slowest, fastest = bounds
    least, most = int(spec.get("minReplicas", 1)), int(spec["maxReplicas"])
    if desired > min(most, fastest) and desired >= current:
        return (fastest, "ScaleUpLimit", _FAST_UP) if most > fastest else (most, "TooManyReplicas", _TOO_MANY)
    if desired < max(least, slowest):
        return (slowest, "ScaleDownLimit", _FAST_DOWN) if least < slowest else (least, "TooFewReplicas", _TOO_FEW)
    return desired, "DesiredWithinRange", "the desired count is within the acceptable range"


def _rate(rules: Object, events: list[tuple[float, int]], current: int, *, now: float, growing: bool) -> int:
    """The size that the policies allow for now."""
    select = rules.get("selectPolicy") or "Max"
    if select == "Disabled":
        return current
    sign = 1 if growing else -1
    allowed: list[int] = []
    for policy in rules.get("policies") or ():
        changed = sum(count for at, count in events if at > now - policy["periodSeconds"])
        start = current - sign * changed
        if policy["type"] == "Pods":
            allowed.append(start + sign * int(policy["value"]))
        else:
            share = start * (1 + sign * policy["value"] / 100)
            allowed.append(math.ceil(share) if growing else int(share))
    if not allowed:
        return current
    return max(allowed) if (select == "Max") == growing else min(allowed)
