"""Objects as an event has them: as Go writes them to clients, and without managedFields where the policy wants that
(apiserver pkg/audit/request.go, encodeObject and copyWithoutManagedFields)."""

from __future__ import annotations

from typing import Any

from engine.api.nil_lists import with_nils
from engine.api.types import Object

_TYPE = ("kind", "apiVersion")


def as_told(obj: Any, *, omit_managed_fields: bool, untyped: bool = False) -> Any:
    """`untyped` says of a list that its items keep their kinds."""
    if not isinstance(obj, dict):
        return obj

    def told(each: Any) -> Any:
        return with_nils(_unmanaged(each) if omit_managed_fields else each) if isinstance(each, dict) else each

    if isinstance(obj.get("items"), list):
        single = None if untyped else str(obj.get("kind", "")).removesuffix("List")
        return {**obj, "items": [_without_type(told(item), single) for item in obj["items"]]}
    if isinstance(obj.get("rows"), list):
        return {**obj, "rows": [{**row, "object": told(row.get("object"))} for row in obj["rows"]]}
    return told(obj)


def _without_type(item: Any, kind: str | None) -> Any:
    if not kind or not isinstance(item, dict) or item.get("kind") != kind:
        return item
    return {name: value for name, value in item.items() if name not in _TYPE}


def _unmanaged(obj: Object) -> Object:
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return obj
    return {**obj, "metadata": {name: value for name, value in metadata.items() if name != "managedFields"}}
