"""Durations as Go reads and writes them (time, ParseDuration and Duration.String): `1m30s`, `500ms`.

Go counts nanoseconds in 64 bits. Who counts in seconds takes `parse_duration` and `duration_text`.
"""

from __future__ import annotations

import re

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,  # U+00B5, the micro sign
    "μs": 10**3,  # U+03BC, the Greek letter
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_PART = re.compile(r"(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?([^0-9.]*)")
_MAX = (1 << 63) - 1
_MOST_DIGITS = 19  # of 64 bits; Python would convert far longer ones, and then refuse to


def parse_nanoseconds(text: str) -> int:
    """Raises ValueError in Go's words."""
    body = text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return 0
    invalid = f"time: invalid duration {_quoted(text)}"
    if not body:
        raise ValueError(invalid)
    total, position = 0, 0
    while position < len(body):
        match = _PART.match(body, position)
        if match is None or len(match[1].lstrip("0")) > _MOST_DIGITS:
            raise ValueError(invalid)
        whole, fraction, unit = match[1].lstrip("0"), (match[2] or "")[:_MOST_DIGITS], match[3]
        if not unit:
            raise ValueError(f"time: missing unit in duration {_quoted(text)}")
        if unit not in _UNITS:
            raise ValueError(f"time: unknown unit {_quoted(unit)} in duration {_quoted(text)}")
        total += int(whole or 0) * _UNITS[unit] + int(fraction or 0) * _UNITS[unit] // 10 ** len(fraction)
        position = match.end()
    if total > _MAX and (total, text[0]) != (_MAX + 1, "-"):
        raise ValueError(invalid)
    return -total if text[0] == "-" else total


def parse_duration(text: str) -> float:
    """The seconds. Raises ValueError in Go's words."""
    return parse_nanoseconds(text) / 10**9


def duration_text(seconds: float) -> str:
    """A duration as Go prints it: `0s`, `1m30s`, `1h0m0s`, `1.5s`, `500ms`, `20µs`."""
    nanoseconds = round(abs(seconds) * 10**9)
    if not nanoseconds:
        return "0s"
    return f"-{_text(nanoseconds)}" if seconds < 0 else _text(nanoseconds)


def _text(nanoseconds: int) -> str:
    for unit in ("ns", "µs", "ms"):
        if nanoseconds < 1000 * _UNITS[unit]:
            return _decimal(nanoseconds, _UNITS[unit]) + unit
    minutes, rest = divmod(nanoseconds, _UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(rest, _UNITS['s'])}s"
    if hours:
        return f"{hours}h{minutes}m{text}"
    return f"{minutes}m{text}" if minutes else text


def _decimal(nanoseconds: int, unit: int) -> str:
    whole, rest = divmod(nanoseconds, unit)
    return f"{whole}.{rest:0{len(str(unit)) - 1}d}".rstrip("0") if rest else str(whole)


def _quoted(text: str) -> str:
    """As the package `time` quotes: what is not ASCII byte by byte."""
    return f'"{"".join(map(_shown, text))}"'


def _shown(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if " " <= character < "\x80":
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogatepass"))
