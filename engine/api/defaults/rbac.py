"""Defaults of role bindings (pkg/apis/rbac/v1/defaults.go)."""

from __future__ import annotations

from engine.api.resource_table import RBAC
from engine.api.types import Object


def binding(obj: Object) -> None:
    role = obj.setdefault("roleRef", {})
    if not role.get("apiGroup"):
        role["apiGroup"] = RBAC
    for subject in obj.get("subjects", ()):
        if subject.get("kind") in ("User", "Group") and not subject.get("apiGroup"):
            subject["apiGroup"] = RBAC
