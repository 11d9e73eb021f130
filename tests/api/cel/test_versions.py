"""Semantic versions, and what is wrong with one in the words of the parser that upstream uses (blang/semver)."""

from __future__ import annotations

import pytest

from engine.api.cel.environment import Environment

ENVIRONMENT = Environment({})

WRONG = {
    "semver('')": "Version string empty",
    "semver('', true)": 'strconv.ParseUint: parsing "": invalid syntax',
    "semver('v1.0')": "No Major.Minor.Patch elements found",
    "semver('1..3')": 'strconv.ParseUint: parsing "": invalid syntax',
    "semver('1.x.3')": 'Invalid character(s) found in minor number "x"',
    "semver('1.2.03')": 'Patch number must not contain leading zeroes "03"',
    "semver('1.2.x-')": 'Invalid character(s) found in patch number "x"',
    "semver('18446744073709551616.0.0')": 'strconv.ParseUint: parsing "18446744073709551616": value out of range',
    "semver('1.2.3-')": "Prerelease is empty",
    "semver('1.2.3-01')": 'Numeric PreRelease version must not contain leading zeroes "01"',
    "semver('1.2.3-a!')": 'Invalid character(s) found in prerelease "a!"',
    "semver('1.2.3+')": "Build meta data is empty",
    "semver('1.2.3+a!')": 'Invalid character(s) found in build meta data "a!"',
    "semver('1.2-a', true)": "short version cannot contain PreRelease/Build meta data",
    "semver('1.2+a', true)": "short version cannot contain PreRelease/Build meta data",
}


@pytest.mark.parametrize("made", WRONG)
def test_what_is_wrong_with_a_version(made: str) -> None:
    assert ENVIRONMENT.compile(f"{made}.major() == 1").run({}).error == WRONG[made]


@pytest.mark.parametrize(
    "expression",
    [
        "semver('18446744073709551615.0.0').isGreaterThan(semver('1.0.0'))",
        "semver('v01.002.0003-rc.1', true) == semver('1.2.3-rc.1')",
        "semver('00', true) == semver('0.0.0') && semver('1.2.00-0', true) == semver('1.2.0-0')",
        "semver('1.2.3+01') == semver('1.2.3+b') && !isSemver('v1.0.0') && !isSemver(' 1.0.0', true)",
        "semver('1.0.0-2').isLessThan(semver('1.0.0-10')) && semver('1.0.0-10').isLessThan(semver('1.0.0-a'))",
    ],
)
def test_what_a_version_is(expression: str) -> None:
    outcome = ENVIRONMENT.compile(expression).run({})
    assert (outcome.value, outcome.error) == (True, "")
