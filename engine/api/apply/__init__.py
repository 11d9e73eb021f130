"""Server-side apply and the tracking of who owns which field.

`apply` carries out an apply patch; `track_update` notes what any other write changed. Both keep
`metadata.managedFields` and return a new object that shares with its sources what did not change.

Source of the behaviour: KEP-555, structured-merge-diff merge/update.go and apimachinery pkg/util/managedfields.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from engine.api.apply.checking import check_applied, misfits, named
from engine.api.apply.conflicts import conflict_error
from engine.api.apply.field_sets import FieldSet, canonical, difference, intersection, union
from engine.api.apply.field_types import KeylessError, field_type
from engine.api.apply.last_applied import KUBECTL, agreed_fields, synced
from engine.api.apply.managers import (
    APPLY,
    BEFORE_FIRST_APPLY,
    MAX_UPDATE_MANAGERS,
    NO_NAME,
    UPDATE,
    Identity,
    Managers,
    Owned,
    capped,
    decode,
    encode,
    entries_error,
    is_reset,
    timestamp,
    well_formed,
)
from engine.api.apply.merging import merge
from engine.api.apply.pruning import pruned
from engine.api.apply.reconciling import reconciled
from engine.api.apply.reset_fields import without
from engine.api.apply.scope import Convert, Difference, Schemas, Scope, Scopes, UnconvertedError
from engine.api.errors import ApiError, bad_request
from engine.api.patch.merge_patch import same
from engine.api.schema import Schema
from engine.api.types import Object

__all__ = ["apply", "entries_error", "named", "track_update", "well_formed"]

_OWNERS_KEPT_SINCE = (1, 37)


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
    schemas: Schemas | None = None,
    convert: Convert | None = None,
) -> Object:
    """`new` with its managedFields saying that `manager` owns what differs from `old` (None for a create).

    An object that nobody tracks (its managedFields were taken away) stays so until it is applied. Where it cannot be
    had in a version that somebody owns fields in, or has elements that nobody can own, nobody is noted: who owns what
    stays as it was, which before 1.37 was lost. `convert` makes a custom object of another version; what else it raises
    passes through.
    """
    try:
        return _noted(
            old,
            new,
            Identity.of(manager or NO_NAME, operation, api_version, subresource),
            now,
            _scopes(new, schema, schemas, api_version, subresource, convert),
        )
    except (UnconvertedError, KeylessError):
        kept = schema is not None and schema.release >= _OWNERS_KEPT_SINCE
        entries = ((old or {}).get("metadata") or {}).get("managedFields") if kept else None
        metadata = {key: value for key, value in new["metadata"].items() if key != "managedFields"}
        return {**new, "metadata": metadata if entries is None else {**metadata, "managedFields": entries}}


def _noted(old: Object | None, new: Object, identity: Identity, now: datetime, scopes: Scopes) -> Object:
    api_version, subresource = scopes.own.api_version, scopes.own.subresource
    managers = _managers_of(old, new, subresource)
    if old is not None and not managers:
        return _with_managers(new, {})
    managers = {each: owned for each, owned in _current(scopes, managers, old).items() if owned.fields}
    written = Difference(scopes, old, new)
    changed, removed = written.in_version(api_version)
    if changed or removed:
        managers = _taken(managers, written)
        if changed:
            mine = managers.get(identity)
            fields = union(mine.fields, changed) if mine is not None else changed
            managers[identity] = Owned(fields, api_version, timestamp(now))
    # Whatever the write was: a client may send more owners than there may be.
    return _with_managers(new, capped(managers) if len(managers) > MAX_UPDATE_MANAGERS else managers)


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
    schemas: Schemas | None = None,
    convert: Convert | None = None,
) -> Object:
    """The live object (None if there is none yet) with the applied configuration merged in.

    What the manager applied before and leaves out now goes, unless somebody else owns it. Without `force` a field that
    another manager owns and that would change is a conflict. Applying what is already so gives back `live` itself.
    `convert` as in `track_update`.
    Raises ApiError: 409 for conflicts, 400 and 500 for a configuration that cannot be applied, and 500 if the object
    cannot be had in a version that somebody owns fields in.
    """
    metadata = applied.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("managedFields"), list):
        raise bad_request("metadata.managedFields must be nil")
    scopes = _scopes(applied, schema, schemas, api_version, subresource, convert)
    check_applied(scopes.own.kind, applied)
    try:
        return _applied(live, applied, manager=manager, force=force, now=now, scopes=scopes)
    except UnconvertedError as error:
        raise ApiError(500, "", str(error)) from None
    except KeylessError:
        obj = live or {}
        which, text = named(obj), misfits(scopes.own.kind, obj, twice=True)
        doing = f"failed to create typed live object ({which})"
        if not _tracked(obj):
            doing = f"failed to create manager for existing fields: failed to convert new object ({which}) to smd typed"
        raise ApiError(500, "", f"{doing}: {text}") from None


def _applied(
    live: Object | None, applied: Object, *, manager: str, force: bool, now: datetime, scopes: Scopes
) -> Object:
    kind, api_version = scopes.own.kind, scopes.own.api_version
    identity = Identity.of(manager or NO_NAME, APPLY, api_version, scopes.own.subresource)
    managers = _current(scopes, _live_managers(scopes.own, live, now), live, but=identity)
    work = _Application(scopes, live, applied, managers, identity)
    conflicts = {} if force else work.conflicts
    if conflicts and manager == KUBECTL and live is not None:
        agreed = agreed_fields(kind, live)
        left = {identity: difference(fields, agreed) for identity, fields in conflicts.items()}
        conflicts = {identity: fields for identity, fields in left.items() if fields}
    if conflicts:
        raise conflict_error(conflicts)
    if live is not None and work.changes_nothing and _tracked(live):
        result = live
    else:
        result = _with_managers(work.result, work.managers_after(api_version, timestamp(now)))
    return synced(result, applied) if manager == KUBECTL else result


def _scopes(
    obj: Object,
    schema: Schema | None,
    schemas: Schemas | None,
    api_version: str,
    subresource: str,
    convert: Convert | None,
) -> Scopes:
    """Without `schemas` all versions have the schema of this one."""
    name = obj.get("kind", "")
    own = Scope(field_type(schema), api_version, name, subresource)
    return Scopes(own, name, schemas if schemas is not None else lambda _: schema, convert)


def _tracked(live: Object) -> bool:
    """Whether anybody is known to own anything. If not, that all of it was there before becomes known by any apply."""
    return bool(decode((live.get("metadata") or {}).get("managedFields")))


def _live_managers(scope: Scope, live: Object | None, now: datetime) -> Managers:
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


def _current(scopes: Scopes, managers: Managers, live: Object | None, but: Identity | None = None) -> Managers:
    """The managers as the schema of today tells fields apart, without those of versions that are gone.
    The live object must be had in the versions of all others. Raises UnconvertedError.

    An applier that applies anew keeps its entry: it gets the version of today.
    """
    schema = scopes.own.kind.schema
    fixed = schema is None or schema.fixed
    current: Managers = {}
    for identity, owned in managers.items():
        scope = scopes.of(owned.api_version)
        if scope is None:
            if identity == but:
                current[identity] = owned
            continue
        if live is not None and not fixed:
            scopes.converted(live, scopes.own.api_version, owned.api_version)
        fields = owned.fields if fixed else reconciled(scope.kind, owned.fields)
        same = fields is owned.fields
        current[identity] = owned if same else Owned(fields, owned.api_version, owned.time)
    return current


class _Application:
    """One apply, worked out: what comes out and whom it would take something from."""

    def __init__(
        self, scopes: Scopes, live: Object | None, applied: Object, managers: Managers, identity: Identity
    ) -> None:
        scope = scopes.own
        self._others = {each: owned for each, owned in managers.items() if each != identity}
        self._identity = identity
        self._scope, self._live, self._sent = scope, live, applied
        self._last = managers.get(identity)
        self._fields = scope.kept(scope.kind.applied(scope.ownable(applied, frozenset(applied))))
        # What is applied to the part that an update does not touch is left out; a new object's is for its strategy.
        heard = applied if live is None else without(applied, scope.reset)
        self.result: Object = merge(scope.kind, live or {}, heard)
        if self._last is not None and scopes.of(self._last.api_version) is not None:
            self.result = pruned(scopes, self.result, self._last, self._fields, list(self._others.values()))
        self._difference = Difference(scopes, live, self.result)
        schema = scope.kind.schema
        told = schema is not None and schema.fixed  # then nothing that is true can be 1
        self._same = live is not None and live == self.result and (told or same(live, self.result))

    @property
    def conflicts(self) -> dict[Identity, FieldSet]:
        found = {
            identity: intersection(owned.fields, self._difference.in_version(owned.api_version)[0])
            for identity, owned in self._others.items()
        }
        return {identity: fields for identity, fields in found.items() if fields}

    @property
    def changes_nothing(self) -> bool:
        last = self._last.fields if self._last is not None else {}
        return self._same and last == self._fields

    def managers_after(self, api_version: str, time: str) -> Managers:
        """Of an apply that changes no field there is no time: what it was before stays, also if it was none. What it
        says of the part that an update does not touch counts there, although nothing comes of it."""
        managers = _taken(self._others, self._difference)
        if self._fields:
            last = self._last.time if self._last is not None else ""
            changed = not self._same or merge(self._scope.kind, self._live or {}, self._sent) != self._live
            managers[self._identity] = Owned(self._fields, api_version, time if changed else last)
        return managers


def _taken(managers: Managers, difference_: Difference) -> Managers:
    """The managers without what changed hands or is gone; who is left with nothing goes too."""
    kept: Managers = {}
    for identity, owned in managers.items():
        changed, removed = difference_.in_version(owned.api_version)
        fields = difference(difference(owned.fields, changed), removed)
        if fields:
            same_fields = fields is owned.fields
            kept[identity] = owned if same_fields else Owned(fields, owned.api_version, owned.time)
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
    if not managers:
        return decode(stored) or {}
    return {
        identity: replace(owned, fields=canonical(owned.fields), encoded=None) for identity, owned in managers.items()
    }


def _with_managers(obj: Object, managers: Managers) -> Object:
    metadata = dict(obj.get("metadata") or {})
    if managers:
        metadata["managedFields"] = encode(managers.items())
    else:
        metadata.pop("managedFields", None)
    return {**obj, "metadata": metadata}
