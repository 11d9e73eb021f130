"""Kinds whose versions differ in more than their name: Events of two groups, autoscalers of two versions.

Source: pkg/apis/core and pkg/apis/events (one internal Event behind both). The results share with their sources what is
the same, and are frozen as those are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from engine.api import autoscaler_versions
from engine.api.field_numbers import field_names
from engine.api.types import GVK, Object

Convert = Callable[[Object], Object]

_CORE_EVENT, _NEW_EVENT = GVK("", "v1", "Event"), GVK("events.k8s.io", "v1", "Event")
_SCALER = GVK("autoscaling", "v2", "HorizontalPodAutoscaler")
_OLD_SCALER = _SCALER._replace(version="v1")

# A core event's field -> the same of events.k8s.io.
_EVENT_FIELDS = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_LEFT_OUT = ("reportingController", "reportingInstance")


def _renamed(fields: Mapping[str, str], message: str) -> Convert:
    """Fields by other names, in the order of the struct that has them."""

    def convert(obj: Object) -> Object:
        made = {fields.get(name, name): value for name, value in obj.items()}
        return {name: made[name] for name in dict.fromkeys((*_order(message), *made)) if name in made}

    return convert


@cache
def _order(message: str) -> tuple[str, ...]:
    return "kind", "apiVersion", *field_names(message)


def _new_event(event: Object) -> Object:
    """Who reports, which a core event says in any case, is left out where it is nobody (`omitempty`)."""
    renamed = _RENAMED(event)
    return {name: value for name, value in renamed.items() if value != "" or name not in _LEFT_OUT}


_RENAMED = _renamed(_EVENT_FIELDS, "events.v1.Event")


# (from, to) -> what makes the one of the other; apiVersion and kind are set by the caller.
CONVERSIONS: Mapping[tuple[GVK, GVK], Convert] = {
    (_CORE_EVENT, _NEW_EVENT): _new_event,
    (_NEW_EVENT, _CORE_EVENT): _renamed({new: old for old, new in _EVENT_FIELDS.items()}, "core.v1.Event"),
    (_SCALER, _OLD_SCALER): autoscaler_versions.to_v1,
    (_OLD_SCALER, _SCALER): autoscaler_versions.to_v2,
}
