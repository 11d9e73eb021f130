"""What the API server does to the status of a request for a certificate before it is checked.

Source: pkg/registry/certificates/certificates/strategy.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.api.types import Object

_DECISIONS = ("Approved", "Denied")


def prepare_signing_request_for_status_update(new: Object, old: Object, now: str) -> None:
    """An update of the status cannot change what was decided: only the approval can."""
    _keep_conditions(new, old, _DECISIONS)
    set_condition_times(new, old, now)


def set_condition_times(new: Object, old: Object, now: str) -> None:
    """Whoever sets a condition need not say when; one that was there with that status keeps its time."""
    conditions = _conditions(new)
    if not conditions:
        return
    new["status"] = {**new["status"], "conditions": [dict(condition) for condition in conditions]}
    for condition in new["status"]["conditions"]:
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
        if not condition.get("lastTransitionTime"):
            condition["lastTransitionTime"] = next(_times(condition, _conditions(old)), now)


def _times(condition: Object, before: Iterable[Object]) -> Iterator[str]:
    for each in before:
        if all(each.get(field) == condition.get(field) for field in ("type", "status")) and (
            time := each.get("lastTransitionTime")
        ):
            yield time


def _keep_conditions(new: Object, old: Object, kinds: Iterable[str]) -> None:
    """Takes the old conditions of some kinds, unless there are more or fewer of them now: that is refused later."""
    for kind in kinds:
        before = [each for each in _conditions(old) if each.get("type") == kind]
        places = [place for place, each in enumerate(_conditions(new)) if each.get("type") == kind]
        if before and len(before) == len(places):
            conditions = list(_conditions(new))
            for place, each in zip(places, before, strict=True):
                conditions[place] = each
            new["status"] = {**new["status"], "conditions": conditions}


def _conditions(obj: Object) -> list[Object]:
    return (obj.get("status") or {}).get("conditions") or []
