"""What controllers ask of a Pod: is it active, ready, available, terminating (pkg/api/v1/pod/util.go)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine.api.types import Object
from engine.controllers.conditions import conditions_of, find_condition


def parse_time(text: str) -> datetime:
    """A metav1.Time or MicroTime."""
    return datetime.fromisoformat(text).astimezone(UTC)


def phase(pod: Object) -> str:
    return str((pod.get("status") or {}).get("phase", ""))


def is_terminal(pod: Object) -> bool:
    return phase(pod) in ("Succeeded", "Failed")


def is_active(pod: Object) -> bool:
    """Neither over nor on its way out."""
    return not is_terminal(pod) and not pod["metadata"].get("deletionTimestamp")


def is_terminating(pod: Object) -> bool:
    """On its way out and not over yet."""
    return not is_terminal(pod) and bool(pod["metadata"].get("deletionTimestamp"))


def ready_condition(pod: Object) -> Object | None:
    return find_condition(conditions_of(pod.get("status") or {}), "Ready")


def is_ready(pod: Object | None) -> bool:
    condition = ready_condition(pod) if pod is not None else None
    return condition is not None and condition.get("status") == "True"


def ready_since(pod: Object) -> datetime | None:
    """When the Pod last became ready; None if it is not."""
    condition = ready_condition(pod)
    if condition is None or condition.get("status") != "True" or not condition.get("lastTransitionTime"):
        return None
    return parse_time(condition["lastTransitionTime"])


def is_available(pod: Object, min_ready_seconds: int, now: datetime) -> bool:
    """Ready, and for at least so long."""
    if not is_ready(pod):
        return False
    if not min_ready_seconds:
        return True
    since = ready_since(pod)
    return since is not None and since + timedelta(seconds=min_ready_seconds) <= now


def available_in(pod: Object, min_ready_seconds: int, now: datetime) -> float | None:
    """Seconds until a ready Pod becomes available; None if it is not ready or already available."""
    since = ready_since(pod)
    if since is None or not min_ready_seconds:
        return None
    left = (since + timedelta(seconds=min_ready_seconds) - now).total_seconds()
    return left if left > 0 else None
