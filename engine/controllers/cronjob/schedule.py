"""The times of a cron schedule in a time zone: pure (robfig/cron spec.go). engine.api.cron reads the schedule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from engine.api.cron import Schedule, ScheduleError, parse

# A schedule with no date in so many years has none at all (30 February).
_HORIZON = timedelta(days=5 * 366)


@dataclass(frozen=True, slots=True)
class Timetable:
    schedule: Schedule
    zone: ZoneInfo

    def next(self, after: datetime) -> datetime | None:
        """The first time later than `after`; None if there is none in the next years."""
        schedule = self.schedule
        if schedule.every:
            return after.replace(microsecond=0) + timedelta(seconds=int(schedule.every))
        local = after.astimezone(self.zone).replace(second=0, microsecond=0) + timedelta(minutes=1)
        end = local + _HORIZON
        while local < end:
            if local.month not in schedule.months:
                local = _first_of_next_month(local)
            elif not self._is_day(local):
                local = local.replace(hour=0, minute=0) + timedelta(days=1)
            elif local.hour not in schedule.hours:
                local = local.replace(minute=0) + timedelta(hours=1)
            elif local.minute not in schedule.minutes:
                local += timedelta(minutes=1)
            elif (found := local.astimezone(UTC)).astimezone(self.zone).hour == local.hour and found > after:
                return found
            else:
                local += timedelta(minutes=1)  # an hour that a change of clocks skips or repeats
        return None

    def _is_day(self, day: datetime) -> bool:
        """A day counts if month and week agree; where both are given, either will do."""
        schedule = self.schedule
        of_month, of_week = day.day in schedule.days, day.isoweekday() % 7 in schedule.weekdays
        if schedule.any_day or schedule.any_weekday:
            return of_month and of_week
        return of_month or of_week


def _first_of_next_month(day: datetime) -> datetime:
    start = day.replace(day=1, hour=0, minute=0)
    return start.replace(year=start.year + 1, month=1) if start.month == 12 else start.replace(month=start.month + 1)


class TimeZoneError(ScheduleError):
    """A time zone that nobody knows."""


def parse_schedule(text: str, zone: str | None = None) -> Timetable:
    """Raises ScheduleError, for a time zone that nobody knows TimeZoneError."""
    try:
        known = ZoneInfo(zone or "UTC")
    except (ZoneInfoNotFoundError, OSError, ValueError):
        raise TimeZoneError(f"unknown time zone {zone}") from None
    return Timetable(parse(text), known)


__all__ = ["ScheduleError", "TimeZoneError", "Timetable", "parse_schedule"]
