"""What size each ReplicaSet of a Deployment should be now: pure plans (pkg/controller/deployment rolling.go, sync.go).

Each plan is a list of `Scale`, in the order in which they should be made; one ReplicaSet may be in it twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from engine.api.types import Object
from engine.controllers.deployment.limits import is_rolling, max_surge, max_unavailable
from engine.controllers.deployment.replica_sets import (
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    ReplicaSets,
    active,
    annotated,
    by_creation,
    replicas,
    revision,
    status_sum,
    total_replicas,
)


class Scale(NamedTuple):
    replica_set: Object
    size: int


def new_size(deployment: Object, all_sets: Sequence[Object], current: int) -> int:
    """How large the new ReplicaSet may be, of `current` Pods now (NewRSNewReplicas)."""
    wanted = replicas(deployment)
    if not is_rolling(deployment):
        return wanted
    room = wanted + max_surge(deployment) - total_replicas(all_sets)
    return current if room <= 0 else current + min(room, wanted - current)


def is_scaling_event(deployment: Object, sets: ReplicaSets) -> bool:
    """Whether `spec.replicas` has changed since a ReplicaSet was last scaled for it."""
    noted = [annotated(rs, DESIRED_REPLICAS) for rs in active(sets.all)]
    return any(desired is not None and desired != replicas(deployment) for desired in noted)


def is_saturated(deployment: Object, rs: Object | None) -> bool:
    """The ReplicaSet has all of the Pods, and was told so."""
    if rs is None:
        return False
    wanted = replicas(deployment)
    available = (rs.get("status") or {}).get("availableReplicas", 0)
    return replicas(rs) == wanted and annotated(rs, DESIRED_REPLICAS) == wanted and bool(available == wanted)


# -- a rollout


def plan_new(deployment: Object, sets: ReplicaSets) -> list[Scale]:
    """A rolling update's new ReplicaSet: as large as the surge allows."""
    assert sets.new is not None
    current, wanted = replicas(sets.new), replicas(deployment)
    if current == wanted:
        return []
    size = wanted if current > wanted else new_size(deployment, sets.all, current)
    return [Scale(sets.new, size)] if size != current else []


def plan_old(deployment: Object, sets: ReplicaSets) -> list[Scale]:
    """A rolling update's old ReplicaSets: unhealthy Pods first, then as many as availability allows.

    While one has more that are available than it is to have, its status is of before it was scaled down: no more goes
    until that is through, as who counts on it would take all there is.
    """
    old, new = active(sets.old), sets.new
    if not old or new is None:
        return []
    least_available = replicas(deployment) - max_unavailable(deployment)
    new_unavailable = replicas(new) - (new.get("status") or {}).get("availableReplicas", 0)
    removable = total_replicas(sets.all) - least_available - new_unavailable
    if removable <= 0:
        return []
    ordered = sorted(old, key=by_creation)
    sizes = {rs["metadata"]["name"]: replicas(rs) for rs in ordered}
    available = status_sum([*old, new], "availableReplicas")
    unhealthy, stale = _take_unhealthy(ordered, sizes, removable)
    return unhealthy if stale else [*unhealthy, *_take_available(ordered, sizes, available - least_available)]


def _take_unhealthy(ordered: list[Object], sizes: dict[str, int], most: int) -> tuple[list[Scale], bool]:
    """Pods that are not available go first: that takes nothing from anyone, and they would block the rollout. And
    whether a ReplicaSet was met whose status is of before (cleanupUnhealthyReplicas: "invalid request to scale down").
    """
    scales: list[Scale] = []
    for rs in ordered:
        if most <= 0:
            break
        name = rs["metadata"]["name"]
        unhealthy = sizes[name] - (rs.get("status") or {}).get("availableReplicas", 0)
        if unhealthy < 0:
            return scales, True
        if (taken := min(most, unhealthy)) > 0:
            sizes[name] -= taken
            most -= taken
            scales.append(Scale(rs, sizes[name]))
    return scales, False


def _take_available(ordered: list[Object], sizes: dict[str, int], most: int) -> list[Scale]:
    scales = []
    for rs in ordered:
        name = rs["metadata"]["name"]
        if (taken := min(most, sizes[name])) > 0:
            sizes[name] -= taken
            most -= taken
            scales.append(Scale(rs, sizes[name]))
    return scales


def plan_recreate_down(sets: ReplicaSets) -> list[Scale]:
    return [Scale(rs, 0) for rs in active(sets.old)]


# -- a change of spec.replicas, or a paused Deployment


def plan_scale(deployment: Object, sets: ReplicaSets) -> list[Scale]:
    """Bring all ReplicaSets to a new total, in proportion where several are active (DeploymentController.scale)."""
    if (only := _active_or_latest(sets)) is not None:
        return [Scale(only, replicas(deployment))] if replicas(only) != replicas(deployment) else []
    if is_saturated(deployment, sets.new):
        return [Scale(rs, 0) for rs in active(sets.old)]
    return _proportional(deployment, active(sets.all)) if is_rolling(deployment) else []


def _active_or_latest(sets: ReplicaSets) -> Object | None:
    """The only active ReplicaSet, or the newest if none is; None where there are several."""
    found = active(sets.all)
    if len(found) > 1:
        return None
    if found:
        return found[0]
    return sets.new or max(sets.old, key=by_creation, default=None)


def _proportional(deployment: Object, sets: list[Object]) -> list[Scale]:
    wanted = replicas(deployment)
    allowed = wanted + max_surge(deployment) if wanted else 0
    to_add = allowed - total_replicas(sets)
    # The largest first; of equals the newer ones when growing, the older ones when shrinking.
    ordered = sorted(sets, key=by_creation, reverse=to_add > 0)
    ordered.sort(key=replicas, reverse=True)
    added, sizes = 0, []
    for rs in ordered:
        share = _share(deployment, rs, to_add=to_add, added=added) if to_add else 0
        added += share
        sizes.append(replicas(rs) + share)
    if to_add and sizes:
        sizes[0] = max(0, sizes[0] + to_add - added)
    return [Scale(rs, size) for rs, size in zip(ordered, sizes, strict=True)]


def _share(deployment: Object, rs: Object, *, to_add: int, added: int) -> int:
    """One ReplicaSet's part of what is to be added (or, below zero, taken away)."""
    size = replicas(rs)
    if not size or to_add == added:
        return 0
    fraction, left = _fraction(deployment, rs, size), to_add - added
    return min(fraction, left) if to_add > 0 else max(fraction, left)


def _fraction(deployment: Object, rs: Object, size: int) -> int:
    wanted = replicas(deployment)
    if not wanted:
        return -size
    before = annotated(rs, MAX_REPLICAS) or (deployment.get("status") or {}).get("replicas", 0)
    if not before:
        return 0  # nobody knows what this would be a part of
    return _round(size * (wanted + max_surge(deployment)) / before) - size


def _round(value: float) -> int:
    """Half away from zero, as Go's integer.RoundToInt32."""
    return math.floor(value + 0.5) if value >= 0 else math.ceil(value - 0.5)


# -- old revisions


def plan_cleanup(deployment: Object, sets: ReplicaSets) -> list[Object]:
    """The old ReplicaSets beyond `spec.revisionHistoryLimit` that have nothing left to lose, oldest revision first."""
    limit = deployment["spec"].get("revisionHistoryLimit")
    if limit is None or limit == 2**31 - 1:
        return []
    alive = [rs for rs in sets.old if not rs["metadata"].get("deletionTimestamp")]
    surplus = sorted(alive, key=lambda rs: (revision(rs), by_creation(rs)))[: max(0, len(alive) - limit)]
    return [rs for rs in surplus if _is_spent(rs)]


def _is_spent(rs: Object) -> bool:
    status = rs.get("status") or {}
    observed = status.get("observedGeneration", 0) >= rs["metadata"].get("generation", 0)
    return not replicas(rs) and not status.get("replicas", 0) and observed
