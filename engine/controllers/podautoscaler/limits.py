"""How fast a target may grow and shrink (pkg/controller/podautoscaler/horizontal.go: stabilisation, behaviours)."""

from __future__ import annotations

import math
from typing import NamedTuple

from engine.api.types import Object

DOWNSCALE_STABILIZATION = 300.0  # --horizontal-pod-autoscaler-downscale-stabilization
SCALE_UP_FACTOR, LEAST_SCALE_UP = 2, 4

_LOWEST = "recent recommendations were lower than current one, applying the lowest recent recommendation"
_HIGHEST = "recent recommendations were higher than current one, applying the highest recent recommendation"
_FAST_UP = "the desired replica count is increasing faster than the maximum scale rate"
_FAST_DOWN = "the desired replica count is decreasing faster than the maximum scale rate"
_TOO_MANY = "the desired replica count is more than the maximum replica count"
_TOO_FEW = "the desired replica count is less than the minimum replica count"
_IN_RANGE = ("DesiredWithinRange", "the desired count is within the acceptable range")


class Verdict(NamedTuple):
    """The size that is allowed, and the conditions AbleToScale and ScalingLimited as (status, reason, message)."""

    replicas: int
    able: tuple[str, str, str]
    limited: tuple[str, str, str]


class Bounded(NamedTuple):
    replicas: int
    reason: str
    message: str


class History:
    """What was recommended for one autoscaler and what was done, by model time."""

    def __init__(self, replicas: int, now: float) -> None:
        self.recommendations = [(now, replicas)]
        self.up: list[tuple[float, int]] = []
        self.down: list[tuple[float, int]] = []

    def recommend(self, replicas: int, now: float, *, keep: float) -> None:
        """Note a recommendation, and forget what is older than `keep` seconds."""
        self.recommendations = [each for each in self.recommendations if each[0] >= now - keep]
        self.recommendations.append((now, replicas))

    def since(self, cutoff: float) -> list[int]:
        return [replicas for at, replicas in self.recommendations if at > cutoff]

    def scaled(self, before: int, after: int, now: float) -> None:
        events = self.up if after > before else self.down
        events.append((now, abs(after - before)))
        del events[:-200]

    def at_start_of(self, period: float, current: int, now: float) -> int:
        """The size at the start of a policy's period."""
        added = sum(count for at, count in self.up if at > now - period)
        taken = sum(count for at, count in self.down if at > now - period)
        return current - added + taken


def normalize(autoscaler: Object, history: History, *, current: int, desired: int, now: float) -> Verdict:
    spec = autoscaler["spec"]
    behavior = spec.get("behavior")
    if behavior:
        stabilized, reason, message = _stabilized(history, behavior, current=current, desired=desired, now=now)
        bounded = _by_behavior(behavior, history, spec, current=current, desired=stabilized, now=now)
    else:
        stabilized = max([desired, *history.since(now - DOWNSCALE_STABILIZATION)])
        history.recommend(desired, now, keep=DOWNSCALE_STABILIZATION)
        reason, message = "ScaleDownStabilized", _HIGHEST
        bounded = _by_default(spec, current=current, desired=stabilized)
    able = ("True", "ReadyForNewScale", "recommended size matches current size")
    if stabilized != desired:
        able = ("True", reason, message)
    limited = "False" if bounded.replicas == stabilized else "True"
    return Verdict(bounded.replicas, able, (limited, bounded.reason, bounded.message))


def _stabilized(history: History, behavior: Object, *, current: int, desired: int, now: float) -> tuple[int, str, str]:
    """The current size, moved no further than recent recommendations agree (stabilizeRecommendationWithBehaviors)."""
    up = float((behavior.get("scaleUp") or {}).get("stabilizationWindowSeconds") or 0)
    window = (behavior.get("scaleDown") or {}).get("stabilizationWindowSeconds")
    down = DOWNSCALE_STABILIZATION if window is None else float(window)
    lowest = min([desired, *history.since(now - up)])
    highest = max([desired, *history.since(now - down)])
    history.recommend(desired, now, keep=max(up, down))
    stabilized = min(max(current, lowest), highest)
    if desired >= current:
        return stabilized, "ScaleUpStabilized", _LOWEST
    return stabilized, "ScaleDownStabilized", _HIGHEST


def _by_default(spec: Object, *, current: int, desired: int) -> Bounded:
    """Twice the size and at least four at a time (convertDesiredReplicasWithRules)."""
    least, most = int(spec.get("minReplicas", 1)), int(spec["maxReplicas"])
    fastest = max(SCALE_UP_FACTOR * current, LEAST_SCALE_UP)
    if desired < least:
        return Bounded(least, "TooFewReplicas", _TOO_FEW)
    if desired > min(most, fastest):
        return _too_many(most, fastest)
    return Bounded(desired, *_IN_RANGE)


def _too_many(most: int, fastest: int) -> Bounded:
    return Bounded(fastest, "ScaleUpLimit", _FAST_UP) if most > fastest else Bounded(most, "TooManyReplicas", _TOO_MANY)


def _by_behavior(
    behavior: Object, history: History, spec: Object, *, current: int, desired: int, now: float
) -> Bounded:
    """As the policies allow (convertDesiredReplicasWithBehaviorRate)."""
    least, most = int(spec.get("minReplicas", 1)), int(spec["maxReplicas"])
    if desired > current:
        fastest = max(current, _rate(behavior.get("scaleUp") or _UP, history, current, now=now, growing=True))
        if desired > min(most, fastest):
            return _too_many(most, fastest)
    elif desired < current:
        slowest = min(current, _rate(behavior.get("scaleDown") or _DOWN, history, current, now=now, growing=False))
        if desired < max(least, slowest):
            if least < slowest:
                return Bounded(slowest, "ScaleDownLimit", _FAST_DOWN)
            return Bounded(least, "TooFewReplicas", _TOO_FEW)
    return Bounded(desired, *_IN_RANGE)


_DOWN: Object = {"policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}
_UP: Object = {"policies": [*_DOWN["policies"], {"type": "Pods", "value": 4, "periodSeconds": 15}]}


def _rate(rules: Object, history: History, current: int, *, now: float, growing: bool) -> int:
    """The size that the policies allow for now."""
    select = rules.get("selectPolicy") or "Max"
    if select == "Disabled":
        return current
    sign = 1 if growing else -1
    allowed: list[int] = []
    for policy in rules.get("policies") or (_UP if growing else _DOWN)["policies"]:
        start = history.at_start_of(policy["periodSeconds"], current, now)
        if policy["type"] == "Pods":
            allowed.append(start + sign * int(policy["value"]))
        else:
            share = start * (1 + sign * policy["value"] / 100)
            allowed.append(math.ceil(share) if growing else int(share))
    return max(allowed) if (select == "Max") == growing else min(allowed)
