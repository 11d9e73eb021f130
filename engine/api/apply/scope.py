"""What of an object a write can own, in the version of the write and in the other versions of the kind.

Source of the behaviour: apimachinery pkg/util/managedfields (stripmeta.go, versionconverter.go) and
structured-merge-diff merge/update.go, which compares objects in the version of every owner.
"""

from __future__ import annotations

from collections.abc import Callable

import orjson

from engine.api.apply.checking import misfits
from engine.api.apply.field_sets import FieldSet
from engine.api.apply.field_types import Changes, FieldType, field_type
from engine.api.apply.reset_fields import Reset, only_kept, reset_fields, without
from engine.api.conversions import CONVERSIONS
from engine.api.remembered import Remembered
from engine.api.schema import Schema
from engine.api.types import GVK, Object

# The schema of a kind in a version; None where there is no such version, so that nobody owns anything in it any more.
Schemas = Callable[[GVK], Schema | None]
# What a custom object is in another version of its kind. Raises UnconvertedError, and what its owner wants to catch.
Convert = Callable[[Object, GVK], Object]


class UnconvertedError(Exception):
    """An object cannot be had in the version that somebody owns fields in; the message says why."""


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


# The fields of new Pods, by the type that their release has of them.
_NEW_PODS: dict[FieldType, Remembered[FieldSet]] = {}


class Scope:
    """What of an object a write of a version and subresource can own."""

    def __init__(self, kind: FieldType, api_version: str, name: str, subresource: str) -> None:
        self.kind = kind
        self.api_version = api_version
        self.subresource = subresource
        self._name = name
        self._nulls = kind.schema is not None and not kind.schema.fixed
        self.reset: Reset = reset_fields(api_version, name, subresource, kind.schema)

    def changes(self, old: Object | None, new: Object) -> Changes:
        """What can be owned of the fields that were added or changed, and of those that were removed."""
        if old is None:
            after = self.ownable(new)
            return self._fields_of_new(after) if after else {}, {}
        # A null that takes the place of a value is a change; where there was none before, it is as good as nothing.
        nulled = frozenset(key for key, value in new.items() if value is None and old.get(key) is not None)
        before, after = self.ownable(old), self.ownable(new, nulled)
        # Both have their metadata, so that it counts as there before, whatever is in it.
        before.setdefault("metadata", {})
        after.setdefault("metadata", {})
        changed, removed = self.kind.changes(before, after)
        return self.kept(changed), self.kept(removed)

    def _fields_of_new(self, after: Object) -> FieldSet:
        """Pods are made by the hundred from one template, and then say the same but for what nobody owns."""
        if self._name != "Pod" or self.subresource or self._nulls:
            return self.kept(self.kind.whole(after, fresh=False))
        try:
            said = orjson.dumps(after)
        except TypeError:  # numbers and texts that orjson does not write
            return self.kind.whole(after, fresh=False)
        known = _NEW_PODS.setdefault(self.kind, Remembered())
        fields = known.get(said)
        if fields is None:
            known.put(said, fields := self.kind.whole(after, fresh=False))
        return fields

    def kept(self, fields: FieldSet) -> FieldSet:
        return only_kept(fields, self._name, self.subresource)

    def ownable(self, obj: Object, nulled: frozenset[str] = frozenset()) -> Object:
        """The object without what nobody owns, without what the write does not touch, and without the times that Go
        writes as null where they are not set (`firstTimestamp` of an Event): their fields have omitempty all the same.
        A custom object's nulls are values.
        """
        part = {
            key: value
            for key, value in obj.items()
            if key not in _UNOWNED and (value is not None or key in nulled or self._nulls)
        }
        metadata = obj.get("metadata") or {}
        if owned := {key: value for key, value in metadata.items() if key not in _UNOWNED_METADATA}:
            part["metadata"] = owned
        return without(part, self.reset)


class Scopes:
    """The scopes of a kind in all its versions. Without `convert` versions of a custom kind differ in their name."""

    def __init__(self, own: Scope, name: str, schemas: Schemas, convert: Convert | None = None) -> None:
        self.own = own
        self._name = name
        self._schemas = schemas
        self._convert = convert
        self._custom = own.kind.schema is not None and not own.kind.schema.fixed
        self._found: dict[str, Scope | None] = {own.api_version: own}

    def of(self, api_version: str) -> Scope | None:
        if api_version not in self._found:
            schema = self._schemas(self._gvk(api_version))
            self._found[api_version] = (
                Scope(field_type(schema), api_version, self._name, self.own.subresource) if schema is not None else None
            )
        return self._found[api_version]

    def alike(self, one: str, other: str) -> bool:
        """Whether two versions have the same fields."""
        return one == other or (not self._custom and (self._gvk(one), self._gvk(other)) not in CONVERSIONS)

    def converted(self, obj: Object, source: str, target: str, doing: str = "") -> Object:
        """An object of one version in another. Raises UnconvertedError, whose message begins with what `doing` says."""
        if source == target:
            return obj
        if self._custom:
            try:
                return self._custom_converted(obj, target)
            except UnconvertedError as error:
                raise UnconvertedError(f"{doing}: {error}" if doing else str(error)) from None
        convert = CONVERSIONS.get((self._gvk(source), self._gvk(target)))
        if convert is None:
            return obj
        return convert({**obj, "metadata": obj.get("metadata") or {}})

    def _custom_converted(self, obj: Object, target: str) -> Object:
        """What a version does not declare is in the way there: conversion leaves it in (versionconverter.go)."""
        convert, scope = self._convert, self.of(target)
        assert scope is not None, "nothing is converted to a version that is gone"
        made = convert(obj, self._gvk(target)) if convert is not None else {**obj, "apiVersion": target}
        content = {key: value for key, value in made.items() if key != "metadata"}
        if text := misfits(scope.kind, content, twice=True):
            raise UnconvertedError(text)
        return made

    def _gvk(self, api_version: str) -> GVK:
        group, _, version = api_version.rpartition("/")
        return GVK(group, version, self._name)


class Difference:
    """What a write changes, as every version tells it."""

    def __init__(self, scopes: Scopes, old: Object | None, new: Object) -> None:
        self._scopes = scopes
        self._old = old
        self._new = new
        self._found: dict[str, Changes] = {}

    def in_version(self, api_version: str) -> Changes:
        if api_version not in self._found:
            scope, own = self._scopes.of(api_version), self._scopes.own.api_version
            assert scope is not None, "owners in versions that are gone have been forgotten"
            old, new = self._old, self._new
            if old is not None:
                old = self._scopes.converted(old, own, api_version, doing="failed to convert old object")
            new = self._scopes.converted(new, own, api_version, doing="failed to convert new object")
            self._found[api_version] = scope.changes(old, new)
        return self._found[api_version]
