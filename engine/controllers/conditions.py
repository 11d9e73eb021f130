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


def is_true(conditions: Conditions, type: str) -> bool:
    condition = find_condition(conditions, type)
    return condition is not None and condition.get("status") == "True"
