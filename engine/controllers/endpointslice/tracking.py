"""What the controller remembers between syncs: the slices it wrote, and when what they show began
(endpointslice util/endpointslice_tracker.go, trigger_time_tracker.go)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine.api.types import Object
from engine.client.origin import revision_of
from engine.controllers.pods import parse_time, ready_condition

_DELETED = -1


class SliceTracker:
    """The revision of each slice as this controller last wrote it, by Service: tells its own changes from others' and
    a cache that lags behind from one that does not."""

    def __init__(self) -> None:
        self._written: dict[str, dict[str, int]] = {}

    def wrote(self, service: str, each: Object) -> None:
        self._written.setdefault(service, {})[each["metadata"]["uid"]] = revision_of(each)

    def deleted(self, service: str, each: Object) -> None:
        self._written.setdefault(service, {})[each["metadata"]["uid"]] = _DELETED

    def is_news(self, service: str, each: Object) -> bool:
        """Whether somebody else made this version of a slice."""
        known = self._written.get(service, {}).get(each["metadata"]["uid"])
        return known is None or revision_of(each) > known

    def is_unexpected_deletion(self, service: str, each: Object) -> bool:
        """Note that a slice is gone; says whether somebody else deleted it."""
        known = self._written.get(service, {}).pop(each["metadata"]["uid"], None)
        return known is not None and known != _DELETED

    def is_stale(self, service: str, slices: Sequence[Object]) -> bool:
        """Whether the cache does not yet show what was written."""
        written = self._written.get(service, {})
        shown = {each["metadata"]["uid"]: revision_of(each) for each in slices}
        return any(
            (uid in shown if revision == _DELETED else shown.get(uid, 0) < revision)
            for uid, revision in written.items()
        )

    def forget(self, service: str) -> None:
        self._written.pop(service, None)


class TriggerTimes:
    """When the oldest change that a sync takes up happened: the annotation that network latency is measured by."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, datetime]] = {}

    def compute(self, key: str, service: Object, pods: Sequence[Object]) -> datetime | None:
        """The earliest trigger that is newer than at the last sync; None if there is none."""
        before = self._seen.get(key, {})
        now = {f"pod/{pod['metadata']['name']}": time for pod in pods if (time := _pod_time(pod)) is not None}
        if created := service["metadata"].get("creationTimestamp"):
            now["service"] = parse_time(created)
        self._seen[key] = now
        changed = [time for name, time in now.items() if name not in before or time > before[name]]
        return min(changed, default=None)

    def forget(self, key: str) -> None:
        self._seen.pop(key, None)


def _pod_time(pod: Object) -> datetime | None:
    condition = ready_condition(pod)
    time = condition.get("lastTransitionTime") if condition is not None else None
    return parse_time(time) if time else None
