"""Tolerations in sets: which of them others make needless (pkg/util/tolerations)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.types import Object

_FIELDS = ("key", "operator", "value", "effect")
_SECONDS = "tolerationSeconds"


def merged(first: Sequence[Object], second: Sequence[Object]) -> list[Object]:
    """All of both, in this order, but for those that others of them cover; of equal ones the first."""
    every, kept = [*first, *second], list[Object]()
    for index, each in enumerate(every):
        if any(covers(other, each) for other in kept):
            continue
        if not any(not _same(each, other) and covers(other, each) for other in every[index + 1 :]):
            kept.append(each)
    return kept


def permitted(tolerations: Sequence[Object], permissible: Sequence[Object]) -> bool:
    """Whether each is covered by one of those that are permissible, where any are named."""
    return not permissible or all(any(covers(wider, each) for wider in permissible) for each in tolerations)


def covers(wider: Object, other: Object) -> bool:
    """Whether one tolerates all that the other does."""
    if _same(wider, other):
        return True
    exists = wider.get("operator") == "Exists"
    if (wider.get("key") or "") != (other.get("key") or "") and (wider.get("key") or not exists):
        return False
    if wider.get("effect") and wider["effect"] != other.get("effect"):
        return False
    if wider.get("effect") == "NoExecute" and (most := wider.get(_SECONDS)) is not None:
        seconds = other.get(_SECONDS)
        if seconds is None or seconds > most:
            return False
    if wider.get("operator") in (None, "", "Equal"):  # the other must say so, and not leave it out
        return other.get("operator") == "Equal" and (other.get("value") or "") == (wider.get("value") or "")
    return exists


def _same(one: Object, other: Object) -> bool:
    alike = all((one.get(field) or "") == (other.get(field) or "") for field in _FIELDS)
    return alike and one.get(_SECONDS) == other.get(_SECONDS)
