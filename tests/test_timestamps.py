from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis.strategies import datetimes, just

from engine.timestamps import in_microseconds, in_seconds


def test_whole_seconds_have_no_fraction_or_one_of_zeros() -> None:
    time = datetime(2026, 1, 1, tzinfo=UTC)
    assert in_seconds(time) == "2026-01-01T00:00:00Z"
    assert in_microseconds(time) == "2026-01-01T00:00:00.000000Z"
    assert in_seconds(time.replace(microsecond=999_999)) == "2026-01-01T00:00:00Z"


@given(datetimes(timezones=just(UTC)))
def test_every_time_is_printed_as_isoformat_prints_it(time: datetime) -> None:
    assert in_seconds(time) == time.isoformat(timespec="seconds").removesuffix("+00:00") + "Z"
    assert in_microseconds(time) == time.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
