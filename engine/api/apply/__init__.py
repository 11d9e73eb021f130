"""Server-side apply and the tracking of who owns which field.

`apply` carries out an apply patch; `track_update` notes what any other write changed. Both keep
`metadata.managedFields` and return a new object that shares with its sources what did not change.

Source of the behaviour: KEP-555, structured-merge-diff merge/update.go and apimachinery pkg/util/managedfields. Entries
in another version of a kind are compared by their paths as they are.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from engine.api.apply.checking import check_applied
from engine.api.apply.conflicts import conflict_error
from engine.api.apply.field_sets import FieldSet, difference, intersection, union
from engine.api.apply.field_types import FieldType, field_type
from engine.api.apply.last_applied import KUBECTL, agreed_fields, synced
from engine.api.apply.managers import (
    APPLY,
    BEFORE_FIRST_APPLY,
    UPDATE,
    Identity,
    Managers,
    Owned,
    capped,
    decode,
    encode,
    is_reset,
    timestamp,
    well_formed,
)
from engine.api.apply.merging import merge, remove, with_structs
from engine.api.errors import bad_request
from engine.api.schema import Schema
from engine.api.types import Object

__all__ = ["apply", "track_update", "well_formed"]

# Nobody owns these (stripmeta.go): they are set by the server or make the object what it is.
_UNOWNED = frozenset({"apiVersion", "kind", "metadata"})
_UNOWNED_METADATA = frozenset(
    {
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    }
)
_METADATA: FieldSet = {"f:metadata": {}}  # every object has it, so it never goes as a whole

# The part of an object that a write does not touch (GetResetFields of the strategies): nothing in it is owned by it.
_UNTOUCHED = {"": "status", "status": "spec"}


def track_update(
    old: Object | None,
    new: Object,
    *,
    manager: str,
    operation: str = UPDATE,
    now: datetime,
    schema: Schema | None,
    subresource: str = "",
    api_version: str,
) -> Object:
    """`new` with its managedFields saying that `manager` owns what differs from `old` (None for a create).

    An object that nobody tracks (its managedFields were taken away) stays so until it is applied.
    """
    managers = _managers_of(old, new, subresource)
    if old is not None and not managers:
        return _with_managers(new, {})
    changed, removed = _changes(field_type(schema), old, new, subresource)
    if changed or removed:
        identity = Identity.of(manager, operation, api_version, subresource)
        managers = _taken(managers, changed, removed)
        if changed:
            mine = managers.get(identity)
            fields = union(mine.fields, changed) if mine is not None else changed
            managers[identity] = Owned(fields, api_version, timestamp(now))
            managers = capped(managers)
    return _with_managers(new, managers)


def apply(
    live: Object | None,
    applied: Object,
    *,
    manager: str,
    force: bool,
    now: datetime,
    schema: Schema | None,
    subresource: str = "",
    api_version: str,
) -> Object:
    """The live object (None if there is none yet) with the applied configuration merged in.

    What the manager applied before and leaves out now goes, unless somebody else owns it. Without `force` a field that
    another manager owns and that would change is a conflict. Applying what is already so gives back `live` itself.
    Raises ApiError: 409 for conflicts, 400 and 500 for a configuration that cannot be applied.
    """
    _check(applied, api_version)
    kind = field_type(schema)
    check_applied(kind, applied)
    managers = _live_managers(kind, live, now, subresource)
    work = _Application(kind, live, applied, managers, Identity.of(manager, APPLY, api_version, subresource))
    conflicts = {} if force else work.conflicts
    if conflicts and manager == KUBECTL and live is not None:
        agreed = agreed_fields(kind, live)
        left = {identity: difference(fields, agreed) for identity, fields in conflicts.items()}
        conflicts = {identity: fields for identity, fields in left.items() if fields}
    if conflicts:
        raise conflict_error(conflicts)
    if live is not None and work.changes_nothing:
        result = live
    else:
        result = _with_managers(work.result, work.managers_after(api_version, timestamp(now)))
    return synced(result, applied) if manager == KUBECTL else result


def _check(applied: Object, api_version: str) -> None:
    given = applied.get("apiVersion", "")
    if given != api_version:
        raise bad_request(
            f"Incorrect version specified in apply patch. Specified patch version: {given}, expected: {api_version}"
        )
    if (applied.get("metadata") or {}).get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")


def _live_managers(kind: FieldType, live: Object | None, now: datetime, subresource: str) -> Managers:
    """Who owns the live object; where nobody is tracked, all of it belongs to `before-first-apply`."""
    if live is None:
        return {}
    managers = decode((live.get("metadata") or {}).get("managedFields")) or {}
    if managers:
        return managers
    fields, _ = _changes(kind, None, live, subresource)
    if not fields:
        return {}
    version = live.get("apiVersion", "")
    return {Identity.of(BEFORE_FIRST_APPLY, UPDATE, version, subresource): Owned(fields, version, timestamp(now))}


class _Application:
    """One apply, worked out: what comes out and whom it would take something from."""

    def __init__(
        self, kind: FieldType, live: Object | None, applied: Object, managers: Managers, identity: Identity
    ) -> None:
        self._managers = managers
        self._identity = identity
        self._last = managers.get(identity)
        self._fields = kind.applied(_ownable(kind, applied, identity.subresource))
        merged = _merged(kind, live or {}, applied, identity.subresource)
        self.result = self._pruned(kind, merged)
        self._changed, self._removed = _changes(kind, live, self.result, identity.subresource)

    def _pruned(self, kind: FieldType, merged: Object) -> Object:
        """Without what was applied last time, is not applied now and nobody else owns."""
        if self._last is None or not self._last.fields:
            return merged
        kept = self._fields
        for identity, owned in self._managers.items():
            if identity != self._identity:
                kept = union(kept, owned.fields)
        given_up = difference(with_structs(kind, self._last.fields), with_structs(kind, union(kept, _METADATA)))
        pruned: Object = remove(kind, merged, given_up)
        return pruned

    @property
    def conflicts(self) -> dict[Identity, FieldSet]:
        found = {
            identity: intersection(owned.fields, self._changed)
            for identity, owned in self._managers.items()
            if identity != self._identity
        }
        return {identity: fields for identity, fields in found.items() if fields}

    @property
    def changes_nothing(self) -> bool:
        last = self._last.fields if self._last is not None else {}
        return not self._changed and not self._removed and last == self._fields

    def managers_after(self, api_version: str, time: str) -> Managers:
        others = {identity: owned for identity, owned in self._managers.items() if identity != self._identity}
        managers = _taken(others, self._changed, self._removed)
        if self._fields:
            managers[self._identity] = Owned(self._fields, api_version, time)
        return capped(managers)


def _merged(kind: FieldType, live: Object, applied: Object, subresource: str) -> Object:
    """What is applied to the part that the write does not touch is left out."""
    untouched = _untouched(kind, subresource)
    fields = {key: value for key, value in applied.items() if key != untouched}
    merged: Object = merge(kind, live, fields)
    return merged


def _changes(kind: FieldType, old: Object | None, new: Object, subresource: str) -> tuple[FieldSet, FieldSet]:
    """What can be owned of the fields that were added or changed, and of those that were removed."""
    after = _ownable(kind, new, subresource)
    if old is None:
        return kind.whole(after, fresh=False) if after else {}, {}
    before = _ownable(kind, old, subresource)
    # Both have their metadata, so that it counts as there before, whatever is in it.
    before.setdefault("metadata", {})
    after.setdefault("metadata", {})
    return kind.changes(before, after)


def _untouched(kind: FieldType, subresource: str) -> str | None:
    if not subresource and kind.schema is not None and not kind.schema.status_apart:
        return None
    return _UNTOUCHED.get(subresource)


def _ownable(kind: FieldType, obj: Object, subresource: str) -> Object:
    """The object without what nobody owns, without what the write does not touch, and without the times that Go writes
    as null where they are not set (`firstTimestamp` of an Event): their fields have omitempty all the same."""
    untouched = _untouched(kind, subresource)
    part = {key: value for key, value in obj.items() if key not in _UNOWNED and key != untouched and value is not None}
    metadata = obj.get("metadata") or {}
    if owned := {key: value for key, value in metadata.items() if key not in _UNOWNED_METADATA}:
        part["metadata"] = owned
    return part


def _taken(managers: Managers, changed: FieldSet, removed: FieldSet) -> Managers:
    """The managers without what changed hands or is gone; who is left with nothing goes too."""
    kept: Managers = {}
    for identity, owned in managers.items():
        fields = difference(difference(owned.fields, changed), removed)
        if fields is owned.fields:
            kept[identity] = owned
        elif fields:
            kept[identity] = Owned(fields, owned.api_version, owned.time)
    return kept


def _managers_of(old: Object | None, new: Object, subresource: str) -> Managers:
    """The managers that a write starts from: those it sends, if they are sound, else those of the old object.

    A client that does not know managedFields drops them without meaning to; one that sends an empty entry means it.
    """
    sent: Any = (new.get("metadata") or {}).get("managedFields")
    stored: Any = (old.get("metadata") or {}).get("managedFields") if old is not None else None
    if subresource or not sent or sent == stored:
        return decode(stored) or {}
    if is_reset(sent):
        return {}
    managers = decode(sent) if well_formed(sent) else None
    return managers or decode(stored) or {}


def _with_managers(obj: Object, managers: Managers) -> Object:
    metadata = dict(obj.get("metadata") or {})
    if managers:
        metadata["managedFields"] = encode(managers)
    else:
        metadata.pop("managedFields", None)
    return {**obj, "metadata": metadata}
