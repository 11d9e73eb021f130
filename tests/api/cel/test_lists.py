"""Functions of lists that cel-go has and Kubernetes has on since 1.34 (cel-go ext/lists.go version 3, and the first and
last of its optionals): what they make, what they fail with, what they cost."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.cel import types
from engine.api.cel.environment import Environment
from engine.api.cel.syntax import CompileError

ENVIRONMENT = Environment(
    {"l": types.list_of(types.INT), "texts": types.list_of(types.STRING), "any": types.DYN, "n": types.INT}
)
VALUES: dict[str, Any] = {"l": [3, 1, 2], "texts": ["b", "c", "a"], "any": {"a": 1}, "n": 2}

HOLD = [
    "lists.range(4) == [0, 1, 2, 3] && lists.range(0) == []",
    "[5, 1, 2, 3].reverse() == [3, 2, 1, 5] && [].reverse() == [] && texts.reverse() == ['a', 'c', 'b']",
    "[1, 2, 3, 4].slice(0, 4) == [1, 2, 3, 4] && [1, 2].slice(2, 2) == [] && [1, 2, 3, 4].slice(1, 3) == [2, 3]",
    "dyn([]).flatten() == [] && dyn([1, 2]).flatten() == [1, 2] && [[1], [], [2, 3]].flatten() == [1, 2, 3]",
    "[[[1]], [[2], [3]]].flatten(2) == [1, 2, 3] && [[[1]]].flatten(0) == [[[1]]]",
    "[4, 3, 2, 1].sort() == [1, 2, 3, 4] && [].sort() == [] && texts.sort() == ['a', 'b', 'c']",
    "[true, false].sort() == [false, true] && [2.5, 1.0].sort() == [1.0, 2.5] && [2u, 1u].sort() == [1u, 2u]",
    "[duration('2s'), duration('1s')].sort()[0] == duration('1s') && [b'b', b'a'].sort() == [b'a', b'b']",
    "[-3, 1, -5, -2, 4].sortBy(e, -(e * e)) == [-5, 4, -3, -2, 1] && lists.range(3).sortBy(e, -e) == [2, 1, 0]",
    "texts.sortBy(e, e == 'c' ? '' : e) == ['c', 'a', 'b'] && [].sortBy(e, e) == []",
    "[{'f': 'lo'}, {'f': 'hi'}].sortBy(m, m.f) == [{'f': 'hi'}, {'f': 'lo'}] && l.map(e, e * 2).sortBy(e, e)[0] == 2",
    "[-2, 5, -2, 1, 1].distinct() == [-2, 5, 1] && [[1], [1], [2]].distinct() == [[1], [2]] && [].distinct() == []",
    "[dyn(1), dyn(1.0), dyn(true)].map(e, dyn(e)).distinct().size() == 2",
    "l.first().value() == 3 && l.last().value() == 2 && !l.filter(e, e > 9).first().hasValue()",
]


@pytest.mark.parametrize("expression", HOLD)
def test_what_is_made_of_a_list(expression: str) -> None:
    outcome = ENVIRONMENT.compile(expression).run(VALUES)
    assert (outcome.value, outcome.error) == (True, "")


FAIL = {
    "l.slice(3, 0) == []": "cannot slice(3, 0), start index must be less than or equal to end index",
    "l.slice(0, 10) == []": "cannot slice(0, 10), list is length 3",
    "l.slice(-5, 10) == []": "cannot slice(-5, 10), negative indexes not supported",
    "[l].flatten(-1) == []": "level must be non-negative",
    "dyn(['a', 'b']).map(e, e == 'a' ? dyn(e) : dyn(1)).sort() == []": "list elements must have the same type",
    "dyn([[1]]).sort() == []": "list elements must be comparable",
    "lists.range(-n) == []": "lists.range: size must be non-negative, got -2",
    "lists.range(20000000) == []": "lists.range: size 20000000 exceeds maximum allowed (10000000)",
}


@pytest.mark.parametrize("expression", FAIL)
def test_what_cannot_be_made_of_a_list(expression: str) -> None:
    assert ENVIRONMENT.compile(expression).run(VALUES).error == FAIL[expression]


WRONG = {
    "{}.sortBy(e, e)": (1, "sortBy can only be applied to a list, identifier, comprehension, call or select "
                           "expression"),
    "l.sortBy(e.f, e)": (11, "argument is not an identifier"),
    "l.sortBy(e, [e])": (9, "found no matching overload for '@sortByAssociatedKeys' applied to "
                            "'list(int).(list(list(int)))'"),
    "'abc'.reverse()": (14, "found no matching overload for 'reverse' applied to 'string.()'"),
    "l.flatten()": (10, "found no matching overload for 'flatten' applied to 'list(int).()'"),
}  # fmt: skip


@pytest.mark.parametrize("expression", WRONG)
def test_what_does_not_compile(expression: str) -> None:
    column, text = WRONG[expression]
    with pytest.raises(CompileError) as wrong:
        ENVIRONMENT.compile(expression)
    assert str(wrong.value).startswith(f"compilation failed: ERROR: <input>:1:{column}: {text}\n")


COSTS = {
    "l.reverse()": (15, 12, 112),
    "l.slice(0, 2)": (14, 14, 14),
    "l.slice(n, 3)": (14, 16, 16),
    "lists.range(5)": (16, 16, 16),
    "[l].flatten()": (23, 23, 23),
    "l.distinct()": (30, 12, 20012),
    "l.sort()": (30, 12, 20012),
    "texts.sort()": (30, 12, 21012),
    "l.sortBy(e, -e)": (75, 35, 21435),
}


@pytest.mark.parametrize("expression", COSTS)
def test_what_a_list_costs(expression: str) -> None:
    program = ENVIRONMENT.compile(expression)
    estimate = program.estimate(lambda path: 100)
    assert (program.run(VALUES).cost, estimate.least, estimate.most) == COSTS[expression]


def test_a_call_that_may_mean_several_functions_costs_one() -> None:
    joined = "dyn('" + "x" * 500 + "') + any.a"
    assert ENVIRONMENT.compile(joined).run({"any": {"a": "y" * 500}}).cost == 3


@pytest.mark.parametrize(
    "expression",
    [
        "[1.0, 0.0 / 0.0, 2.0].max() == 2.0 && [1.0, 0.0 / 0.0].isSorted()",
        "[3u, 4u].sum() == 7u && type([3u].sum()) == uint && [0.1, 0.2, 0.3].sum() == 0.1 + 0.2 + 0.3",
    ],
)
def test_numbers_one_after_another(expression: str) -> None:
    outcome = Environment({}).compile(expression).run({})
    assert (outcome.value, outcome.error) == (True, "")


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("[9223372036854775807, 1, -1].sum() == 0", "integer overflow"),
        ("[18446744073709551615u, 1u].sum() == 0u", "unsigned integer overflow"),
        ("[duration('2562047h'), duration('1h'), duration('-1h')].sum() == duration('0')", "duration overflow"),
    ],
)
def test_a_sum_overflows_where_it_is_too_large_on_the_way(expression: str, why: str) -> None:
    assert Environment({}).compile(expression).run({}).error == why
