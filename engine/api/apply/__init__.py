"""Server-side apply and the tracking of who owns which field.

`apply` carries out an apply patch; `track_update` notes what any other write changed. Both keep
`metadata.managedFields` and return a new object that shares with its sources what did not change.

Source of the behaviour: KEP-555, structured-merge-diff merge/update.go and apimachinery pkg/util/managedfields. Entries
in another version of a kind are compared by their paths as they are.
"""

from __future__ import annotations

from collections.abc import Callable
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
from engine.api.apply.reconciling import reconciled
from engine.api.apply.reset_fields import Reset, only_kept, reset_fields, without
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

# Whether a version is still served: what was set in one that is not is nobody's any more.
Served = Callable[[str], bool]


def _always(_: str) -> bool:
    return True


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
    served: Served = _always,
) -> Object:
    """`new` with its managedFields saying that `manager` owns what differs from `old` (None for a create).

    An object that nobody tracks (its managedFields were taken away) stays so until it is applied.
    """
    managers = _managers_of(old, new, subresource)
    if old is not None and not managers:
        return _with_managers(new, {})
    scope = _Scope(field_type(schema), api_version, new.get("kind", ""), subresource)
    managers = _current(scope.kind, managers, served)
    changed, removed = scope.changes(old, new)
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
    served: Served = _always,
) -> Object:
    """The live object (None if there is none yet) with the applied configuration merged in.

    What the manager applied before and leaves out now goes, unless somebody else owns it. Without `force` a field that
    another manager owns and that would change is a conflict. Applying what is already so gives back `live` itself.
    Raises ApiError: 409 for conflicts, 400 and 500 for a configuration that cannot be applied.
    """
    if (applied.get("metadata") or {}).get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    kind = field_type(schema)
    check_applied(kind, applied)
    scope = _Scope(kind, api_version, applied.get("kind", ""), subresource)
    identity = Identity.of(manager, APPLY, api_version, subresource)
    managers = _current(kind, _live_managers(scope, live, now), served, but=identity)
    work = _Application(scope, live, applied, managers, identity, served)
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


def _live_managers(scope: _Scope, live: Object | None, now: datetime) -> Managers:
    """Who owns the live object; where nobody is tracked, all of it belongs to `before-first-apply`."""
    if live is None:
        return {}
    managers = decode((live.get("metadata") or {}).get("managedFields")) or {}
    if managers:
        return managers
    fields, _ = scope.changes(None, live)
    if not fields:
        return {}
    identity = Identity.of(BEFORE_FIRST_APPLY, UPDATE, scope.api_version, scope.subresource)
    return {identity: Owned(fields, scope.api_version, timestamp(now))}


def _current(kind: FieldType, managers: Managers, served: Served, but: Identity | None = None) -> Managers:
    """The managers as the schema of today tells fields apart, without those of versions that are gone.

    An applier that applies anew keeps its entry: it gets the version of today.
    """
    fixed = kind.schema is None or kind.schema.fixed
    current: Managers = {}
    for identity, owned in managers.items():
        if identity == but or served(owned.api_version):
            fields = owned.fields if fixed else reconciled(kind, owned.fields)
            same = fields is owned.fields
            current[identity] = owned if same else Owned(fields, owned.api_version, owned.time)
    return current


class _Scope:
    """What of an object a write of a version and subresource can own."""

    def __init__(self, kind: FieldType, api_version: str, name: str, subresource: str) -> None:
        self.kind = kind
        self.api_version = api_version
        self.subresource = subresource
        self._name = name
        apart = kind.schema is None or kind.schema.status_apart
        self.reset: Reset = reset_fields(api_version, name, subresource, status_apart=apart)

    def changes(self, old: Object | None, new: Object) -> tuple[FieldSet, FieldSet]:
        """What can be owned of the fields that were added or changed, and of those that were removed."""
        if old is None:
            after = self.ownable(new)
            return self.kept(self.kind.whole(after, fresh=False)) if after else {}, {}
        # A null that takes the place of a value is a change; where there was none before, it is as good as nothing.
        nulled = frozenset(key for key, value in new.items() if value is None and old.get(key) is not None)
        before, after = self.ownable(old), self.ownable(new, nulled)
        # Both have their metadata, so that it counts as there before, whatever is in it.
        before.setdefault("metadata", {})
        after.setdefault("metadata", {})
        changed, removed = self.kind.changes(before, after)
        return self.kept(changed), self.kept(removed)

    def kept(self, fields: FieldSet) -> FieldSet:
        return only_kept(fields, self._name, self.subresource)

    def ownable(self, obj: Object, nulled: frozenset[str] = frozenset()) -> Object:
        """The object without what nobody owns, without what the write does not touch, and without the times that Go
        writes as null where they are not set (`firstTimestamp` of an Event): their fields have omitempty all the same.
        """
        part = {
            key: value for key, value in obj.items() if key not in _UNOWNED and (value is not None or key in nulled)
        }
        metadata = obj.get("metadata") or {}
        if owned := {key: value for key, value in metadata.items() if key not in _UNOWNED_METADATA}:
            part["metadata"] = owned
        return without(part, self.reset)


class _Application:
    """One apply, worked out: what comes out and whom it would take something from."""

    def __init__(
        self,
        scope: _Scope,
        live: Object | None,
        applied: Object,
        managers: Managers,
        identity: Identity,
        served: Served,
    ) -> None:
        self._managers = managers
        self._identity = identity
        self._last = managers.get(identity)
        self._fields = scope.kept(scope.kind.applied(scope.ownable(applied, frozenset(applied))))
        self.result = _merged(scope, live or {}, applied)
        if self._last is not None and served(self._last.api_version):
            self.result = self._pruned(scope.kind, self._last.fields, self.result)
        self._changed, self._removed = scope.changes(live, self.result) if live else ({}, {})
        self._same = live is not None and live == self.result

    def _pruned(self, kind: FieldType, last: FieldSet, merged: Object) -> Object:
        """Without what was applied last time, is not applied now and nobody else owns."""
        kept = self._fields
        for identity, owned in self._managers.items():
            if identity != self._identity:
                kept = union(kept, owned.fields)
        given_up = difference(with_structs(kind, last), with_structs(kind, union(kept, _METADATA)))
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
        return self._same and last == self._fields

    def managers_after(self, api_version: str, time: str) -> Managers:
        """Of an apply that changes no field there is no time: what it was before stays, also if it was none."""
        others = {identity: owned for identity, owned in self._managers.items() if identity != self._identity}
        managers = _taken(others, self._changed, self._removed)
        if self._fields:
            last = self._last.time if self._last is not None else ""
            managers[self._identity] = Owned(self._fields, api_version, last if self._same else time)
        return managers


def _merged(scope: _Scope, live: Object, applied: Object) -> Object:
    """What is applied to the part that the write does not touch is left out."""
    merged: Object = merge(scope.kind, live, without(applied, scope.reset))
    return merged


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
    if subresource or sent is None or sent == stored:
        return decode(stored) or {}
    if is_reset(sent):
        return {}
    managers = decode(sent) if well_formed(sent) else None
    return managers or decode(stored) or {}


def _with_managers(obj: Object, managers: Managers) -> Object:
    metadata = dict(obj.get("metadata") or {})
    if managers:
        metadata["managedFields"] = encode(managers.items())
    else:
        metadata.pop("managedFields", None)
    return {**obj, "metadata": metadata}
