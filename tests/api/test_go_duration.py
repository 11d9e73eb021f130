"""Durations as Go's package time reads and prints them."""

from __future__ import annotations

import pytest

from engine.api.golang.duration import duration_text, parse_duration, parse_nanoseconds

DURATIONS = {
    "0": 0,
    "-0": 0,
    "5s": 5 * 10**9,
    "+5s": 5 * 10**9,
    "-1m30s": -90 * 10**9,
    "1.h": 3600 * 10**9,
    ".5s": 500_000_000,
    "1h2m3.4s": 3_723_400_000_000,
    "1us1µs1μs": 3000,
    "0.1ns": 0,
    "0.3333333333333333333333h": 1_199_999_999_999,
    "9223372036854775807ns": (1 << 63) - 1,
    "-9223372036854775808ns": -(1 << 63),
}
NONE = {
    "": 'invalid duration ""',
    "-": 'invalid duration "-"',
    "+-0": 'invalid duration "+-0"',
    ".s": 'invalid duration ".s"',
    "soon": 'invalid duration "soon"',
    "1s soon": 'unknown unit "s soon" in duration "1s soon"',
    "3": 'missing unit in duration "3"',
    "1s3": 'missing unit in duration "1s3"',
    "3d": 'unknown unit "d" in duration "3d"',
    '1"': 'unknown unit "\\"" in duration "1\\""',
    "1日": 'unknown unit "\\xe6\\x97\\xa5" in duration "1\\xe6\\x97\\xa5"',
    "9223372036854775808ns": 'invalid duration "9223372036854775808ns"',
    "3000000h": 'invalid duration "3000000h"',
}


@pytest.mark.parametrize("text", DURATIONS)
def test_it_is_read(text: str) -> None:
    assert parse_nanoseconds(text) == DURATIONS[text]
    assert parse_duration(text) == DURATIONS[text] / 10**9


@pytest.mark.parametrize("text", NONE)
def test_it_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"^time: ") as raised:
        parse_nanoseconds(text)
    assert str(raised.value) == f"time: {NONE[text]}"


def test_more_digits_than_any_duration_has_are_none() -> None:
    with pytest.raises(ValueError, match="time: invalid duration"):
        parse_nanoseconds("1" * 5000 + "s")
    assert parse_nanoseconds("0." + "3" * 5000 + "s") == 333_333_333


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (1e-9, "1ns"),
        (2.5e-5, "25µs"),
        (0.0015, "1.5ms"),
        (0.25, "250ms"),
        (1.5, "1.5s"),
        (10, "10s"),
        (80, "1m20s"),
        (3600, "1h0m0s"),
        (90061.001, "25h1m1.001s"),
        (-90, "-1m30s"),
    ],
)
def test_it_is_printed(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
