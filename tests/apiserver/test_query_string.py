"""Queries as Go reads them (net/url url_test.go, parseTests)."""

from __future__ import annotations

import pytest

from engine.apiserver.query_string import read_query

READ: dict[str, dict[str, list[str]]] = {
    "": {},
    "a=1": {"a": ["1"]},
    "a=1&b=2": {"a": ["1"], "b": ["2"]},
    "a=1&a=2&a=banana": {"a": ["1", "2", "banana"]},
    "ascii=%3Ckey%3A+0x90%3E": {"ascii": ["<key: 0x90>"]},
    "a=1;b=2": {},
    "a;b=1": {},
    "a=%3B": {"a": [";"]},
    "a%3Bb=1": {"a;b": ["1"]},
    "a=1&a=2;a=banana": {"a": ["1"]},
    "a;b&c=1": {"c": ["1"]},
    "a=1&b=2;a=3&c=4": {"a": ["1"], "c": ["4"]},
    "a=%zz&b=2": {"b": ["2"]},
    "a=1%": {},
    "%4=x&c=": {"c": [""]},
    "watch": {"watch": [""]},
    "&&a=b=c&=d": {"a": ["b=c"], "": ["d"]},
}


@pytest.mark.parametrize("text", READ)
def test_pairs_that_are_malformed_are_left_out(text: str) -> None:
    assert read_query(text) == READ[text]
