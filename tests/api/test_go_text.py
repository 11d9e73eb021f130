"""JSON with what is no Unicode and no number, read as Go reads it."""

from __future__ import annotations

import pytest

from engine.api.decoding import UnfitNumber, load_json

OTHER = "\ufffd"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(b'"\\ud83d\\ude00"', "\U0001f600", id="a pair"),
        pytest.param(b'"\\ud800"', OTHER, id="a first half"),
        pytest.param(b'"\\uDC00\\uD800"', OTHER * 2, id="halves the wrong way round"),
        pytest.param(b'"\\ud83d\\ud83d\\ude00"', f"{OTHER}\U0001f600", id="a half before a pair"),
        pytest.param(b'"\\ud800\\u0041"', f"{OTHER}A", id="a half before a letter"),
        pytest.param(b'"\\\\ud800"', "\\ud800", id="a backslash that is meant"),
        pytest.param(b'{"\\ud800":1}', {OTHER: 1}, id="a key"),
        pytest.param(b'"a\xff\xfeb"', f"a{OTHER * 2}b", id="bytes that are none"),
        pytest.param(b'"\xe2\x82"', OTHER * 2, id="a cut character: one for each byte"),
        pytest.param(b'"\xed\xa0\x80"', OTHER * 3, id="a half in UTF-8"),
    ],
)
def test_text(text: bytes, value: object) -> None:
    assert load_json(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(b"1e400", "^cannot unmarshal number 1e400 into Go value of type float64$", id="too great"),
        pytest.param(
            b'{"a":1,"b":[' + b"9" * 5000 + b"]}",
            f"^cannot unmarshal number {'9' * 5000} into Go value of type float64$",
            id="endless",
        ),
        pytest.param(b"[-Infinity]", "^-Infinity is no JSON$", id="no JSON"),
    ],
)
def test_numbers_that_are_none(text: bytes, message: str) -> None:
    with pytest.raises(UnfitNumber, match=message):
        load_json(text)
