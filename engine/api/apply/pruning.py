"""Taking out of a merged object what its applier applied last time, does not apply now and nobody else owns.

Source of the behaviour: structured-merge-diff merge/update.go (prune, addBackOwnedItems, addBackDanglingItems). Owners
in another version own what their fields are in that version.
"""

from __future__ import annotations

from engine.api.apply.field_sets import FieldSet, difference, intersection, union
from engine.api.apply.field_types import FieldType
from engine.api.apply.managers import Owned
from engine.api.apply.merging import remove, with_structs
from engine.api.apply.scope import Scopes
from engine.api.types import Object

_METADATA: FieldSet = {"f:metadata": {}}  # every object has it, so it never goes as a whole
_PRUNE = "failed to prune fields"
_DANGLING = "failed add back dangling items: failed to convert pruned object to last applied version"


def pruned(scopes: Scopes, merged: Object, last: Owned, fields: FieldSet, others: list[Owned]) -> Object:
    """`last` is what the applier owned before, `fields` what it owns now; both the argument and the result are in the
    version that it applies in."""
    own, at = scopes.own.api_version, last.api_version
    scope = scopes.of(at)
    assert scope is not None, "nothing is pruned in a version that is gone"
    kept: FieldSet = _METADATA
    elsewhere: dict[str, FieldSet] = {}
    for version, owned in [(own, fields), *((each.api_version, each.fields) for each in others)]:
        if scopes.alike(version, at):
            kept = union(kept, owned)
        else:
            elsewhere[version] = union(elsewhere.get(version, {}), owned)
    start = scopes.converted(
        merged, own, at, doing=f"{_PRUNE}: failed to convert merged object to last applied version"
    )
    before = with_structs(scope.kind, last.fields)
    gone = difference(before, with_structs(scope.kind, kept))
    if not gone and not elsewhere:
        return merged
    present = _all_of(scope.kind, start)
    # What is not there as it was owned (a list where a map was) is not taken away piece by piece.
    result = _without(scope.kind, start, intersection(gone, present))
    for version in sorted(elsewhere):
        result = _with_owned(scopes, at, version, start, result, elsewhere[version])
    # Counted once more: a struct in which only empty lists are left is not there either.
    gone = intersection(difference(present, _all_of(scope.kind, result)), before)
    return scopes.converted(_without(scope.kind, start, gone), at, own, doing=_PRUNE)


def _with_owned(scopes: Scopes, at: str, version: str, start: Object, result: Object, owned: FieldSet) -> Object:
    """With what somebody owns in another version put back."""
    scope = scopes.of(version)
    if scope is None:
        return result
    kind = scope.kind
    doing = f"{_PRUNE}: failed add back owned items: failed to convert"
    there = scopes.converted(start, at, version, doing=f"{doing} merged object at version {version}")
    left = scopes.converted(result, at, version, doing=f"{doing} pruned object at version {version}")
    kept = union(_all_of(kind, left), with_structs(kind, union(_METADATA, owned)))
    owned_too = _without(kind, there, difference(_all_of(kind, there), kept))
    return scopes.converted(owned_too, version, at, doing=f"{_PRUNE}: {_DANGLING}")


def _all_of(kind: FieldType, obj: Object) -> FieldSet:
    return with_structs(kind, kind.applied(obj))


def _without(kind: FieldType, obj: Object, gone: FieldSet) -> Object:
    left: Object = remove(kind, obj, gone) or {}
    return left
