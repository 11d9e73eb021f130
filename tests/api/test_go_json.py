from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.golang.json import syntax_error

BROKEN = {
    "nothing": ("", "unexpected end of JSON input"),
    "a bare key": ("{bad", "invalid character 'b' looking for beginning of object key string"),
    "a trailing comma": ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
    "no colon": ('{"a" 1}', "invalid character '1' after object key"),
    "no comma": ('{"a":1 "b":2}', "invalid character '\"' after object key:value pair"),
    "a list without end": ("[1", "unexpected end of JSON input"),
    "a list's trailing comma": ("[1,]", "invalid character ']' looking for beginning of value"),
    "no comma in a list": ("[1 2]", "invalid character '2' after array element"),
    "a word": ("foo", "invalid character 'o' in literal false (expecting 'a')"),
    "another word": ("xyz", "invalid character 'x' looking for beginning of value"),
    "quotes of another kind": ("'a'", "invalid character '\\'' looking for beginning of value"),
    "two values": ("{} {}", "invalid character '{' after top-level value"),
    "a number that goes nowhere": ("-a", "invalid character 'a' in numeric literal"),
    "no decimals": ("1.x", "invalid character 'x' after decimal point in numeric literal"),
    "no exponent": ("1ex", "invalid character 'x' in exponent of numeric literal"),
    "a leading zero": ("01", "invalid character '1' after top-level value"),
    "a line break in a string": ('"a\nb"', "invalid character '\\n' in string literal"),
    "an unknown escape": ('"\\x"', "invalid character 'x' in string escape code"),
    "half an escape": ('"\\u12z"', "invalid character 'z' in \\u hexadecimal character escape"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_go_names_the_byte_that_cannot_go_on(name: str) -> None:
    text, expected = BROKEN[name]
    assert syntax_error(text) == syntax_error(text.encode()) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.sampled_from([None, 1]))
def test_nothing_is_wrong_with_json(value: object, indent: int | None) -> None:
    assert syntax_error(json.dumps(value, indent=indent)) == ""


@given(VALUES, st.data())
def test_it_refuses_what_no_parser_takes(value: object, data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text)))]
    try:
        json.loads(cut)
    except ValueError:
        assert syntax_error(cut) != ""
    else:
        assert syntax_error(cut) == ""
