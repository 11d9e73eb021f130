"""Declarative validation: what the tags on fields of upstream's types say, checked after the rules written by hand.

Since 1.37 the tags are enforced (`+k8s:beta`, gate DeclarativeValidationBeta): an error that they cover is no longer
told by the rules written by hand, but here, last, in the order of the fields, and partly in other words. The tags never
find more than the rules do, so they are looked at only where those have found something that is covered. What an update
leaves as it was is not looked at again.

Sources: apiserver pkg/registry/rest/validate.go, apimachinery pkg/api/validate, the validations that validation-gen
makes (zz_generated.validations.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from engine.api.errors import Cause
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.api.validation.declared_fields import OMITTED, Field, Member, Struct
from engine.api.validation.declared_types import KINDS, STRUCTS
from engine.api.validation.problems import IMMUTABLE, Problems
from engine.api.validation.repeats import repeated

_SINCE = (1, 37)
_KEPT = "field cannot be modified once set"
_INVALID, _TOO_LONG, _TOO_MANY = "FieldValueInvalid", "FieldValueTooLong", "FieldValueTooMany"
_FORBIDDEN = "FieldValueForbidden"
_REQUIRED, _NOT_SUPPORTED, _DUPLICATE = "FieldValueRequired", "FieldValueNotSupported", "FieldValueDuplicate"


def declaratively(info: ResourceInfo, new: Object, old: Object | None, problems: Problems) -> Problems:
    """The problems of an object with those of its tags instead of the ones that these cover."""
    root = KINDS.get((info.gvr.group, info.kind))
    if not problems or root is None or info.release < _SINCE:
        return problems
    covered = _covered(root)
    left = [cause for cause in problems if not _is_covered(cause, covered)]
    if len(left) == len(problems):
        return problems
    told = Problems()
    told.warned = problems.warned
    told += left
    _struct(STRUCTS[root], new, old, "", told)
    return told


def _is_covered(cause: Cause, covered: Mapping[str, Sequence[_Covered]]) -> bool:
    return any(
        cause.message.endswith(each.ending) and each.path.fullmatch(cause.field)
        for each in covered.get(cause.reason, ())
    )


# -- which errors of the rules written by hand are covered


class _Covered(NamedTuple):
    path: re.Pattern[str]
    ending: str  # of the words, where others may be told of the same field for the same reason


@lru_cache(maxsize=32)
def _covered(root: str) -> Mapping[str, Sequence[_Covered]]:
    """Covered errors by their reason."""
    found: dict[str, list[_Covered]] = {}
    for path, reason, ending in dict.fromkeys(_covered_by(STRUCTS[root], "")):
        found.setdefault(reason, []).append(_Covered(re.compile(path), ending))
    return found


def _covered_by(struct: Struct, path: str) -> Iterator[tuple[str, str, str]]:
    if struct.union:
        yield path, _INVALID, "exactly one value must be specified"
    for member in struct.members:
        at = rf"{path}[.]{member.name}"
        yield at, _FORBIDDEN, ""
        yield at, _REQUIRED, ""
    for field in struct.fields:
        at = f"{path}{r'[.]' if path else ''}{field.name}"
        each = rf"{at}\[[^]]*\]" if field.many else at
        yield from ((at, reason, ending) for reason, ending in _covered_of(field))
        if field.unique is not None:
            yield each, _DUPLICATE, ""
        if field.struct:
            yield from _covered_by(STRUCTS[field.struct], each)


def _covered_of(field: Field) -> Iterator[tuple[str, str]]:
    if field.required or field.words:
        yield _REQUIRED, ""
    if field.most:
        yield _TOO_MANY, ""
    if field.words:
        yield _NOT_SUPPORTED, ""
    if field.immutable or field.kept:
        yield _INVALID, IMMUTABLE
    if field.one_item:
        yield _INVALID, "are mutually exclusive"
    if field.least is not None:
        yield _INVALID, _at_least(field.least)
    if field.checks or field.key_checks:
        yield _INVALID, ""
        yield _TOO_LONG, ""


def _at_least(least: int) -> str:
    return f"must be greater than or equal to {least}"


# -- the tags themselves


def _struct(struct: Struct, obj: Object, old: Object | None, path: str, problems: Problems) -> None:
    if struct.union:
        _union(struct, obj, old, path, problems)
    for member in struct.members:
        _member(member, obj, old, path, problems)
    for field in struct.fields:
        _field(field, obj, old, f"{path}.{field.name}" if path else field.name, problems)


def _union(struct: Struct, obj: Object, old: Object | None, path: str, problems: Problems) -> None:
    given, before = ([name for name in struct.union if (each or {}).get(name) is not None] for each in (obj, old))
    if old is not None and given == before:
        return
    members = ", ".join(f"`{name}`" for name in struct.union)
    if len(given) > 1:
        problems.invalid(path, f"{{{', '.join(given)}}}", f"must specify exactly one of: {members}")
    elif not given:
        problems.invalid(path, "", f"must specify one of: {members}")


def _member(member: Member, obj: Object, old: Object | None, path: str, problems: Problems) -> None:
    value, by = obj.get(member.name), obj.get(member.by)
    if old is not None and (value, by) == (old.get(member.name), old.get(member.by)):
        return
    if by != member.value and value is not None:
        problems.forbidden(f"{path}.{member.name}")
    elif by == member.value and value is None and member.needed:
        problems.required(f"{path}.{member.name}")


def _field(field: Field, obj: Object, old: Object | None, path: str, problems: Problems) -> None:
    value: Any = obj.get(field.name)
    before: Any = None if old is None else old.get(field.name)
    if old is not None and (value == before if field.pointer else (value or None) == (before or None)):
        return
    if _cannot_go_on(field, value, before, path, problems, updated=old is not None):
        return
    _told_of(field, value, before, path, problems)
    if field.many:
        _items(field, value, before or (), path, problems)
    elif field.struct:
        was = before or {} if field.always and old is not None else before
        _struct(STRUCTS[field.struct], value or {}, was, path, problems)


def _told_of(field: Field, value: Any, before: Any, path: str, problems: Problems) -> None:
    """What the tags say of the value itself."""
    for check in field.checks:
        check(value, path, problems)
    if field.words and value not in field.words:
        problems.not_supported(path, value, field.words)
    if field.least is not None and value < field.least:
        problems.invalid(path, value, _at_least(field.least))
    if field.key_checks:
        for key in (key for key in value if key not in (before or {})):
            for check in field.key_checks:
                check(key, path, problems)
    if field.one_item:
        _one_item(field.one_item, value, before, path, problems)


def _cannot_go_on(field: Field, value: Any, before: Any, path: str, problems: Problems, *, updated: bool) -> bool:
    """Where a field is not as it has to be, or not there, nothing else is told of it."""
    absent = value is None if field.pointer else not value
    known = len(problems)
    unchangeable = field.immutable and updated
    if unchangeable and field.immutable_first:
        problems.invalid(path, None, IMMUTABLE)
    if field.required and absent:
        problems.required(path)
    if unchangeable and not field.immutable_first:
        problems.invalid(path, None, IMMUTABLE)
    if field.kept and before and value:
        problems.invalid(path, None, _KEPT)
    if field.most and len(value or ()) > field.most:
        problems.too_many(path, len(value), field.most)
    return len(problems) > known or (absent and not field.always)


def _one_item(kinds: tuple[str, ...], value: Sequence[Object], before: Any, path: str, problems: Problems) -> None:
    """Of these types a list has at most one condition."""
    given, had = (
        [kind for kind in kinds if any(each.get("type") == kind for each in found or ())] for found in (value, before)
    )
    if len(given) > 1 and (before is None or given != had):
        names = {kind: f'conditions[{{"type": "{kind}"}}]' for kind in kinds}
        members = ", ".join(f"`{name}`" for name in names.values())
        shown = ", ".join(names[kind] for kind in given)
        problems.invalid(path, f"{{{shown}}}", f"must specify at most one of: {members}")


def _items(field: Field, found: Any, before: Any, path: str, problems: Problems) -> None:
    if isinstance(found, dict):
        for key, item in found.items():
            _item(field, item, (before or {}).get(key), f"{path}[{key}]", problems)
        return
    twins = set() if field.unique is None else repeated(_key(field, item) for item in found)
    for index, item in enumerate(found):
        if index in twins:
            problems.duplicate(f"{path}[{index}]", _shown(field, item))
    if field.struct:
        known = {_key(field, item): item for item in reversed(before)} if field.unique else {}
        for index, item in enumerate(found):
            _item(field, item, known.get(_key(field, item)) if field.unique else None, f"{path}[{index}]", problems)


def _item(field: Field, item: Any, before: Any, path: str, problems: Problems) -> None:
    if before is None or item != before:
        _struct(STRUCTS[field.struct], item, before, path, problems)


def _key(field: Field, item: Any) -> Any:
    return tuple(item.get(name) for name in field.unique) if field.unique else item


def _shown(field: Field, item: Any) -> Any:
    return _in_order(STRUCTS[field.struct], item) if field.struct else item


def _in_order(struct: Struct, value: Object) -> Object:
    """As encoding/json writes the published type: fields in the order of their declaration, few of them if not set."""
    shown: Object = {}
    for field in struct.fields:
        found = value.get(field.name, field.zero)
        if found is OMITTED:
            continue
        below = STRUCTS.get(field.struct)
        if below is not None and found is not None:
            found = [_in_order(below, each) for each in found] if field.many else _in_order(below, found)
        shown[field.name] = found
    return shown
