"""Times and durations of the standard library: their texts, and the parts of a time in a zone (cel-go common/types
timestamp.go and duration.go). What a zone makes of the first and last days may lie in the years 0 and 10000.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from engine.api.cel.functions import Library
from engine.api.cel.operators import timestamp
from engine.api.cel.types import DURATION, INT, STRING, TIMESTAMP
from engine.api.cel.values import Duration, EvaluationError, Timestamp
from engine.api.golang.duration import parse_nanoseconds
from engine.api.golang.integer import parse_int
from engine.api.golang.time import instant

_SECOND, _DAY = 10**9, 24 * 3600
# The calendar is the same again after 400 years.
_CYCLE, _CYCLE_YEARS = 146097, 400
_EPOCH = date(1970, 1, 1).toordinal() - 1
# Between these the zones of the database can be asked.
_FIRST_ASKED, _LAST_ASKED = -62135510400, 253402214400


def parse_duration(text: str) -> Duration:
    """Raises ValueError."""
    return Duration(parse_nanoseconds(text))


def parse_timestamp(text: str) -> Timestamp:
    """As Go's RFC 3339. Raises ValueError; EvaluationError for what is before the year 1 or after 9999."""
    return timestamp(*instant(text))


def shown_timestamp(moment: Timestamp) -> str:
    local = _Local.of(moment, moment.offset)
    hours, minutes = divmod(abs(moment.offset) // 60, 60)
    zone = f"{'-' if moment.offset < 0 else '+'}{hours:02d}:{minutes:02d}" if moment.offset else "Z"
    fraction = f".{local.nanosecond:09d}".rstrip("0") if local.nanosecond else ""
    day = f"{local.year:04d}-{local.day.month:02d}-{local.day.day:02d}"
    return f"{day}T{local.hour:02d}:{local.minute:02d}:{local.second:02d}{fraction}{zone}"


def shown_duration(value: Duration) -> str:
    """The seconds as a float: of more than a hundred days no nanoseconds are shown."""
    seconds, nanos = divmod(abs(value.nanos), _SECOND)
    text = f"{Decimal(repr(seconds + nanos / _SECOND)):f}".removesuffix(".0")
    return f"{'-' if value.nanos < 0 else ''}{text}s"


@dataclass(frozen=True, slots=True)
class _Local:
    """A time on the clocks of a zone. `day` is the day of the year in a cycle that Python's dates have."""

    year: int
    day: date
    seconds: int
    nanosecond: int

    @classmethod
    def of(cls, moment: Timestamp, offset: int) -> _Local:
        seconds, nanos = divmod(moment.nanos, _SECOND)
        days, seconds = divmod(seconds + offset, _DAY)
        cycles, days = divmod(days + _EPOCH, _CYCLE)
        day = date.fromordinal(days + 1)
        return cls(day.year + cycles * _CYCLE_YEARS, day, seconds, nanos)

    @property
    def hour(self) -> int:
        return self.seconds // 3600

    @property
    def minute(self) -> int:
        return self.seconds // 60 % 60

    @property
    def second(self) -> int:
        return self.seconds % 60


_PARTS: dict[str, Callable[[_Local], int]] = {
    "getFullYear": lambda local: local.year,
    "getMonth": lambda local: local.day.month - 1,
    "getDayOfYear": lambda local: local.day.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda local: local.day.day - 1,
    "getDate": lambda local: local.day.day,
    "getDayOfWeek": lambda local: local.day.isoweekday() % 7,
    "getHours": lambda local: local.hour,
    "getMinutes": lambda local: local.minute,
    "getSeconds": lambda local: local.second,
    "getMilliseconds": lambda local: local.nanosecond // 10**6,
}


def _offset(moment: Timestamp, zone: str) -> int:
    """How many seconds a zone is ahead: one by name, or hours and minutes, of which any number is taken."""
    hours, colon, minutes = zone.partition(":")
    if colon:
        try:
            away, more = parse_int(hours) * 3600, parse_int(minutes) * 60
        except ValueError as error:
            raise EvaluationError(str(error).replace("ParseInt", "Atoi")) from None
        return away - more if zone.startswith("-") else away + more
    asked = min(max(moment.nanos // _SECOND, _FIRST_ASKED), _LAST_ASKED)
    found = datetime.fromtimestamp(asked, UTC).astimezone(_named(zone)).utcoffset()
    return int(found.total_seconds()) if found is not None else 0


def _named(zone: str) -> ZoneInfo:
    try:
        return ZoneInfo("UTC" if zone in ("", "Local") else zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise EvaluationError(f"unknown time zone {zone}") from None


def times() -> Library:
    made = Library()
    for name, part in _PARTS.items():
        made.member(name, (TIMESTAMP,), INT, lambda value, part=part: part(_Local.of(value, 0)))
        made.member(name, (TIMESTAMP, STRING), INT, lambda value, zone, part=part: (
            part(_Local.of(value, _offset(value, zone)))))  # fmt: skip
    for name, unit in (("getHours", 3600 * _SECOND), ("getMinutes", 60 * _SECOND), ("getSeconds", _SECOND)):
        made.member(name, (DURATION,), INT, lambda value, unit=unit: int(value.nanos / unit))
    made.member("getMilliseconds", (DURATION,), INT, lambda value: int(value.nanos / 10**6))
    return made
