"""Events, of the core group and of events.k8s.io, which are one kind (core validation, events.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.go_values import internal
from engine.api.validation.problems import IMMUTABLE, Problems

_DOES_NOT_MATCH = "does not match event.namespace"
_LIMITS = {"reportingInstance": 128, "action": 128, "reason": 128}
_NOTE_LIMIT = 1024
# What events.k8s.io calls otherwise, by the names that the errors have.
_NEW_NAMES: Mapping[str, str] = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
_IMMUTABLE = (
    *("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "reason", "type"),
    *("eventTime", "action", "related", "reportingController", "reportingInstance"),
)
_STRUCTS: Mapping[str, str] = {"involvedObject": "ObjectReference", "source": "EventSource"}
# What an error shows for a field that is gone: no pointer, so no null. Times are.
_ZERO: Mapping[str, object] = {
    **dict.fromkeys(("reason", "message", "type", "action", "reportingController", "reportingInstance"), ""),
    "count": 0,
}


def event(obj: Object, problems: Problems) -> None:
    """Of the core group, for old clients not much is checked."""
    _legacy(obj, problems, names={}, controller="reportingComponent")


def event_as_of_old(obj: Object, problems: Problems) -> None:
    """Of events.k8s.io, what is asked of old events too, which is before the metadata."""
    _legacy(obj, problems, names=_NEW_NAMES, controller="reportingController")


def new_event(obj: Object, problems: Problems) -> None:
    _series(obj, problems)
    if not obj.get("eventTime"):
        problems.required("eventTime")
    if obj.get("type") not in ("Normal", "Warning"):
        problems.invalid("type", "", f"has invalid value: {obj.get('type', '')}")
    for field in ("firstTimestamp", "lastTimestamp", "count", "source"):
        if obj.get(_NEW_NAMES[field]):
            problems.invalid(field, "", "needs to be unset")


def new_event_update(new: Object, old: Object, problems: Problems) -> None:
    if new.get("series") != old.get("series"):
        _series(new, problems)
    for field in _IMMUTABLE:
        name = _NEW_NAMES.get(field, field)
        after, before = new.get(name), old.get(name)
        same = after == before if field == "related" else (after or None) == (before or None)
        if not same:
            problems.invalid(field, _shown(field, after), IMMUTABLE)


def _shown(field: str, value: Any) -> Any:
    if field in _STRUCTS:
        return internal(_STRUCTS[field], value or {})
    if field == "related":  # a pointer: one to nothing at all is another than none
        return None if value is None else internal("ObjectReference", value)
    return _ZERO.get(field) if value is None else value


def _series(obj: Object, problems: Problems) -> None:
    series = obj.get("series")
    if series is not None:
        if series.get("count", 0) < 2:
            problems.invalid("series.count", "", "should be at least 2")
        if not series.get("lastObservedTime"):
            problems.required("series.lastObservedTime")


def _legacy(obj: Object, problems: Problems, *, names: Mapping[str, str], controller: str) -> None:
    own = obj.get("metadata", {}).get("namespace", "")
    involved = obj.get(names.get("involvedObject", "involvedObject"), {}).get("namespace", "")
    if not obj.get("eventTime"):
        if involved != own and (involved or own not in ("", "default")):
            problems.invalid("involvedObject.namespace", involved, _DOES_NOT_MATCH)
    else:
        if not involved and own not in ("default", "kube-system"):
            problems.invalid("involvedObject.namespace", involved, _DOES_NOT_MATCH)
        _reported(obj, problems, note=names.get("message", "message"), controller=controller)
    problems.all_invalid("namespace", own, text.dns_subdomain(own))


def _reported(obj: Object, problems: Problems, *, note: str, controller: str) -> None:
    name = obj.get(controller, "")
    if not name:
        problems.required(controller)
    problems.all_invalid(controller, name, text.qualified_name(name))
    for field, limit in _LIMITS.items():
        value = obj.get(field, "")
        if not value:
            problems.required(field)
        if len(value.encode()) > limit:
            problems.invalid(field, "", f"can have at most {limit} characters")
    if len(obj.get(note, "").encode()) > _NOTE_LIMIT:
        problems.invalid("message", "", f"can have at most {_NOTE_LIMIT} characters")
