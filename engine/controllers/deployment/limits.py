"""How many Pods too many and too few a rolling update may have (ResolveFenceposts in deployment_util.go)."""

from __future__ import annotations

import math

from engine.api.types import Object
from engine.controllers.deployment.replica_sets import replicas

IntOrPercent = int | str


def scaled_value(value: IntOrPercent, total: int, *, round_up: bool) -> int:
    """An absolute number as it is, a percentage of `total` rounded (intstr.GetScaledValueFromIntOrPercent)."""
    if isinstance(value, int):
        return value
    percent = int(value.removesuffix("%"))
    return math.ceil(total * percent / 100) if round_up else total * percent // 100


def is_rolling(deployment: Object) -> bool:
    return bool((deployment["spec"].get("strategy") or {}).get("type", "RollingUpdate") == "RollingUpdate")


def _fenceposts(deployment: Object) -> tuple[int, int]:
    """Surge and unavailable; never both 0, or nothing could ever move."""
    rolling = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    total = replicas(deployment)
    surge = scaled_value(rolling.get("maxSurge", "25%"), total, round_up=True)
    unavailable = scaled_value(rolling.get("maxUnavailable", "25%"), total, round_up=False)
    return (surge, unavailable) if surge or unavailable else (0, 1)


def max_surge(deployment: Object) -> int:
    return _fenceposts(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: Object) -> int:
    if not is_rolling(deployment) or not replicas(deployment):
        return 0
    return min(_fenceposts(deployment)[1], replicas(deployment))
