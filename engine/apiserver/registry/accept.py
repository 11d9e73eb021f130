"""Accept headers as goautoneg reads them, which negotiates for upstream: what it does not understand of a clause it
lets be, and its order is none where one clause is liked better and the other is narrower."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple


class Clause(NamedTuple):
    media_type: str
    parameters: dict[str, str]


class _Liked(NamedTuple):
    quality: float
    kind: str
    subtype: str
    parameters: dict[str, str]

    def precedes(self, other: _Liked) -> bool:
        return (
            self.quality > other.quality
            or (self.kind != "*" and other.kind == "*")
            or (self.subtype != "*" and other.subtype == "*")
        )


@lru_cache(maxsize=1024)
def accepted_clauses(header: str) -> tuple[Clause, ...]:
    """Media types with their parameters, what the client likes best first."""
    liked: list[_Liked] = []
    for text in header.split(","):
        if (clause := _read(text.strip(" "))) is None:
            continue
        # An insertion sort, as Go sorts what is short: which is first matters where each precedes the other.
        place = len(liked)
        while place and clause.precedes(liked[place - 1]):
            place -= 1
        liked.insert(place, clause)
    return tuple(Clause(f"{each.kind}/{each.subtype}", each.parameters) for each in liked)


def _read(text: str) -> _Liked | None:
    """None for what is no media type."""
    media_type, *pieces = text.split(";")
    kind, slash, subtype = media_type.partition("/")
    kind, subtype = kind.strip(" "), subtype.removesuffix("/")
    if not slash or not subtype:
        if kind != "*":
            return None
        subtype = "*"
    if "/" in subtype:
        return None
    quality, parameters = 1.0, dict[str, str]()
    for piece in pieces:
        name, _, value = piece.partition("=")
        value, again, more = value.partition("=")
        if (not value and not again) or more:
            continue
        if name.strip(" ") == "q":
            quality = _quality(value)
        else:
            parameters[name.strip(" ")] = value.strip(" ")
    return _Liked(quality, kind, subtype.strip(" "), parameters)


def _quality(text: str) -> float:
    """What is no number is liked least."""
    try:
        return float(text) if text == text.strip() and "_" not in text else 0.0
    except ValueError:
        return 0.0
