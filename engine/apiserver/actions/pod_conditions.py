"""Conditions that the API server itself writes into a Pod (podutil.UpdatePodCondition)."""

from __future__ import annotations

from engine.api.types import Object


def set_condition(pod: Object, condition: Object, now: str) -> None:
    """Put the condition into the place of its type's; the time stays where the status does."""
    condition["lastTransitionTime"] = now
    if generation := pod["metadata"].get("generation"):
        condition["observedGeneration"] = generation
    conditions = pod.setdefault("status", {}).setdefault("conditions", [])
    for position, present in enumerate(conditions):
        if present["type"] == condition["type"]:
            if present["status"] == condition["status"]:
                condition["lastTransitionTime"] = present.get("lastTransitionTime", now)
            conditions[position] = condition
            return
    conditions.append(condition)
