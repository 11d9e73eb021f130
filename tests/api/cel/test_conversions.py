"""What texts and numbers are made of other types, and the words for what cannot be (cel-go common/types)."""

from __future__ import annotations

import pytest

from engine.api.cel.syntax import ProgramError
from tests.api.cel.test_language import ENVIRONMENT, VALUES

TRUE = (
    "int('+5') == 5",
    "int('-9223372036854775808') == -9223372036854775808",
    "int(-1.9) == -1",
    "int(timestamp('1969-12-31T23:59:59.5Z')) == -1",
    "int(duration('1ms')) == 1000000",
    "uint('18446744073709551615') == 18446744073709551615u",
    "uint(1e19) == 10000000000000000000u",
    "double('.5e1') == 5.0",
    "double('1_000.5') == 1000.5",
    "double('0x1p-2') == 0.25",
    "double('-inf') < double('1e-400')",
    "double('NaN') != double('NaN')",
    "bool('T') && !bool('0')",
    "string(1000000.0) == '1e+06'",
    "string(duration('1h0.5s')) == '3600.5s'",
    "string(duration('-1ns')) == '-0.000000001s'",
    "string(duration('9223372036.854775807s')) == '9223372036.854776s'",
    "string(timestamp('2026-01-02T3:04:05,120Z')) == '2026-01-02T03:04:05.12Z'",
    "string(timestamp('0000-12-31T23:30:00-01:00')) == '0000-12-31T23:30:00-01:00'",
    "timestamp('0000-12-31T23:30:00-01:00') == timestamp('0001-01-01T00:30:00Z')",
    "timestamp('2026-01-02T00:00:00+24:60') == timestamp('2025-12-31T23:00:00Z')",
    "timestamp('2026-01-01T00:00:00Z').getHours('+25:99') == 2",
    "timestamp('2026-01-01T00:00:00Z').getDayOfYear('-0:1') == 364",
    "timestamp('2026-01-01T00:00:00Z').getMinutes('5:45') == 45",
    "timestamp('2026-07-01T00:00:00Z').getHours('Europe/Berlin') == 2",
    "timestamp('2026-07-01T12:00:00Z').getHours('') == 12",
    "timestamp('0001-01-01T00:00:00Z').getFullYear('America/New_York') == 0",
    "timestamp('9999-12-31T23:59:59Z').getFullYear('+01:00') == 10000",
    "timestamp('9999-12-31T23:59:59Z').getDayOfWeek() == 5",
)


@pytest.mark.parametrize("expression", TRUE)
def test_what_is_converted(expression: str) -> None:
    outcome = ENVIRONMENT.compile(expression).run(VALUES)
    assert (outcome.value, outcome.error) == (True, "")


def none(kind: str) -> str:
    return f"type conversion error from 'string' to '{kind}'"


TIMESTAMP, DURATION = "google.protobuf.Timestamp", "google.protobuf.Duration"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("int(' 1')", none("int")),
        ("int('9223372036854775808')", none("int")),
        ("int('\u0661')", none("int")),
        ("int('1_000')", none("int")),
        ("uint('+5')", none("uint")),
        ("uint('-1')", none("uint")),
        ("uint('18446744073709551616')", none("uint")),
        ("double('1e400')", none("double")),
        ("double('1__0')", none("double")),
        ("double('+nan')", none("double")),
        ("double('0x1')", none("double")),
        ("bool('yes')", none("bool")),
        ("int(-9223372036854775808.0)", "integer overflow"),
        ("int(double('nan'))", "integer overflow"),
        ("uint(-0.5)", "unsigned integer overflow"),
        ("uint(18446744073709551616.0)", "unsigned integer overflow"),
        ("uint(double('nan'))", "unsigned integer overflow"),
        ("string(b'\\xff')", "invalid UTF-8 in bytes, cannot convert to string"),
    ],
)
def test_what_is_not(expression: str, why: str) -> None:
    with pytest.raises(ProgramError) as wrong:
        ENVIRONMENT.compile(f"{expression} == {expression}")
    assert str(wrong.value) == f"program instantiation failed: {why}"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("timestamp('' + '2026-01-02t03:04:05z')", none(TIMESTAMP)),
        ("timestamp('' + '2026-02-29T00:00:00Z')", none(TIMESTAMP)),
        ("timestamp('' + '2026-01-02T00:00:00+25:00')", none(TIMESTAMP)),
        ("timestamp('' + '0000-12-31T00:00:00Z')", "timestamp overflow"),
        ("timestamp('' + '9999-12-31T23:59:59-01:00')", "timestamp overflow"),
        ("duration('' + '1d')", none(DURATION)),
        ("duration('' + '9223372036.854775808s')", none(DURATION)),
    ],
)
def test_times_that_are_none(expression: str, why: str) -> None:
    outcome = ENVIRONMENT.compile(f"{expression} == {expression}").run(VALUES)
    assert outcome.error == why


@pytest.mark.parametrize(
    ("zone", "why"),
    [
        ("Nowhere/Else", "unknown time zone Nowhere/Else"),
        ("America", "unknown time zone America"),
        ("+x:00", 'strconv.Atoi: parsing "+x": invalid syntax'),
        ("1:", 'strconv.Atoi: parsing "": invalid syntax'),
    ],
)
def test_zones_that_are_none(zone: str, why: str) -> None:
    outcome = ENVIRONMENT.compile(f"timestamp('2026-01-01T00:00:00Z').getHours('{zone}') == 1").run(VALUES)
    assert outcome.error == why
