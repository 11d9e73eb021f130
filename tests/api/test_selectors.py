"""Label and field selectors: what they parse to, what they match and how they fail."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.errors import ApiError
from engine.api.selectors import (
    NOTHING,
    FieldSelector,
    LabelSelector,
    Requirement,
    format_label_selector,
    format_labels,
)

KEY_WRONG = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("a=b", "a=b"),
        ("a == b", "a==b"),
        ("\t a\r\n", "a"),
        ("a\0=b", "a=b"),
        ("a=b,\0c", "a=b,c"),
        ("a \0b", "a"),
        ("a in (b\0,c\0)\0", "a in (b,c)"),
        ("b=1,a!=2", "a!=2,b=1"),
        ("x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()"),
        ("!a", "!a"),
        ("a>5,b<3", "a>5,b<3"),
        ("a in (in,notin)", "a in (in,notin)"),
        ("in=in", "in=in"),
        ("a=", "a="),
        ("example.com/a in (b)", "example.com/a in (b)"),
    ],
)
def test_parse(text: str, shown: str) -> None:
    assert str(LabelSelector.parse(text)) == shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("=a", "found '=', expected: !, identifier, or 'end of string'"),
        ("a=b,", "found '', expected: identifier after ','"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a==!", "unable to parse requirement: found '!', expected: identifier"),
        ("!=a", "found '!=', expected: !, identifier, or 'end of string'"),
        (
            "a//b",
            'unable to parse requirement: <nil>: Invalid value: "a//b": a valid label key must consist of alphanumeric '
            "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
            "'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with "
            "an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        ),
        ("a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        ("-a=b", f'unable to parse requirement: <nil>: Invalid value: "-a": {KEY_WRONG}'),
        (
            "a>b",
            'unable to parse requirement: values[0]: Invalid value: "b": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
        ),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ApiError) as caught:
        LabelSelector.parse(text)
    assert (caught.value.code, caught.value.message) == (400, message)


@pytest.mark.parametrize(
    ("text", "labels", "matches"),
    [
        ("", {}, True),
        ("a=1", {"a": "1", "b": "2"}, True),
        ("a=1", {}, False),
        ("a=", {}, False),
        ("a!=1", {}, True),
        ("a!=1", {"a": "1"}, False),
        ("a in (1,2)", {"a": "2"}, True),
        ("a notin (1,2)", {"a": "3"}, True),
        ("a notin (1,2)", {}, True),
        ("a", {"a": ""}, True),
        ("!a", {"a": ""}, False),
        ("a>5", {"a": "6"}, True),
        ("a<5", {"a": "6"}, False),
        ("a>5", {"a": "x"}, False),
        ("a>5", {}, False),
        ("a=1,b=2", {"a": "1"}, False),
    ],
)
def test_matches(text: str, labels: dict[str, str], matches: bool) -> None:
    assert LabelSelector.parse(text).matches(labels) is matches


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def test_objects() -> None:
    selector = LabelSelector.from_object(
        {"matchLabels": {"b": "1"}, "matchExpressions": [expression("a", "In", "x", "y"), expression("c", "Exists")]}
    )
    assert str(selector) == "a in (x,y),b=1,c"
    assert selector == LabelSelector.parse("a in (x,y),b=1,c")
    assert selector.matches({"a": "x", "b": "1", "c": ""})
    assert LabelSelector.from_object({}).matches({"any": "thing"})
    assert LabelSelector.from_object({}).empty
    assert not LabelSelector.from_object(None).matches({})
    assert LabelSelector.from_object(None) == NOTHING
    assert LabelSelector.from_labels({"a": "b"}).requirements == (Requirement("a", "=", ("b",)),)
    with pytest.raises(ApiError, match='"Boom" is not a valid label selector operator'):
        LabelSelector.from_object({"matchExpressions": [expression("a", "Boom")]})
    with pytest.raises(ApiError, match="values: Invalid value: null: for 'in', 'notin' operators, values set can't be"):
        LabelSelector.from_object({"matchExpressions": [expression("a", "NotIn")]})


def test_shown_in_tables() -> None:
    assert format_label_selector({"matchLabels": {"b": "1", "a": "2"}}) == "a=2,b=1"
    assert format_label_selector({}) == "<none>"
    assert format_label_selector({"matchExpressions": [expression("a", "Boom")]}) == "<error>"
    assert format_labels({"b": "1", "a": "2"}) == "a=2,b=1"
    assert format_labels(None) == "<none>"


def test_field_selectors() -> None:
    selector = FieldSelector.parse("metadata.name=x,status.phase!=Failed,,spec.nodeName==a\\,b\\=c\\\\")
    assert [tuple(requirement) for requirement in selector.requirements] == [
        ("metadata.name", "=", "x"),
        ("spec.nodeName", "=", "a,b=c\\"),
        ("status.phase", "!=", "Failed"),
    ]
    assert FieldSelector.parse(str(selector)).requirements == selector.requirements
    assert selector.matches({"metadata.name": "x", "spec.nodeName": "a,b=c\\"})
    assert not selector.matches({"metadata.name": "x", "spec.nodeName": "a,b=c\\", "status.phase": "Failed"})
    assert FieldSelector.parse("spec.nodeName=").matches({})
    assert FieldSelector.parse("").empty
    assert FieldSelector.parse("=,!=").empty
    assert str(FieldSelector.parse("==,a=b")) == "a=b"
    assert (selector.exact("metadata.name"), selector.exact("status.phase")) == ("x", None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foo", "invalid selector: 'foo'; can't understand 'foo'"),
        ("x in (a,b)", "invalid selector: 'x in (a,b)'; can't understand 'b)'"),
        ("x=a||y=b", "invalid field selector: unescaped character in value: 61"),
        ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
        ("a=b\\x", "invalid field selector: invalid escape sequence: \\x"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
    ],
)
def test_field_selectors_refused(text: str, message: str) -> None:
    with pytest.raises(ApiError) as caught:
        FieldSelector.parse(text)
    assert (caught.value.code, caught.value.message) == (400, message)


KEYS = st.sampled_from(["a", "b", "c.d/e"])
VALUES = st.sampled_from(["", "1", "x-y"])
TERMS = st.one_of(
    st.builds(lambda key, value: f"{key}={value}", KEYS, VALUES),
    st.builds(lambda key, value: f"{key}!={value}", KEYS, VALUES),
    st.builds(lambda key, values: f"{key} in ({','.join(values)})", KEYS, st.lists(VALUES, min_size=1)),
    KEYS,
    KEYS.map(lambda key: f"!{key}"),
)


@given(st.lists(TERMS), st.dictionaries(KEYS, VALUES))
def test_the_text_of_a_selector_is_the_selector(terms: list[str], labels: dict[str, str]) -> None:
    selector = LabelSelector.parse(",".join(terms))
    assert LabelSelector.parse(str(selector)) == selector
    assert selector.matches(labels) is all(LabelSelector.parse(term).matches(labels) for term in terms)


@given(st.text(alphabet="ab=!(), <>in", max_size=12))
def test_any_text_parses_or_is_a_bad_request(text: str) -> None:
    with suppress(ApiError):
        assert isinstance(LabelSelector.parse(text).matches({}), bool)
    with suppress(ApiError):
        assert isinstance(FieldSelector.parse(text).matches({}), bool)
