"""Schedules over changes of the clocks, after the rows of robfig/cron's TestNext (spec_test.go): what is due in a
skipped hour is left out for that day, and what is due in an hour that comes twice is due twice."""

from __future__ import annotations

from datetime import datetime

import pytest

from engine.controllers.cronjob.schedule import parse_schedule

SPRING, AUTUMN = "2012-03-11", "2012-11-04"
ROWS = [
    # America/New_York: at 2:00 of winter time it is 3:00.
    (f"{SPRING}T00:00-05:00", "30 2 11 3 ?", "2013-03-11T02:30-04:00"),
    (f"{SPRING}T00:00-05:00", "0 * * * ?", f"{SPRING}T01:00-05:00"),
    (f"{SPRING}T01:00-05:00", "0 * * * ?", f"{SPRING}T03:00-04:00"),
    (f"{SPRING}T03:00-04:00", "0 * * * ?", f"{SPRING}T04:00-04:00"),
    (f"{SPRING}T00:00-05:00", "0 1 * * ?", f"{SPRING}T01:00-05:00"),
    (f"{SPRING}T01:00-05:00", "0 1 * * ?", "2012-03-12T01:00-04:00"),
    (f"{SPRING}T00:00-05:00", "0 2 * * ?", "2012-03-12T02:00-04:00"),
    (f"{SPRING}T01:59-05:00", "*/20 * * * ?", f"{SPRING}T03:00-04:00"),
    # At 2:00 of summer time it is 1:00 again.
    (f"{AUTUMN}T00:00-04:00", "30 2 4 11 ?", f"{AUTUMN}T02:30-05:00"),
    (f"{AUTUMN}T01:45-04:00", "30 1 4 11 ?", f"{AUTUMN}T01:30-05:00"),
    (f"{AUTUMN}T00:00-04:00", "0 * * * ?", f"{AUTUMN}T01:00-04:00"),
    (f"{AUTUMN}T01:00-04:00", "0 * * * ?", f"{AUTUMN}T01:00-05:00"),
    (f"{AUTUMN}T01:00-05:00", "0 * * * ?", f"{AUTUMN}T02:00-05:00"),
    (f"{AUTUMN}T00:00-04:00", "0 1 * * ?", f"{AUTUMN}T01:00-04:00"),
    (f"{AUTUMN}T01:00-04:00", "0 1 * * ?", f"{AUTUMN}T01:00-05:00"),
    (f"{AUTUMN}T01:00-05:00", "0 1 * * ?", "2012-11-05T01:00-05:00"),
    (f"{AUTUMN}T00:00-04:00", "0 2 * * ?", f"{AUTUMN}T02:00-05:00"),
    (f"{AUTUMN}T02:00-05:00", "0 2 * * ?", "2012-11-05T02:00-05:00"),
    (f"{AUTUMN}T00:00-04:00", "0 3 * * ?", f"{AUTUMN}T03:00-05:00"),
    (f"{AUTUMN}T03:00-05:00", "0 3 * * ?", "2012-11-05T03:00-05:00"),
    (f"{AUTUMN}T00:00-04:00", "0 3 3 * ?", "2012-12-03T03:00-05:00"),
    (f"{AUTUMN}T01:59-04:00", "*/20 * * * ?", f"{AUTUMN}T01:00-05:00"),
    (f"{AUTUMN}T00:00-04:00", "0 0 30 2 ?", None),
]
ELSEWHERE = [
    ("Europe/London", "2023-03-26T00:00+00:00", "30 1 * * *", "2023-03-27T01:30+01:00"),
    ("Europe/London", "2023-10-29T01:30+01:00", "30 1 * * *", "2023-10-29T01:30+00:00"),
    ("Australia/Lord_Howe", "2023-10-01T01:30+10:30", "*/30 * * * *", "2023-10-01T02:30+11:00"),
    ("Australia/Lord_Howe", "2023-04-02T01:30+11:00", "30 1 * * *", "2023-04-02T01:30+10:30"),
    # Days without a midnight.
    ("America/Sao_Paulo", "2018-10-17T06:00-03:00", "0 9 10 * ?", "2018-11-10T09:00-02:00"),
    ("America/Sao_Paulo", "2018-02-14T08:00-02:00", "0 9 22 * ?", "2018-02-22T09:00-03:00"),
    ("America/Sao_Paulo", "2018-11-03T12:00-03:00", "0 0 * * ?", "2018-11-05T00:00-02:00"),
]


@pytest.mark.parametrize(
    ("zone", "after", "schedule", "expected"), [*(("America/New_York", *row) for row in ROWS), *ELSEWHERE]
)
def test_the_next_time_over_a_change_of_clocks(zone: str, after: str, schedule: str, expected: str | None) -> None:
    found = parse_schedule(schedule, zone).next(datetime.fromisoformat(after))
    assert found == (datetime.fromisoformat(expected) if expected else None)
