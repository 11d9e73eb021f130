from __future__ import annotations

import pytest

from engine.api import cron

WRONG = {
    "": "empty spec string",
    "* * *": "expected exactly 5 fields, found 3: [* * *]",
    "a * * * *": 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax',
    "70 * * * *": "end of range (70) above maximum (59): 70",
    "* * 0 * *": "beginning of range (0) below minimum (1): 0",
    "30-10 * * * *": "beginning of range (30) beyond end of range (10): 30-10",
    "*/0 * * * *": "step of range should be a positive number: */0",
    "1-2-3 * * * *": "too many hyphens: 1-2-3",
    "*/2/3 * * * *": "too many slashes: */2/3",
    "TZ=Nowhere/Town * * * * *": "provided bad location Nowhere/Town: unknown time zone Nowhere/Town",
    "@sometimes": "unrecognized descriptor: @sometimes",
    "@every soon": 'failed to parse duration @every soon: time: invalid duration "soon"',
    "@every 5": 'failed to parse duration @every 5: time: missing unit in duration "5"',
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_schedule_is_told_so(text: str) -> None:
    with pytest.raises(cron.ScheduleError) as caught:
        cron.parse(text)
    assert str(caught.value) == WRONG[text]


def test_fields_ranges_steps_and_names() -> None:
    found = cron.parse("*/15 9-17/4 1,15 jan-Mar mon-fri")
    assert found.minutes == {0, 15, 30, 45}
    assert found.hours == {9, 13, 17}
    assert found.days == {1, 15}
    assert found.months == {1, 2, 3}
    assert found.weekdays == {1, 2, 3, 4, 5}
    assert not found.any_day
    assert not found.any_weekday


def test_from_a_number_on() -> None:
    assert cron.parse("5/20 * * * *").minutes == {5, 25, 45}


@pytest.mark.parametrize(
    ("text", "day", "weekday"),
    [
        ("0 0 * * ?", True, True),
        ("0 0 */1 * 1,*", True, True),
        ("0 0 */2 * ?/2", False, False),  # a star that a step thins out is none
        ("0 0 1,*/3 * 1", False, False),
    ],
)
def test_stars_are_remembered(text: str, day: bool, weekday: bool) -> None:
    found = cron.parse(text)
    assert (found.any_day, found.any_weekday) == (day, weekday)


def test_nothing_between_commas_is_let_be() -> None:
    assert cron.parse("1,2,,3, 0 * * *") == cron.parse("1,2,3 0 * * *")
    assert cron.parse(", * * * *").minutes == frozenset()


def test_descriptors() -> None:
    assert cron.parse("@hourly") == cron.parse("0 * * * *")
    assert cron.parse("@every 1h30m").every == 5400
    assert cron.parse("@every 1.9s").every == 1  # counted in whole seconds
    assert cron.parse("@every +10ms").every == 1
    assert cron.parse("TZ=Europe/Berlin 0 * * * *") == cron.parse("0 * * * *")
    assert cron.parse("CRON_TZ=UTC  @daily") == cron.parse("0 0 * * *")
