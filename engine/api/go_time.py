"""Times as Go's decoder reads them: RFC 3339 in, UTC out, and the words of time.ParseError on failure.

Source of the behaviour: Go's time.Parse and apimachinery meta/v1 Time and MicroTime.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

SECONDS_LAYOUT = "2006-01-02T15:04:05Z07:00"
MICROS_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"

_ELEMENTS = re.compile(r"2006|01|02|15|04|05|\.000000|Z07:00|.")
_PATTERNS = {
    "2006": re.compile(r"\d{4}"),
    "01": re.compile(r"\d{2}"),
    "02": re.compile(r"\d{2}"),
    "15": re.compile(r"\d{1,2}"),
    "04": re.compile(r"\d{2}"),
    "05": re.compile(r"\d{2}(?:[.,]\d+)?"),
    ".000000": re.compile(r"[.,]\d{6}"),
    "Z07:00": re.compile(r"Z|[+-]\d{2}:\d{2}"),
}
_RANGES = {"01": (1, 12, "month"), "02": (1, 31, "day"), "15": (0, 23, "hour"), "04": (0, 59, "minute")}
_RFC3339 = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})")


class TimeError(ValueError):
    """Not a time; the message is Go's."""


def seconds(text: str) -> str:
    """The time in UTC with whole seconds, as metav1.Time writes it. Raises TimeError."""
    return _moment(text, SECONDS_LAYOUT).strftime("%Y-%m-%dT%H:%M:%SZ")


def micros(text: str) -> str:
    """The time in UTC with microseconds, as metav1.MicroTime writes it. Raises TimeError."""
    return _moment(text, MICROS_LAYOUT).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _moment(text: str, layout: str) -> datetime:
    match = _RFC3339.fullmatch(text)
    if match is None or (layout == MICROS_LAYOUT and len(match[2] or "") != 7):
        raise TimeError(_explain(text, layout))
    fraction = f"{(match[2] or '')[:7]:0<7}" if match[2] else ""
    try:
        return datetime.fromisoformat(f"{match[1]}{fraction}{match[3]}").astimezone(UTC)
    except (ValueError, OverflowError):
        raise TimeError(_explain(text, layout)) from None


def _explain(text: str, layout: str) -> str:
    """Which element of the layout the text fails at."""
    rest = text
    for element in _ELEMENTS.findall(layout):
        pattern = _PATTERNS.get(element)
        match = pattern.match(rest) if pattern else re.match(re.escape(element), rest)
        if match is None:
            return f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{element}"'
        if element in _RANGES:
            low, high, name = _RANGES[element]
            if not low <= int(match[0]) <= high:
                return f'parsing time "{text}": {name} out of range'
        rest = rest[match.end() :]
    if rest:
        return f'parsing time "{text}": extra text: "{rest}"'
    return f'parsing time "{text}": day out of range'
