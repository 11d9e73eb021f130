"""Durations and ages as tables print them (apimachinery pkg/util/duration, HumanDuration)."""

from __future__ import annotations

from datetime import datetime

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24  # hours
_YEAR = 365 * _DAY


def human_duration(seconds: float) -> str:
    """About three digits of a duration: `5s`, `3m20s`, `47m`, `6h5m`, `2d3h`, `3y120d`.

    Up to two seconds in the future are taken for clocks that differ; more is `<invalid>`.
    """
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 0:
        return "0s"
    if whole < 2 * _MINUTE:
        return f"{whole}s"
    minutes, hours = whole // _MINUTE, whole // _HOUR
    if minutes < 10:
        return _pair(minutes, "m", whole % _MINUTE, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _pair(hours, "h", minutes % 60, "m")
    return _human_hours(hours)


def _human_hours(hours: int) -> str:
    if hours < 2 * _DAY:
        return f"{hours}h"
    if hours < 8 * _DAY:
        return _pair(hours // _DAY, "d", hours % _DAY, "h")
    if hours < 2 * _YEAR:
        return f"{hours // _DAY}d"
    if hours < 8 * _YEAR:
        return _pair(hours // _YEAR, "y", hours // _DAY % 365, "d")
    return f"{hours // _YEAR}y"


def _pair(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"


def parse_time(text: str) -> datetime:
    """A metav1.Time or MicroTime. Raises ValueError."""
    return datetime.fromisoformat(text)


def human_age(timestamp: str | None, now: datetime) -> str:
    """The age of a timestamp, `<unknown>` where there is none."""
    if not timestamp:
        return "<unknown>"
    return human_duration((now - parse_time(timestamp)).total_seconds())
