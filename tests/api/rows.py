"""What the tests of tables look at rows with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.tables import table
from engine.api.types import GVK, Object

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
REGISTRY = ResourceRegistry.for_version()


def ago(seconds: int) -> str:
    return (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def info(group: str, version: str, kind: str) -> ResourceInfo:
    found = REGISTRY.by_kind(GVK(group, version, kind))
    assert found is not None
    return found


def shown(group: str, version: str, kind: str, obj: Object) -> dict[str, Any]:
    """The row of one object, by column."""
    obj = {**obj, "metadata": {"name": "x", "creationTimestamp": ago(300), **obj.get("metadata", {})}}
    made = table(info(group, version, kind), [obj], now=NOW, list_metadata={})
    names = [column["name"] for column in made["columnDefinitions"]]
    cells = made["rows"][0]["cells"]
    assert len(names) == len(cells)
    return dict(zip(names, cells, strict=True))


def condition(kind: str, status: str = "True", reason: str = "") -> Object:
    return {"type": kind, "status": status, "reason": reason}
