"""Scalars of YAML as the real kubectl reads them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.golang.yaml import YamlError, load, resolve_v3

SCALARS: dict[str, Any] = {
    "1e3": 1000, "1E3": 1000, "1e+3": 1000, "1.0": 1, "1.": 1, ".5": 0.5, "-1.5e-7": -1.5e-7, "+.5": 0.5, "1e0": 1,
    "1.5e30": 1.5e30, "1e400": "1e400", "5e": "5e", "5e+": "5e+", "1_000": 1000, "1_000.5": 1000.5, "1__0": 10,
    "_1": "_1",
    "0x10": 16, "0X1f": 31, "-0x10": -16, "010": 8, "0o10": 8, "0O7": 7, "0o8": "0o8", "08": 8, "09.5": 9.5, "0b1": 1,
    "0b102": "0b102", "0x": "0x", "12:30": "12:30", "190:20:30": "190:20:30", "1.2.3": "1.2.3", "1,000": "1,000",
    "y": True, "N": False, "yes": True, "Off": False, "tRue": "tRue", "~": None, "Null": None, "nULL": "nULL", "=": "=",
    "2020-01-01": "2020-01-01", "100m": "100m", "infinity": "infinity",
    "18446744073709551615": 2**64 - 1, "18446744073709551616": 18446744073709551616,
    "123456789012345678901234567890": 1.2345678901234568e29, "9" * 5000: "9" * 5000, f"-{'9' * 5000}": f"-{'9' * 5000}",
}  # fmt: skip


@pytest.mark.parametrize("text", SCALARS)
def test_a_scalar(text: str) -> None:
    found = load(f"a: {text}")["a"]
    assert (type(found), found) == (type(SCALARS[text]), SCALARS[text])


@pytest.mark.parametrize("text", [".inf", "-.INF", ".nan"])
def test_what_json_has_no_number_for(text: str) -> None:
    with pytest.raises(YamlError, match="json: unsupported value: "):
        load(f"a: {text}")


KEY_SIGNS = {
    "{p: a?b c}": "yaml: did not find expected ',' or '}'",
    "{p: a?}": "yaml: did not find expected ',' or '}'",
    "{a?b: c}": "yaml: did not find expected ',' or '}'",
    "x:\n  - [a, http://x/y?z=1]": "yaml: line 1: did not find expected ',' or ']'",
    "{p:\n  a\n  b?c}": "yaml: line 2: did not find expected ',' or '}'",
    "[{a: b}, c?]": "yaml: did not find expected ',' or ']'",
}


@pytest.mark.parametrize("text", KEY_SIGNS)
def test_a_question_mark_within_a_plain_scalar_of_a_flow_collection_is_the_sign_of_a_key(text: str) -> None:
    with pytest.raises(YamlError) as raised:
        load(text)
    assert str(raised.value) == KEY_SIGNS[text]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{p: "a?b"}', {"p": "a?b"}),
        ("p: a?b c # {", {"p": "a?b c"}),
        ("{p: [x]}\n---\n{p: a?}", {"p": ["x"]}),
        ("- p: a?\n- [b]", [{"p": "a?"}, ["b"]]),
    ],
)
def test_other_question_marks_are_let_be(text: str, value: Any) -> None:
    assert load(text) == value


def test_go_yaml_v3_takes_one_before_a_space_for_the_sign_alone() -> None:
    assert load("{p: a?b}", scalars=resolve_v3) == {"p": "a?b"}
    with pytest.raises(YamlError, match="did not find expected ',' or '}'"):
        load("{p: a? b}", scalars=resolve_v3)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'''a: "it\'s"''', {"a": "it's"}),
        ('a: "x\\\'y \\"\\\'"\nb: ["q\\\'", \'a\\\', "\\\\\'"]', {"a": "x'y \"'", "b": ["q'", "a\\", "\\'"]}),
        (b'a: "\xc3\xa9\\\'"', {"a": "é'"}),
        (r"""{p: "a?b\'c"}""", {"p": "a?b'c"}),
        (r"a: x\/y", {"a": r"x\/y"}),
        (r'a: "x\\/y"', {"a": r"x\/y"}),
        (r"a: 'x\/y'", {"a": r"x\/y"}),
    ],
)
def test_an_apostrophe_may_be_escaped(text: str | bytes, value: Any) -> None:
    assert load(text) == value


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (r'a: "x\/y"', ""),
        ('a: 1\nb: "it\\\'s \\/"', "line 2: "),
        (r'''a: "\'\q"''', ""),
        ('a: "\\\'"\nb: "\\q"', "line 2: "),
    ],
)
def test_a_slash_may_not(text: str, line: str) -> None:
    with pytest.raises(YamlError) as raised:
        load(text)
    assert str(raised.value) == f"yaml: {line}found unknown escape character"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &x 1\nb: &x {c: 2}\nd: *x", {"a": 1, "b": {"c": 2}, "d": {"c": 2}}),
        ("a: &x 1\nb: *x\nc: &x 2\nd: *x", {"a": 1, "b": 1, "c": 2, "d": 2}),
        ("a: !!binary aGk=", {"a": "hi"}),
        ("a: !!timestamp 2001-01-01", {"a": "2001-01-01"}),
        ("a: !!float 1", {"a": 1}),
        ("1.123456789: a", {"1.1234568": "a"}),
        ("1e30: a\n1e6: b\n0x10: c\n1.0: d", {"1e+30": "a", "1e+06": "b", "16": "c", "1": "d"}),
        (".inf: a", {".inf": "a"}),
        ("a: 1\n<<: {a: 2, b: 3}\nb: 4", {"a": 2, "b": 4}),
        ("<<: [{a: 1}, {a: 2, b: 2}]", {"a": 1, "b": 2}),
        ("<<: {a: .inf}\na: 1", {"a": 1}),
    ],
)
def test_anchors_tags_keys_and_merges(text: str, value: Any) -> None:
    assert load(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: !!null x", "yaml: cannot decode !!str `x` as a !!null"),
        ("a: !!bool ye", "yaml: cannot decode !!str `ye` as a !!bool"),
        ("a: !!int 1.5", "yaml: cannot decode !!float `1.5` as a !!int"),
        ("a: !!int", "yaml: cannot decode !!null `` as a !!int"),
        ("a: !!timestamp x", "yaml: cannot decode !!str `x` as a !!timestamp"),
        ("a: !!binary x", "yaml: !!binary value contains invalid base64 data"),
        ("<<: 1", "yaml: map merge requires map or sequence of maps as the value"),
        ("a:\n  <<:", "yaml: map merge requires map or sequence of maps as the value"),
        ("<<: [{a: 1}, 2]", "yaml: map merge requires map or sequence of maps as the value"),
        ("~: [a, 1]", 'unsupported map key of type: %!s(<nil>), key: <nil>, value: []interface {}{"a", 1}'),
        ("a: .inf\nb: {null: }", "unsupported map key of type: %!s(<nil>), key: <nil>, value: <nil>"),
        ("18446744073709551615: a", 'unsupported map key of type: uint64, key: 0xffffffffffffffff, value: "a"'),
        ("\ufeffa: *a", "yaml: unknown anchor 'a' referenced"),
    ],
)
def test_what_go_makes_nothing_of(text: str, message: str) -> None:
    with pytest.raises(YamlError) as raised:
        load(text)
    assert str(raised.value) == message


def test_go_yaml_v3_merges_beneath_what_stands_there() -> None:
    assert load("a: 1\n<<: {a: 2, b: 3}\n~: x", scalars=resolve_v3) == {"a": 1, "b": 3, "null": "x"}
