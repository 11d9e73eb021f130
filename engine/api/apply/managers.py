"""Who owns what: `metadata.managedFields`, its entries' identity, time, order and number.

Source of the behaviour: apimachinery pkg/util/managedfields/internal (managedfields.go, buildmanagerinfo.go,
capmanagers.go, managedfieldsupdater.go).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from engine.api.apply.field_sets import FieldSet, union, valid
from engine.api.golang.text import quoted
from engine.api.types import Object
from engine.timestamps import in_seconds

APPLY = "Apply"
UPDATE = "Update"
MAX_UPDATE_MANAGERS = 10
ANCIENT_CHANGES = "ancient-changes"
BEFORE_FIRST_APPLY = "before-first-apply"
NO_NAME = "unknown"  # whoever writes without a name (buildmanagerinfo.go)


class Identity(NamedTuple):
    """What makes an entry one manager's: an applier keeps its entry whatever version it applies in."""

    manager: str
    operation: str
    api_version: str  # "" for an applier
    subresource: str

    @classmethod
    def of(cls, manager: str, operation: str, api_version: str, subresource: str = "") -> Identity:
        return cls(manager, operation, "" if operation == APPLY else api_version, subresource)

    def __str__(self) -> str:
        """As conflict messages name a manager."""
        text = quoted(self.manager)
        if self.subresource:
            text += f" with subresource {quoted(self.subresource)}"
        return f"{text} using {self.api_version}" if self.operation == UPDATE else text

    def json(self) -> str:
        """What upstream knows a manager by, and puts managers into order by: an entry of these fields alone."""
        said = zip(("manager", "operation", "apiVersion", "subresource"), self, strict=True)
        return orjson.dumps({name: value for name, value in said if value}).decode()


@dataclass(frozen=True, slots=True)
class Owned:
    """An entry: the fields in the version they are named in, and when they last changed (RFC 3339, "" for never)."""

    fields: FieldSet
    api_version: str
    time: str = ""
    encoded: Object | None = None  # the entry as it was read, as long as it stands


Managers = dict[Identity, Owned]


def timestamp(now: datetime) -> str:
    return in_seconds(now.astimezone(UTC))


def decode(entries: Any) -> Managers | None:
    """The managers of `metadata.managedFields`; None for entries that are no such thing."""
    managers: Managers = {}
    for index, entry in enumerate(entries or ()):
        if _entry_error(entry, index):
            return None
        operation, api_version = entry["operation"], entry["apiVersion"]
        identity = Identity.of(entry.get("manager") or "", operation, api_version, entry.get("subresource") or "")
        managers[identity] = Owned(entry.get("fieldsV1") or {}, api_version, entry.get("time") or "", entry)
    return managers


def entries_error(entries: Any) -> str:
    """What is wrong with `metadata.managedFields`, as upstream's ValidateManagedFields says it; "" for nothing."""
    return next((wrong for index, entry in enumerate(entries or ()) if (wrong := _entry_error(entry, index))), "")


def _entry_error(entry: Object, index: int) -> str:
    if entry.get("operation") not in (APPLY, UPDATE):
        return "operation must be `Apply` or `Update`"
    if not entry.get("apiVersion"):
        return "apiVersion must not be empty"
    kind = entry.get("fieldsType", "")
    if not kind:
        return f"missing fieldsType in managed fields entry {index}"
    return "" if kind == "FieldsV1" else f"invalid fieldsType {quoted(kind)} in managed fields entry {index}"


def well_formed(entries: Any) -> bool:
    """Whether entries that a client sent can be taken as they are: also looks into the fields."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return False
    return decode(entries) is not None and all(valid(entry.get("fieldsV1")) for entry in entries)


def is_reset(entries: Any) -> bool:
    """Whether the client asks to forget all owners: an empty list, or one empty entry."""
    return entries in ([], [{}])


def encode(managers: Iterable[tuple[Identity, Owned]]) -> list[Object]:
    """The entries in upstream's order: appliers before updaters, older before newer."""
    ordered = sorted(managers, key=_order)
    return [owned.encoded or _entry(identity, owned) for identity, owned in ordered]


def _order(item: tuple[Identity, Owned]) -> tuple[str, str, str, str, str]:
    identity, owned = item
    return identity.operation, owned.time, identity.manager, owned.api_version, identity.subresource


def _entry(identity: Identity, owned: Owned) -> Object:
    entry: Object = {
        "manager": identity.manager,
        "operation": identity.operation,
        "apiVersion": owned.api_version,
        "time": owned.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": owned.fields,
    }
    if not owned.time:
        del entry["time"]
    if not identity.manager:
        del entry["manager"]
    if identity.subresource:
        entry["subresource"] = identity.subresource
    return entry


def capped(managers: Managers) -> Managers:
    """With at most ten updaters: the oldest of each version are put together as `ancient-changes`."""
    updaters = [identity for identity in managers if identity.operation == UPDATE]
    surplus = len(updaters) - MAX_UPDATE_MANAGERS
    if surplus <= 0:
        return managers
    kept = dict(managers)
    first: dict[str, Identity] = {}
    for identity in sorted(updaters, key=lambda each: (kept[each].time, each.json())):
        if surplus <= 0:
            break
        version = kept[identity].api_version
        if version not in first:
            first[version] = identity
            continue
        bucket = Identity.of(ANCIENT_CHANGES, UPDATE, version)
        owned = kept[identity]
        if bucket not in kept:
            kept[bucket] = kept.pop(first[version])
        kept[bucket] = Owned(union(kept[bucket].fields, owned.fields), version, owned.time)
        del kept[identity]  # as upstream: a bucket that is itself the next oldest goes
        surplus -= 1
    return kept
