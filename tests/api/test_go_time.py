"""Times as Go reads them: what it takes, and its words for what it does not, as read off the real kubectl."""

from __future__ import annotations

import pytest

from engine.api.golang.time import TimeError, micros, seconds


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-01-02T03:04:05.1234567891Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05,5Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T3:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+24:00", "2026-01-01T03:04:05Z"),
        ("2026-01-02T03:04:05+05:60", "2026-01-01T21:04:05Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
        ("0000-01-01T00:00:00+05:30", "-0001-12-31T18:30:00Z"),
        ("0001-01-01T00:00:00+01:00", "0000-12-31T23:00:00Z"),
        ("9999-12-31T23:59:59-01:00", "10000-01-01T00:59:59Z"),
    ],
)
def test_taken(text: str, written: str) -> None:
    assert seconds(text) == written


_SECONDS, _MICROS = "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05.000000Z07:00"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-01-02T23:59:60Z", ": second out of range"),
        ("2026-02-29T00:00:00Z", ": day out of range"),
        ("2026-01-02T03:04:05.5Zx", ': extra text: "x"'),
        ("2026-01-02T03:04:05.Z", f' as "{_SECONDS}": cannot parse ".Z" as "Z07:00"'),
    ],
)
def test_refused(text: str, why: str) -> None:
    with pytest.raises(TimeError) as caught:
        seconds(text)
    assert str(caught.value) == f'parsing time "{text}"{why}'


def test_what_is_not_ascii_is_told_by_its_bytes() -> None:
    with pytest.raises(TimeError) as caught:
        seconds("\u0662026")
    quoted = r'"\xd9\xa2026"'
    assert str(caught.value) == f'parsing time {quoted} as "{_SECONDS}": cannot parse {quoted} as "2006"'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-01-02T03:04:05.123Z", 'cannot parse ".123Z" as ".000000"'),
        ("2026-01-02T03:04:05.1234567Z", 'cannot parse "7Z" as "Z07:00"'),
        ("2026-01-32T00:00:00Z", 'cannot parse "Z" as ".000000"'),
    ],
)
def test_microseconds_refused(text: str, why: str) -> None:
    with pytest.raises(TimeError) as caught:
        micros(text)
    assert str(caught.value) == f'parsing time "{text}" as "{_MICROS}": {why}'


def test_microseconds_taken() -> None:
    assert micros("2026-01-02T03:04:05,123456+01:30") == "2026-01-02T01:34:05.123456Z"
