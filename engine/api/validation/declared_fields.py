"""What the tags on the fields of upstream's types say, as data, of which `declared_types.py` has the types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from engine.api.validation.declared_formats import Check


class _Omitted:
    """Go leaves the field out if it is not set."""


OMITTED: Final = _Omitted()


@dataclass(frozen=True, kw_only=True)
class _Tags:
    many: bool = False  # a list, or a map
    always: bool = False  # a struct that is there even if it is empty
    pointer: bool = False  # which tells what is empty from what is not set
    required: bool = False
    immutable: bool = False
    immutable_first: bool = False  # which is told before what is required, as the tags are in this order
    kept: bool = False  # may be set and unset, but not changed (update=NoModify)
    most: int = 0
    unique: tuple[str, ...] | None = None  # the keys of a list's items; none for a set
    checks: tuple[Check, ...] = ()
    key_checks: tuple[Check, ...] = ()
    words: tuple[str, ...] = ()
    least: int | None = None
    one_item: tuple[str, ...] = ()
    zero: Any = OMITTED  # what Go writes for a field that is not set


@dataclass(frozen=True)
class Field(_Tags):
    name: str
    struct: str = ""


class Member(NamedTuple):
    """A field that is for one value of another field only; `needed` where that value cannot do without it."""

    name: str
    by: str
    value: str
    needed: bool = False


@dataclass(frozen=True)
class Struct:
    fields: tuple[Field, ...] = ()
    union: tuple[str, ...] = ()  # fields of which one is set
    members: tuple[Member, ...] = ()


def plain(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name) for name in names)


def many(name: str, struct: str = "", most: int = 0, unique: tuple[str, ...] | None = None) -> Field:
    return Field(name, struct, many=True, most=most, unique=unique)


def one(name: str, struct: str) -> Field:
    return Field(name, struct, always=True)


def pointer(name: str, struct: str) -> Field:
    return Field(name, struct, pointer=True)
