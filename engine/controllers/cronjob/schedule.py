"""The times of a cron schedule in a time zone: pure (robfig/cron spec.go). engine.api.cron reads the schedule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from engine.api.cron import ZONE, Schedule, ScheduleError, parse, zone_of

# A schedule with no date up to so many years after the year it is asked in has none at all (30 February).
_YEARS = 5


@dataclass(frozen=True, slots=True)
class Timetable:
    schedule: Schedule
    zone: ZoneInfo

    def next(self, after: datetime) -> datetime | None:
        """The first time later than `after`; None if there is none in the next years.

        A change of clocks is gone through as it passes: what is due in an hour that is skipped is left out for that
        day, what is due in an hour that comes twice is due twice.
        """
        schedule = self.schedule
        if schedule.every:
            return after.replace(microsecond=0) + timedelta(seconds=int(schedule.every))
        if not (schedule.minutes and schedule.hours and schedule.days and schedule.months and schedule.weekdays):
            return None
        start = after.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
        search = _Search(schedule, self.zone, start.astimezone(self.zone))
        last = search.at.year + _YEARS
        while search.at.year <= last:
            if search.month() and search.day() and search.hour() and search.minute():
                return search.at.astimezone(UTC)
        return None


class _Search:
    """A moment on its way to one that the schedule names. Each step moves `at` on until its own field fits, and is
    false where a larger field has begun anew meanwhile, so that all have to be looked at again.

    Months and days are steps of the calendar; hours and minutes are steps of time, whatever the clocks say then.
    """

    def __init__(self, schedule: Schedule, zone: ZoneInfo, at: datetime) -> None:
        self._schedule, self._zone, self.at = schedule, zone, at
        self._moved = False  # what is smaller than the field that moved is at its beginning already

    def month(self) -> bool:
        while self.at.month not in self._schedule.months:
            if self._first_move():
                self._show(self._clock().replace(day=1, hour=0, minute=0))
            shown = self._clock()
            ahead = shown.replace(year=shown.year + shown.month // 12, month=shown.month % 12 + 1, day=1)
            self._show(ahead + timedelta(days=shown.day - 1))
            if self.at.month == 1:
                return False
        return True

    def day(self) -> bool:
        while not self._is_day():
            if self._first_move():
                self._show(self._clock().replace(hour=0, minute=0))
            self._show(self._clock() + timedelta(days=1))
            if self.at.hour:  # this day has no midnight, or has it one hour before
                self._pass(hours=24 - self.at.hour if self.at.hour > 12 else -self.at.hour)
            if self.at.day == 1:
                return False
        return True

    def hour(self) -> bool:
        while self.at.hour not in self._schedule.hours:
            if self._first_move():
                self._show(self._clock().replace(minute=0))
            self._pass(hours=1)
            if self.at.hour == 0:
                return False
        return True

    def minute(self) -> bool:
        while self.at.minute not in self._schedule.minutes:
            self._moved = True
            self._pass(minutes=1)
            if self.at.minute == 0:
                return False
        return True

    def _is_day(self) -> bool:
        """A day counts if month and week agree; where both are given, either will do."""
        schedule = self._schedule
        of_month, of_week = self.at.day in schedule.days, self.at.isoweekday() % 7 in schedule.weekdays
        if schedule.any_day or schedule.any_weekday:
            return of_month and of_week
        return of_month or of_week

    def _first_move(self) -> bool:
        first, self._moved = not self._moved, True
        return first

    def _pass(self, **time: int) -> None:
        self.at = (self.at.astimezone(UTC) + timedelta(**time)).astimezone(self._zone)

    def _clock(self) -> datetime:
        """What the clocks show at the moment, as if it were UTC: that adds up without a change of clocks."""
        return self.at.replace(tzinfo=UTC, fold=0)

    def _show(self, clock: datetime) -> None:
        """Move to when the clocks show that. Of two such moments, or where there is none, it is the one that Go's
        time.Date takes: by the offset that holds as long before UTC shows that as the zone is ahead by then."""
        offset = clock.astimezone(self._zone).utcoffset()
        if offset:
            offset = (clock - offset).astimezone(self._zone).utcoffset()
        self.at = (clock - (offset or timedelta())).astimezone(self._zone)


class TimeZoneError(ScheduleError):
    """A time zone that nobody knows."""


def parse_schedule(text: str, zone: str | None = None) -> Timetable:
    """A zone in front of the schedule, which none may have any more, goes before `zone`.

    Raises ScheduleError, for a time zone that nobody knows TimeZoneError.
    """
    try:
        known = ZoneInfo(zone or "UTC")
    except (ZoneInfoNotFoundError, OSError, ValueError):
        raise TimeZoneError(f"unknown time zone {zone}") from None
    schedule = parse(text)
    return Timetable(schedule, ZoneInfo(zone_of(text) or "UTC") if ZONE in text else known)


__all__ = ["ScheduleError", "TimeZoneError", "Timetable", "parse_schedule"]
