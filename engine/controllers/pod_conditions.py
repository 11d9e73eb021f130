"""Conditions that controllers write into a Pod's status (UpdatePodCondition in pkg/api/v1/pod/util.go)."""

from __future__ import annotations

from engine.api.types import Object
from engine.controllers.conditions import Conditions, conditions_of, find_condition, with_condition

DISRUPTION_TARGET = "DisruptionTarget"


def pod_conditions(pod: Object, type: str, status: str, *, now: str, **told: str) -> Conditions:
    """The conditions with one set, in its place: its time stays where the status does. `told` are reason and message.

    It says which generation of the Pod it is about (KEP-5067); a server that counts none gives the Pod none.
    """
    conditions = conditions_of(pod.get("status") or {})
    known = find_condition(conditions, type)
    same = known is not None and known["status"] == status
    since = known.get("lastTransitionTime", now) if same and known is not None else now
    made: Object = {"type": type, "status": status, "lastTransitionTime": since, **told}
    if generation := pod["metadata"].get("generation"):
        made["observedGeneration"] = generation
    return with_condition(conditions, made)
