"""Booleans as Go's strconv reads them."""

from __future__ import annotations

import pytest

from engine.api.golang.boolean import is_true, parse_bool


@pytest.mark.parametrize("text", ["1", "t", "T", "TRUE", "true", "True"])
def test_what_is_true(text: str) -> None:
    assert parse_bool(text)
    assert is_true(text)


@pytest.mark.parametrize("text", ["0", "f", "F", "FALSE", "false", "False"])
def test_what_is_false(text: str) -> None:
    assert not parse_bool(text)
    assert not is_true(text)


@pytest.mark.parametrize("text", ["", "yes", "tRUE", " true", 'a"b'])
def test_what_is_neither(text: str) -> None:
    with pytest.raises(ValueError, match=r"^strconv\.ParseBool: parsing ") as raised:
        parse_bool(text)
    shown = text.replace('"', '\\"')
    assert str(raised.value) == f'strconv.ParseBool: parsing "{shown}": invalid syntax'
    assert not is_true(text)
