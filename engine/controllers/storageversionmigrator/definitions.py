"""What a CustomResourceDefinition says of a migration of its objects: the condition `StorageMigrating`, and the
versions that are stored once it is over (pkg/controller/storageversionmigrator/migrationrunner.go)."""

from __future__ import annotations

from engine.api.types import Object
from engine.controllers.conditions import conditions_of, find_condition

STORAGE_MIGRATING = "StorageMigrating"


def migrating(definition: Object, migration: str, now: str) -> Object:
    """What is applied to the status of a definition when a migration begins."""
    return {
        "conditions": [_condition(definition, "True", "MigrationRunning", f"Migration {migration} is running", now)]
    }


def migrated(definition: Object, *, succeeded: bool, now: str) -> Object:
    """What is applied when it is over. Nothing is stored in another version any more, unless the definition has
    changed since the beginning."""
    begun = find_condition(conditions_of(definition.get("status") or {}), STORAGE_MIGRATING)
    same = begun is not None and begun.get("observedGeneration") == definition["metadata"].get("generation")
    if not succeeded:
        return {"conditions": [_condition(definition, "False", "MigrationFailed", "The migration has failed", now)]}
    text = "but the stored versions have not been updated due to a generation mismatch"
    applied: Object = {}
    if same:
        text = "and the stored versions have been updated"
        stored = next(each["name"] for each in definition["spec"]["versions"] if each.get("storage"))
        applied = {"storedVersions": [stored]}
    told = _condition(definition, "False", "MigrationSucceeded", f"The migration has succeeded {text}", now)
    return {**applied, "conditions": [told]}


def _condition(definition: Object, value: str, reason: str, message: str, now: str) -> Object:
    return {
        "type": STORAGE_MIGRATING,
        "status": value,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
        "observedGeneration": definition["metadata"].get("generation", 0),
    }
