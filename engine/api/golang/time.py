"""Times as Go's decoder reads them: RFC 3339 in, UTC out, and the words of time.ParseError on failure.

Source of the behaviour: Go's time.Parse and apimachinery meta/v1 Time and MicroTime.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

SECONDS_LAYOUT = "2006-01-02T15:04:05Z07:00"
MICROS_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"

_ELEMENTS = re.compile(r"2006|01|02|15|04|05|\.000000|Z07:00|.")
_PATTERNS = {
    "2006": re.compile(r"[0-9]{4}"),
    "01": re.compile(r"[0-9]{2}"),
    "02": re.compile(r"[0-9]{2}"),
    "15": re.compile(r"[0-9]{1,2}"),
    "04": re.compile(r"[0-9]{2}"),
    "05": re.compile(r"[0-9]{2}"),
    ".000000": re.compile(r"[.,][0-9]{6}"),
    "Z07:00": re.compile(r"Z|[+-][0-9]{2}:[0-9]{2}"),
}
# The day is looked at when all else is read.
_RANGES = {"01": (1, 12, "month"), "15": (0, 23, "hour"), "04": (0, 59, "minute"), "05": (0, 59, "second")}
_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE_SECONDS = 146097 * 24 * 3600  # of 400 years


class TimeError(ValueError):
    """Not a time; the message is Go's."""


@lru_cache(maxsize=4096)  # an object that is written again brings the times that it had
def seconds(text: str) -> str:
    """The time in UTC with whole seconds, as metav1.Time writes it. Raises TimeError."""
    return _moment(text, SECONDS_LAYOUT, "%m-%dT%H:%M:%SZ")


@lru_cache(maxsize=4096)
def micros(text: str) -> str:
    """The time in UTC with microseconds, as metav1.MicroTime writes it. Raises TimeError."""
    return _moment(text, MICROS_LAYOUT, "%m-%dT%H:%M:%S.%fZ")


def instant(text: str) -> tuple[int, int]:
    """The nanoseconds since 1970, and how many seconds its zone is ahead. Raises TimeError."""
    local, beyond, away, fraction = _read(text, SECONDS_LAYOUT)
    since = (local - away - _EPOCH) // timedelta(seconds=1) + beyond // 400 * _CYCLE_SECONDS
    return since * 10**9 + int(f"{fraction:0<9}"[:9]), away // timedelta(seconds=1)


def _moment(text: str, layout: str, form: str) -> str:
    local, beyond, away, fraction = _read(text, layout)
    moment = local - away
    year = moment.year + beyond
    rest = moment.replace(microsecond=int(f"{fraction:0<6}"[:6])).strftime(form)
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{rest}"


def _read(text: str, layout: str) -> tuple[datetime, int, timedelta, str]:
    """The local time in years that Python has, how many it really is beyond them, its zone's offset and the fraction
    of its seconds."""
    match = _RFC3339.fullmatch(text)
    if match is None or (layout == MICROS_LAYOUT and len(match[7] or "") != 6):
        raise TimeError(_explain(text, layout))
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    offset = timedelta(hours=int(match[9] or 0), minutes=int(match[10] or 0))
    if offset_range := _offset_range(match[9], match[10]):
        raise TimeError(f"parsing time {_quoted(text)}: {offset_range} out of range")
    # Go goes beyond the years that Python has; all is the same again after 400 of them.
    shown = year % 400 + 2000
    try:
        local = datetime(shown, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        raise TimeError(_explain(text, layout)) from None
    return local, year - shown, -offset if match[8] == "-" else offset, match[7] or ""


def _offset_range(hours: str | None, minutes: str | None) -> str:
    """What is out of range of a zone; Go lets whole days and hours pass."""
    if int(hours or 0) > 24:
        return "time zone offset hour"
    return "time zone offset minute" if int(minutes or 0) > 60 else ""


def _explain(text: str, layout: str) -> str:
    """Which element of the layout the text fails at."""
    rest = text
    for element in _ELEMENTS.findall(layout):
        pattern = _PATTERNS.get(element)
        match = pattern.match(rest) if pattern else re.match(re.escape(element), rest)
        if match is None:
            return f'parsing time {_quoted(text)} as "{layout}": cannot parse {_quoted(rest)} as "{element}"'
        if element in _RANGES:
            low, high, name = _RANGES[element]
            if not low <= int(match[0]) <= high:
                return f"parsing time {_quoted(text)}: {name} out of range"
        rest = rest[match.end() :]
        if element == "05" and layout == SECONDS_LAYOUT:
            rest = re.sub(r"^[.,][0-9]+", "", rest)
    if rest:
        return f"parsing time {_quoted(text)}: extra text: {_quoted(rest)}"
    return f"parsing time {_quoted(text)}: day out of range"


def _quoted(text: str) -> str:
    """In quotes, with all that is not ASCII by its bytes, as package time has it."""
    shown = "".join(
        f"\\{chr(byte)}" if chr(byte) in '"\\' else chr(byte) if 0x20 <= byte < 0x80 else f"\\x{byte:02x}"
        for byte in text.encode()
    )
    return f'"{shown}"'
