"""Conflicts: what somebody applies although another manager owns it (apimachinery managedfields, conflict.go)."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.apply.field_sets import FieldSet, paths
from engine.api.apply.managers import Identity
from engine.api.apply.steps import path_text
from engine.api.errors import ApiError
from engine.api.types import Object


def conflict_error(conflicts: Mapping[Identity, FieldSet]) -> ApiError:
    """409 with a cause for every field of every manager."""
    found = [
        (str(identity), path_text(path))
        for identity in sorted(conflicts, key=Identity.json)
        for path in paths(conflicts[identity])
    ]
    causes: list[Object] = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {manager}", "field": field}
        for manager, field in found
    ]
    return ApiError(409, "Conflict", _message(found), details={"causes": causes})


def _message(found: list[tuple[str, str]]) -> str:
    if len(found) == 1:
        manager, field = found[0]
        return f"Apply failed with 1 conflict: conflict with {manager}: {field}"
    by_manager: dict[str, list[str]] = {}
    for manager, field in found:
        by_manager.setdefault(manager, []).append(f"- {field}")
    lines = [line for manager, fields in by_manager.items() for line in (f"conflicts with {manager}:", *fields)]
    return f"Apply failed with {len(found)} conflicts: " + "\n".join(lines)
