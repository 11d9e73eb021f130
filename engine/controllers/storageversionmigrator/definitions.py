"""What a CustomResourceDefinition says of a migration of its objects: the condition `StorageMigrating`, and the
versions that are stored once it is over (pkg/controller/storageversionmigrator/migrationrunner.go)."""

from __future__ import annotations

from engine.api.types import Object
from engine.controllers.conditions import Conditions, conditions_of, find_condition

STORAGE_MIGRATING = "StorageMigrating"


def migrating(definition: Object, migration: str, now: str) -> Object:
    """The status of a definition when a migration begins."""
    status = definition.get("status") or {}
    return _with(status, definition, "True", "MigrationRunning", f"Migration {migration} is running", now)


def migrated(definition: Object, *, succeeded: bool, now: str) -> Object:
    """The status when it is over. Nothing is stored in another version any more, unless the definition has changed
    since the beginning."""
    status = definition.get("status") or {}
    begun = find_condition(conditions_of(status), STORAGE_MIGRATING)
    same = begun is not None and begun.get("observedGeneration") == definition["metadata"].get("generation")
    if not succeeded:
        return _with(status, definition, "False", "MigrationFailed", "The migration has failed", now)
    text = "but the stored versions have not been updated due to a generation mismatch"
    if same:
        text = "and the stored versions have been updated"
        stored = next(each["name"] for each in definition["spec"]["versions"] if each.get("storage"))
        status = {**status, "storedVersions": [stored]}
    return _with(status, definition, "False", "MigrationSucceeded", f"The migration has succeeded {text}", now)


def _with(status: Object, definition: Object, value: str, reason: str, message: str, now: str) -> Object:
    made = {
        "type": STORAGE_MIGRATING,
        "status": value,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
        "observedGeneration": definition["metadata"].get("generation", 0),
    }
    others: Conditions = [each for each in conditions_of(status) if each["type"] != STORAGE_MIGRATING]
    return {**status, "conditions": [*others, made]}
