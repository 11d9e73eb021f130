"""What an update takes over from the object that is there (apiserver pkg/registry/rest, BeforeUpdate)."""

from __future__ import annotations

from engine.api.types import Object


def keep(new: Object, old: Object, field: str) -> None:
    """Takes a field from the old object. It is shared: neither object is changed below it from now on."""
    if field in old:
        new[field] = old[field]
    else:
        new.pop(field, None)


def keep_metadata(new: Object, old: Object) -> None:
    """What no update changes (rest.BeforeUpdate)."""
    metadata, before = new.setdefault("metadata", {}), old["metadata"]
    keep(metadata, before, "generation")
    keep(metadata, before, "creationTimestamp")
    metadata.pop("selfLink", None)
    if not metadata.get("uid"):
        keep(metadata, before, "uid")
    if "deletionTimestamp" in before:
        metadata["deletionTimestamp"] = before["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in before and "deletionGracePeriodSeconds" not in metadata:
        metadata["deletionGracePeriodSeconds"] = before["deletionGracePeriodSeconds"]


def keep_whole_metadata(new: Object, old: Object) -> None:
    """All of it but who owns what now (apiextensions-apiserver pkg/registry/customresource/status_strategy.go)."""
    metadata = dict(old["metadata"])
    keep(metadata, new["metadata"], "managedFields")
    new["metadata"] = metadata
