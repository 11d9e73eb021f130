"""Migrations of stored objects to another version (pkg/apis/storagemigration/validation)."""

from __future__ import annotations

import re

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.conditions import conditions
from engine.api.validation.problems import IMMUTABLE, Problems

_RESOURCE_VERSION = re.compile("[1-9][0-9]*")
_STATUS = "status.conditions"
_BOTH = "Both success and failed conditions cannot be true at the same time"


def storage_version_migration(obj: Object, problems: Problems) -> None:
    resource = (obj.get("spec") or {}).get("resource") or {}
    name, group = resource.get("resource", ""), resource.get("group", "")
    if not name:
        problems.required("spec.resource.resource", "resource is required to be set")
    elif wrong := text.dns_1035_label(name):
        problems.invalid("spec.resource.resource", name, ",".join(wrong))
    if group and (wrong := text.dns_subdomain(group)):
        problems.invalid("spec.resource.group", group, ",".join(wrong))


def storage_version_migration_update(new: Object, old: Object, problems: Problems) -> None:
    storage_version_migration(new, problems)
    problems.immutable("spec", new.get("spec"), old.get("spec"))


def storage_version_migration_status(new: Object, old: Object, problems: Problems) -> None:
    status, before = new.get("status") or {}, old.get("status") or {}
    version, found = status.get("resourceVersion", ""), status.get("conditions") or []
    if version and not _RESOURCE_VERSION.fullmatch(version):
        problems.invalid("status.resourceVersion", version, f"resource version is not well formed: {version}")
    conditions(found, _STATUS, problems)
    if before.get("resourceVersion") and before["resourceVersion"] != version:
        problems.invalid("status.resourceVersion", version, IMMUTABLE)
    if _is_true(status, "Succeeded") and _is_true(status, "Failed"):
        problems.invalid(_STATUS, found, _BOTH)
    for kind, name in (("Succeeded", "Success"), ("Failed", "Failed")):
        if _is_true(before, kind) and not _is_true(status, kind):
            problems.invalid(_STATUS, found, f"{name} condition cannot be set to false once it is true")


def _is_true(status: Object, kind: str) -> bool:
    return any(each.get("type") == kind and each.get("status") == "True" for each in status.get("conditions") or ())
