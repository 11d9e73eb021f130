"""Quantities as upstream keeps them: what is an integer, and how near a float is, depend on how one was written."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.cel.environment import Environment
from engine.api.cel.syntax import CompileError

ENVIRONMENT = Environment({})

INTEGERS: dict[str, int | None] = {
    "quantity('50k')": 50_000,
    "quantity('1.5k')": 1_500,
    "quantity('1Ti')": 2**40,
    "quantity('1e3')": 1_000,
    "quantity('-007')": -7,
    "quantity('999999999999999999')": 999_999_999_999_999_999,
    # thousandths and tenths are not reduced, and many digits are a decimal
    "quantity('1000m')": None,
    "quantity('1.0')": None,
    "quantity('9E')": 9 * 10**18,
    "quantity('10E')": None,
    "quantity('1Pi')": None,
    "quantity('1000000000000000000')": None,
    "quantity('1.0Ki')": None,
    # sums have the smaller power of ten; nothing has none
    "quantity('1k').add(1)": 1_001,
    "quantity('1500m').sub(quantity('500m'))": None,
    "quantity('0').add(quantity('1k'))": 1_000,
    "quantity('1').sub(quantity('0m'))": 1,
    "quantity('1Pi').sub(quantity('1Pi'))": None,
    "quantity('9E').add(quantity('9E'))": None,
}


@pytest.mark.parametrize("made", INTEGERS)
def test_what_is_an_integer(made: str) -> None:
    wanted = INTEGERS[made]
    assert _run(f"{made}.isInteger()") == (wanted is not None, "")
    assert _run(f"{made}.asInteger()") == (wanted, "cannot convert value to integer" if wanted is None else "")


@pytest.mark.parametrize(
    ("made", "near"),
    [
        ("quantity('50.703k')", 50_703.0),
        ("quantity('0.3')", 0.30000000000000004),
        ("quantity('300m')", 0.3),
        ("quantity('1Pi')", float(2**50)),
        ("quantity('12E')", 1.2e19),
    ],
)
def test_floats_are_approximate(made: str, near: float) -> None:
    assert _run(f"{made}.asApproximateFloat()") == (near, "")


def test_equal_amounts_are_equal_however_they_are_written() -> None:
    assert _run("quantity('1') == quantity('1000m') && quantity('1Pi') == quantity('1024Ti')") == (True, "")
    assert _run("sign(quantity('-1m')) == -1 && sign(quantity('0')) == 0") == (True, "")


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("quantity('1').sign() == 1", "found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'"),
        ("quantity('1').mul(2) == quantity('2')", "undeclared reference to 'mul'"),
        ("quantity('1').div(2) == quantity('2')", "undeclared reference to 'div'"),
    ],
)
def test_what_upstream_has_not(expression: str, why: str) -> None:
    with pytest.raises(CompileError) as wrong:
        ENVIRONMENT.compile(expression)
    assert why in str(wrong.value)


def _run(expression: str) -> tuple[Any, str]:
    outcome = ENVIRONMENT.compile(expression).run({})
    return outcome.value, outcome.error
