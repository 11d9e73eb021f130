"""What a JSONPath template is made of, as client-go util/jsonpath/node.go has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


class JsonPathError(Exception):
    """A template that cannot be read, or not be followed; `found` is what had been found by then."""

    def __init__(self, message: str, found: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.found = list(found)


@dataclass(slots=True)
class Actions:
    """What stands between braces: each node goes on from what the one before it found."""

    nodes: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class Text:
    text: str


@dataclass(slots=True)
class Literal:
    """A number or a boolean."""

    value: int | float | bool


@dataclass(slots=True)
class Identifier:
    """`range` and `end`; any other is refused when it is come to."""

    name: str


@dataclass(slots=True)
class Member:
    """`.name`."""

    name: str


@dataclass(slots=True)
class Wildcard:
    """`.*`."""


@dataclass(slots=True)
class Recursive:
    """`..`."""


@dataclass(slots=True)
class Slice:
    """`[start:end:step]`; of a lone index `end` is the place behind it (`single`)."""

    start: int | None
    end: int | None
    step: int | None
    single: bool = False


@dataclass(slots=True)
class Union:
    """`[0,2]`."""

    parts: list[Actions]


@dataclass(slots=True)
class Filter:
    """`[?(@.name == "web")]`; without an operator, items that have the left side."""

    left: Actions
    right: Actions
    operator: str


Node = Actions | Text | Literal | Identifier | Member | Wildcard | Recursive | Slice | Union | Filter
