"""Integers as Go's strconv reads them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from engine.api.golang.integer import parse_int, parse_uint

SYNTAX, RANGE = "invalid syntax", "value out of range"


@pytest.mark.parametrize(
    ("parse", "text", "base", "expected"),
    [
        pytest.param(parse_int, "-9223372036854775808", 10, -(1 << 63), id="the least"),
        pytest.param(parse_int, "+0007", 10, 7, id="sign and zeros"),
        pytest.param(parse_int, "9223372036854775808", 10, RANGE, id="one too many"),
        pytest.param(parse_int, "-ff", 16, -255, id="hexadecimal"),
        pytest.param(parse_int, "ffffffffffffffff", 16, RANGE, id="hexadecimal of 64 bits"),
        pytest.param(parse_int, "0" * 5000 + "1", 10, 1, id="zeros without end"),
        pytest.param(parse_int, "9" * 5000, 10, RANGE, id="digits without end"),
        pytest.param(parse_int, "", 10, SYNTAX, id="nothing"),
        pytest.param(parse_int, "-", 10, SYNTAX, id="a sign alone"),
        pytest.param(parse_int, "0x1", 16, SYNTAX, id="a base of its own"),
        pytest.param(parse_int, "1_0", 10, SYNTAX, id="an underscore"),
        pytest.param(parse_int, " 1", 10, SYNTAX, id="a space"),
        pytest.param(parse_int, "１", 10, SYNTAX, id="digits of another script"),
        pytest.param(parse_int, "-0x1F", 0, -31, id="a literal in hexadecimal"),
        pytest.param(parse_int, "0b_11", 0, 3, id="a binary literal"),
        pytest.param(parse_int, "0o17", 0, 15, id="an octal literal"),
        pytest.param(parse_int, "017", 0, 15, id="an octal literal of old"),
        pytest.param(parse_int, "1_000", 0, 1000, id="a literal in groups"),
        pytest.param(parse_int, "0", 0, 0, id="the literal zero"),
        pytest.param(parse_int, "08", 0, SYNTAX, id="no octal digit"),
        pytest.param(parse_int, "1__0", 0, SYNTAX, id="two underscores"),
        pytest.param(parse_int, "0x", 0, SYNTAX, id="a prefix alone"),
        pytest.param(parse_int, "0x8000000000000000", 0, RANGE, id="a literal that is one too many"),
        pytest.param(parse_uint, "18446744073709551615", 10, (1 << 64) - 1, id="the most"),
        pytest.param(parse_uint, "18446744073709551616", 10, RANGE, id="more than the most"),
        pytest.param(parse_uint, "+1", 10, SYNTAX, id="no sign"),
    ],
)
def test_parse(parse: Callable[..., int], text: str, base: int, expected: int | str) -> None:
    if isinstance(expected, int):
        assert parse(text, base=base) == expected
        return
    function = "ParseInt" if parse is parse_int else "ParseUint"
    message = f'strconv.{function}: parsing "{text}": {expected}'
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse(text, base=base)
