"""Which taints a pod tolerates (component-helpers/scheduling/corev1 helpers.go, api/core/v1 toleration.go)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.types import Object
from engine.scheduler.selecting import integer

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"
PREFER_NO_SCHEDULE = "PreferNoSchedule"
HARD_EFFECTS = (NO_SCHEDULE, NO_EXECUTE)

UNSCHEDULABLE_TAINT: Object = {"key": "node.kubernetes.io/unschedulable", "effect": NO_SCHEDULE}


def is_of_cordon(taint: Object) -> bool:
    """Whether it is the taint that the node lifecycle controller keeps on cordoned nodes, and takes away with it."""
    return all(taint.get(field) == value for field, value in UNSCHEDULABLE_TAINT.items())


def _compares(operator: str, toleration: str, taint: str) -> bool:
    """Gt and Lt (KEP 5471): the taint's number against the toleration's."""
    bound, value = integer(toleration), integer(taint)
    if bound is None or value is None:
        return False
    return value > bound if operator == "Gt" else value < bound


def tolerates(toleration: Object, taint: Object) -> bool:
    effect, key = toleration.get("effect"), toleration.get("key")
    if effect and effect != taint.get("effect"):
        return False
    if key and key != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    value, own = toleration.get("value") or "", taint.get("value") or ""
    if operator == "Equal":
        return bool(value == own)
    return operator in ("Gt", "Lt") and _compares(operator, value, own)


def any_tolerates(tolerations: Iterable[Object], taint: Object) -> bool:
    return any(tolerates(toleration, taint) for toleration in tolerations)


def untolerated_taint(taints: Iterable[Object], tolerations: Iterable[Object]) -> Object | None:
    """The first NoSchedule or NoExecute taint that nothing tolerates."""
    tolerations = tuple(tolerations)
    for taint in taints:
        if taint.get("effect") in HARD_EFFECTS and not any_tolerates(tolerations, taint):
            return taint
    return None
