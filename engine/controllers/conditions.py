"""Reading and writing `status.conditions`, without changing the list that is there."""

from __future__ import annotations

from engine.api.types import Object

Conditions = list[Object]


def conditions_of(status: Object) -> Conditions:
    conditions: Conditions = status.get("conditions") or []
    return conditions


def find_condition(conditions: Conditions, type: str) -> Object | None:
    return next((condition for condition in conditions if condition["type"] == type), None)


def without_condition(conditions: Conditions, type: str) -> Conditions:
    return [condition for condition in conditions if condition["type"] != type]


def with_condition(conditions: Conditions, condition: Object) -> Conditions:
    """With the condition in the place of the one of its type, or as the last."""
    if find_condition(conditions, condition["type"]) is None:
        return [*conditions, condition]
    return [condition if each["type"] == condition["type"] else each for each in conditions]


def is_true(conditions: Conditions, type: str) -> bool:
    condition = find_condition(conditions, type)
    return condition is not None and condition.get("status") == "True"
