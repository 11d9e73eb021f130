"""`"%s".format([...])`: what it shows, what it fails with, which formats are refused beforehand. And which lists and
maps may hold values of several types."""

from __future__ import annotations

import json
import math

import pytest

from engine.api.cel import types
from engine.api.cel.environment import Environment
from engine.api.cel.syntax import CompileError
from engine.api.cel.values import UInt

ENVIRONMENT = Environment({"any": types.DYN, "thing": types.struct("Thing")}, structs={"Thing": {}})
TIMES = "\u202f×\u202f10"
STRING = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
    "timestamps"
)
HEXADECIMAL = "only integers, byte buffers, and strings can be formatted as hex"

SHOWN = [
    ("plain", "", "plain"),
    ("%%%s%% %d", "'text', 3", "%text% 3"),
    ("%.3f %f %f", "1.2345, 2.71828, 1234567.5", "1.234 2.718280 1,234,567.500000"),
    ("%.0f %.0f %f", "2.7, -0.4, -0.0000001", "2 0 0.000000"),
    ("%f %f %f", "'NaN', 'Infinity', '-Infinity'", "NaN ∞ -∞"),
    ("%e %.2e", "1052.032911275, -0.0000123", f"1.052033{TIMES}⁰³ -1.230000{TIMES}⁻⁰⁵"),
    ("%b %b %b", "-5, 64u, true", "-101 1000000 1"),
    ("%o %x %X", "-11, -30, 30u", "-13 -1e 1E"),
    ("%x %X", r"'z', b'\x00\xff'", "7a 00FF"),
    ("%s %s %s", "2.71, 0.000000002, double('Inf')", "2.71 2e-09 +Inf"),
    ("%s %s %s %s", "null, true, b'xyz', type(1)", "null true xyz int"),
    ("%s %s", "timestamp('2023-02-03T23:31:20+00:00'), duration('1h45m47s')", "2023-02-03T23:31:20Z 6347s"),
    ("%s", "['a\"', 3.14, null, [9, 8u], double('NaN')]", '["a\\"", 3.140000, null, [9, 8], "NaN"]'),
    ("%s", "[timestamp('2023-02-03T23:31:20Z')]", '[timestamp("2023-02-03T23:31:20Z")]'),
    ("%s", "{'b': b'xyz', 'a': duration('2h'), 7: true}", '{"a":duration("7200s"), "b":b"xyz", 7:true}'),
    ("%s", "[[1, 2, [3.0, 4]]][0]", "[1, 2, [3.000000, 4]]"),
    ("%d", "[[1, 'a']].size()", "1"),
    ("%s", "any", '[6, {true:"x"}]'),
]


@pytest.mark.parametrize(("pattern", "args", "text"), SHOWN)
def test_what_a_format_shows(pattern: str, args: str, text: str) -> None:
    outcome = ENVIRONMENT.compile(f"{json.dumps(pattern)}.format([{args}])").run({"any": [6, {True: "x"}]})
    assert (outcome.error, outcome.value) == ("", text)


@pytest.mark.parametrize(
    ("pattern", "value", "why"),
    [
        ("%d", "x", "error during formatting: decimal clause can only be used on integers, was given string"),
        ("%f", "1.5", "error during formatting: fixed-point clause can only be used on doubles, was given string"),
        ("%e", 3, "error during formatting: scientific clause can only be used on doubles, was given int"),
        ("%o", True, "error during formatting: octal clause can only be used on integers, was given bool"),
        (
            "%b",
            math.pi,
            "error during formatting: only integers and bools can be formatted as binary, was given double",
        ),
        ("%x", None, f"error during formatting: {HEXADECIMAL}, was given null_type"),
        ("%s", {1.5: UInt(1)}, "error during formatting: no formatting function for map key of type double"),
    ],
)
def test_what_a_format_cannot_show(pattern: str, value: object, why: str) -> None:
    assert why in ENVIRONMENT.compile(f"'{pattern}'.format([any])").run({"any": value}).error


def test_arguments_are_counted_when_there_is_no_list_to_count() -> None:
    for pattern in ("%s %s", "%s %"):
        outcome = ENVIRONMENT.compile(f"'{pattern}'.format(any)").run({"any": ["a"]})
        assert outcome.error == "index 1 out of range"
    assert ENVIRONMENT.compile("'%s'.format(any)").run({"any": ["a", "b"]}).value == "a"


REFUSED = {
    "'%a'.format([1])": (12, 'could not parse formatting clause: unrecognized formatting clause "a"'),
    "'%.3'.format([1.0])": (
        13,
        "could not parse formatting clause: error while parsing precision: could not find end of precision specifier",
    ),
    "'%.f'.format([1.0])": (
        13,
        "could not parse formatting clause: error while parsing precision: error while converting precision to "
        'integer: strconv.Atoi: parsing "": invalid syntax',
    ),
    f"'%.{'9' * 5000}f'.format([1.0])": (
        5013,
        "could not parse formatting clause: error while parsing precision: error while converting precision to "
        f'integer: strconv.Atoi: parsing "{"9" * 5000}": value out of range',
    ),
    "'%s %s'.format(['a'])": (15, "index 1 out of range"),
    "'%'.format([])": (11, "unexpected end of string"),
    "'%s'.format([1, 2])": (12, "too many arguments supplied to string.format (expected 1, got 2)"),
    "'%s %d'.format([1, 5.2])": (
        20,
        "error during formatting: decimal clause can only be used on integers, was given double",
    ),
    "'%s'.format([[1, {2: thing}]])": (22, f"error during formatting: {STRING}, was given Thing"),
    "[1, 'a', false].size() == 3": (5, "expected type 'int' but found 'string'"),
    "[any, 1].size() == 2": (7, "expected type 'dyn' but found 'int'"),
    "[1, 2 in [1, 'a']] == [1, 1]": (7, "expected type 'int' but found 'bool'"),
    "{'a': 1, 'b': true}.size() == 2": (15, "expected type 'int' but found 'bool'"),
    "timestamp(-62135596801) == any": (11, "invalid timestamp argument"),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_what_is_refused_of_literals(expression: str) -> None:
    column, text = REFUSED[expression]
    with pytest.raises(CompileError) as wrong:
        ENVIRONMENT.compile(expression)
    assert str(wrong.value).split("\n")[0] == f"compilation failed: ERROR: <input>:1:{column}: {text}"


@pytest.mark.parametrize(
    "expression",
    ["[[], [1]].size() == 2", "[?optional.of(1), 2].size() == 2", "timestamp(-62135596800) < timestamp(0)"],
)
def test_what_is_right_of_literals(expression: str) -> None:
    assert ENVIRONMENT.compile(expression).run({}).value is True
