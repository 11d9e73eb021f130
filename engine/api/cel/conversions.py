"""Conversions, times and durations of the standard library (cel-go common/stdlib, common/types)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from engine.api.cel import types
from engine.api.cel.functions import Library
from engine.api.cel.operators import duration, timestamp, unsigned, whole
from engine.api.cel.regexes import matches
from engine.api.cel.types import BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, UINT, A
from engine.api.cel.values import Duration, EvaluationError, Timestamp, type_of
from engine.api.golang.boolean import parse_bool
from engine.api.golang.duration import parse_nanoseconds
from engine.api.golang.floats import shown_float

_TIME = re.compile(r"(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:([Zz])|([+-])(\d{2}):(\d{2}))")
_OFFSET = re.compile(r"([+-]?)(\d{1,2}):(\d{2})")


def parse_duration(text: str) -> Duration:
    """Raises ValueError."""
    return Duration(parse_nanoseconds(text))


def parse_timestamp(text: str) -> Timestamp:
    """As Go's RFC 3339. Raises ValueError."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(text)
    year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
    moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    seconds = int((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
    away = (int(match[10]) * 3600 + int(match[11]) * 60) * (-1 if match[9] == "-" else 1) if match[9] else 0
    return Timestamp((seconds - away) * 10**9 + int((match[7] or "0")[:9].ljust(9, "0")), away)


def shown_timestamp(moment: Timestamp) -> str:
    seconds, nanos = divmod(moment.nanos, 10**9)
    text = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds + moment.offset)).strftime("%Y-%m-%dT%H:%M:%S")
    text = text.rjust(19, "0")
    hours, minutes = divmod(abs(moment.offset) // 60, 60)
    zone = f"{'-' if moment.offset < 0 else '+'}{hours:02d}:{minutes:02d}" if moment.offset else "Z"
    return f"{text}{f'.{nanos:09d}'.rstrip('0') if nanos else ''}{zone}"


def shown_duration(value: Duration) -> str:
    seconds, nanos = divmod(abs(value.nanos), 10**9)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return f"{'-' if value.nanos < 0 else ''}{seconds}{fraction}s"


def conversions() -> Library:
    made = Library()
    _identities(made)
    _to_numbers(made)
    _to_texts(made)
    _times(made)
    made.add("dyn", (A,), DYN, lambda value: value, identity="to_dyn")
    made.add("type", (A,), types.type_of_type(A), type_of, identity="type")
    _strings(made)
    return made


def _identities(made: Library) -> None:
    for type_ in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, DURATION, TIMESTAMP):
        made.add(type_.kind, (type_,), type_, lambda value: value, identity=f"{type_}_to_{type_}")


def _failing(run: Callable[[Any], Any], message: Callable[[Any], str]) -> Callable[[Any], Any]:
    def attempt(value: Any) -> Any:
        try:
            return run(value)
        except (ValueError, OverflowError):
            raise EvaluationError(message(value)) from None

    return attempt


def _to_numbers(made: Library) -> None:
    def of_text(run: Callable[[str], Any], why: str) -> Callable[[Any], Any]:
        return _failing(run, lambda text: f'strconv.{why}: parsing "{text}": invalid syntax')

    made.add("int", (UINT,), INT, lambda value: whole(int(value)), identity="uint64_to_int64")
    made.add("int", (DOUBLE,), INT, _truncated, identity="double_to_int64")
    made.add("int", (STRING,), INT, of_text(_integer, "ParseInt"), identity="string_to_int64")
    made.add("int", (TIMESTAMP,), INT, lambda value: value.nanos // 10**9, identity="timestamp_to_int64")
    made.add("int", (DURATION,), INT, lambda value: value.nanos, identity="duration_to_int64")
    made.add("uint", (INT,), UINT, unsigned, identity="int64_to_uint64")
    made.add("uint", (DOUBLE,), UINT, lambda value: unsigned(_truncated(value)), identity="double_to_uint64")
    made.add("uint", (STRING,), UINT, of_text(lambda text: unsigned(_integer(text)), "ParseUint"),
             identity="string_to_uint64")  # fmt: skip
    made.add("double", (INT,), DOUBLE, float, identity="int64_to_double")
    made.add("double", (UINT,), DOUBLE, float, identity="uint64_to_double")
    made.add("double", (STRING,), DOUBLE, of_text(_double, "ParseFloat"), identity="string_to_double")
    made.add("bool", (STRING,), BOOL, of_text(parse_bool, "ParseBool"), identity="string_to_bool")


def _integer(text: str) -> int:
    if not re.fullmatch(r"[+-]?\d+", text):
        raise ValueError(text)
    value = int(text)
    if not -(2**63) <= value < 2**63:
        raise EvaluationError(f'strconv.ParseInt: parsing "{text}": value out of range')
    return value


def _double(text: str) -> float:
    if not re.fullmatch(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf(inity)?|nan))", text):
        raise ValueError(text)
    return float(text)


def _truncated(value: float) -> int:
    if value != value or not -(2.0**63) < value < 2.0**63:
        raise EvaluationError("integer overflow")
    return int(value)


def _to_texts(made: Library) -> None:
    made.add("string", (BOOL,), STRING, lambda value: "true" if value else "false", identity="bool_to_string")
    made.add("string", (INT,), STRING, lambda value: str(int(value)), identity="int64_to_string")
    made.add("string", (UINT,), STRING, lambda value: str(int(value)), identity="uint64_to_string")
    made.add("string", (DOUBLE,), STRING, shown_float, identity="double_to_string")
    made.add("string", (BYTES,), STRING, _failing(lambda value: value.decode(), lambda _: (
        "invalid UTF-8 in bytes, cannot convert to string")), identity="bytes_to_string")  # fmt: skip
    made.add("string", (TIMESTAMP,), STRING, shown_timestamp, identity="timestamp_to_string")
    made.add("string", (DURATION,), STRING, shown_duration, identity="duration_to_string")
    made.add("bytes", (STRING,), BYTES, lambda value: value.encode(), identity="string_to_bytes")
    made.add("timestamp", (STRING,), TIMESTAMP, _failing(parse_timestamp, _not_a_time), identity="string_to_timestamp")
    made.add("timestamp", (INT,), TIMESTAMP, lambda value: timestamp(value * 10**9), identity="int64_to_timestamp")
    made.add("duration", (STRING,), DURATION, _failing(parse_duration, lambda text: (
        f'time: invalid duration "{text}"')), identity="string_to_duration")  # fmt: skip
    made.add("duration", (INT,), DURATION, duration, identity="int64_to_duration")


def _not_a_time(text: str) -> str:
    form = "2006-01-02T15:04:05Z07:00"
    return f'parsing time "{text}" as "{form}": cannot parse "{text}" as "2006"'


# -- parts of times


def _zone(name: str) -> tzinfo:
    match = _OFFSET.fullmatch(name)
    if match is not None:
        away = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return timezone(-away if match[1] == "-" else away)
    try:
        return ZoneInfo(name) if name != "Local" else UTC
    except (ZoneInfoNotFoundError, ValueError):
        raise EvaluationError(f"unknown time zone {name}") from None


def _times(made: Library) -> None:
    parts: dict[str, Callable[[datetime], int]] = {
        "getFullYear": lambda moment: moment.year,
        "getMonth": lambda moment: moment.month - 1,
        "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
        "getDayOfMonth": lambda moment: moment.day - 1,
        "getDate": lambda moment: moment.day,
        "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
        "getHours": lambda moment: moment.hour,
        "getMinutes": lambda moment: moment.minute,
        "getSeconds": lambda moment: moment.second,
        "getMilliseconds": lambda moment: moment.microsecond // 1000,
    }
    for name, part in parts.items():
        made.member(name, (TIMESTAMP,), INT, lambda value, part=part: part(_calendar(value, UTC)))
        made.member(name, (TIMESTAMP, STRING), INT, lambda value, zone, part=part: part(_calendar(value, _zone(zone))))
    for name, unit in (("getHours", 3600 * 10**9), ("getMinutes", 60 * 10**9), ("getSeconds", 10**9)):
        made.member(name, (DURATION,), INT, lambda value, unit=unit: int(value.nanos / unit))
    made.member("getMilliseconds", (DURATION,), INT, lambda value: int(value.nanos / 10**6))


def _calendar(value: Timestamp, zone: tzinfo) -> datetime:
    seconds, nanos = divmod(value.nanos, 10**9)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds, microseconds=nanos // 1000)
    return moment.astimezone(zone)


def _strings(made: Library) -> None:
    made.member("startsWith", (STRING, STRING), BOOL, lambda one, other: one.startswith(other),
                identity="starts_with_string")  # fmt: skip
    made.member("endsWith", (STRING, STRING), BOOL, lambda one, other: one.endswith(other),
                identity="ends_with_string")  # fmt: skip
    made.member("contains", (STRING, STRING), BOOL, lambda one, other: other in one, identity="contains_string")
    made.add("matches", (STRING, STRING), BOOL, matches, identity="matches")
    made.member("matches", (STRING, STRING), BOOL, matches, identity="matches_string")
