"""Cron schedules in the standard five fields, with names, steps and descriptors (robfig/cron ParseStandard).

A schedule is the sets of minutes, hours, days, months and weekdays at which it is due.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from engine.api.golang.duration import parse_duration
from engine.api.golang.integer import parse_int
from engine.api.time_zones import is_zone


class ScheduleError(ValueError):
    """Not a schedule; the message is that of robfig/cron."""


class _Bounds(NamedTuple):
    low: int
    high: int
    names: tuple[str, ...] = ()


ZONE = "TZ"  # what has this anywhere is taken to name a time zone
_ZONED = ("TZ=", "CRON_TZ=")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MINUTE, _HOUR, _DAY = _Bounds(0, 59), _Bounds(0, 23), _Bounds(1, 31)
_MONTH, _WEEKDAY = _Bounds(1, 12, _MONTHS), _Bounds(0, 6, _WEEKDAYS)
_FIELDS = (_MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY)
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@dataclass(frozen=True, slots=True)
class Schedule:
    """`every` is set for `@every DURATION`, in seconds, and then the rest is empty.

    `any_day` and `any_weekday`: the field has a star that no step thins out. Where neither has, a day counts if one
    of the two matches. A field of commas alone names nothing, and nothing is ever due then.
    """

    minutes: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    any_day: bool = False
    any_weekday: bool = False
    every: float = 0.0


def parse(text: str) -> Schedule:
    """Raises ScheduleError. Of a time zone in front of the schedule (`TZ=`) see `zone_of`."""
    if not text:
        raise ScheduleError("empty spec string")
    if text.startswith(_ZONED):
        name, text = zone_of(text), text.partition(" ")[2].strip()
        if not text or (name and not is_zone(name)):
            raise ScheduleError(f"provided bad location {name}: unknown time zone {name}")
    if text.startswith("@"):
        return _descriptor(text)
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ScheduleError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    read = [_field(field, bounds) for field, bounds in zip(fields, _FIELDS, strict=True)]
    minutes, hours, days, months, weekdays = (found for found, _ in read)
    return Schedule(minutes, hours, days, months, weekdays, any_day=read[2][1], any_weekday=read[4][1])


def zone_of(text: str) -> str:
    """The time zone in front of a schedule; "" where there is none, or where it is that of the machine."""
    if not text.startswith(_ZONED):
        return ""
    name = text.partition(" ")[0].partition("=")[2]
    return "" if name == "Local" else name


def _descriptor(text: str) -> Schedule:
    if text in _DESCRIPTORS:
        return parse(_DESCRIPTORS[text])
    if text.startswith("@every "):
        try:
            seconds = parse_duration(text.removeprefix("@every "))
        except ValueError as error:
            raise ScheduleError(f"failed to parse duration {text}: {error}") from None
        return Schedule(every=float(max(int(seconds), 1)))
    raise ScheduleError(f"unrecognized descriptor: {text}")


def _field(field: str, bounds: _Bounds) -> tuple[frozenset[int], bool]:
    """What a field names, and whether it has a star. Nothing between two commas is let be."""
    found, starred = set[int](), False
    for expression in filter(None, field.split(",")):
        numbers, star = _range(expression, bounds)
        found.update(numbers)
        starred |= star
    return frozenset(found), starred


def _range(expression: str, bounds: _Bounds) -> tuple[range, bool]:
    span, *steps = expression.split("/")
    ends = span.split("-")
    star = ends[0] in ("*", "?")
    if star:
        low, high = bounds.low, bounds.high
    else:
        low = _number(ends[0], bounds)
        if len(ends) > 2:
            raise ScheduleError(f"too many hyphens: {expression}")
        high = _number(ends[1], bounds) if len(ends) == 2 else low
    step = 1
    if len(steps) > 1:
        raise ScheduleError(f"too many slashes: {expression}")
    if steps:
        step = _integer(steps[0])
        if len(ends) == 1 and not star:
            high = bounds.high  # N/step: from N on
    _check(expression, low, high, step=step, bounds=bounds)
    return range(low, high + 1, step), star and step == 1


def _check(expression: str, low: int, high: int, *, step: int, bounds: _Bounds) -> None:
    if low < bounds.low:
        raise ScheduleError(f"beginning of range ({low}) below minimum ({bounds.low}): {expression}")
    if high > bounds.high:
        raise ScheduleError(f"end of range ({high}) above maximum ({bounds.high}): {expression}")
    if low > high:
        raise ScheduleError(f"beginning of range ({low}) beyond end of range ({high}): {expression}")
    if step == 0:
        raise ScheduleError(f"step of range should be a positive number: {expression}")


def _number(text: str, bounds: _Bounds) -> int:
    name = text.lower()
    if name in bounds.names:
        return bounds.names.index(name) + bounds.low
    return _integer(text)


def _integer(text: str) -> int:
    try:
        value = parse_int(text)
    except ValueError as error:
        problem = str(error).replace("ParseInt", "Atoi", 1)
        raise ScheduleError(f"failed to parse int from {text}: {problem}") from None
    if value < 0:
        raise ScheduleError(f"negative number ({value}) not allowed: {text}")
    return value
