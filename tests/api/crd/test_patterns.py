"""Patterns that are no regular expressions, in Go's words (regexp/all_test.go has some of them)."""

from __future__ import annotations

import pytest

from engine.api.crd.patterns import what_is_wrong

LARGE = "\\pL" * 27000


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("*", "missing argument to repetition operator: `*`"),
        ("a|?", "missing argument to repetition operator: `?`"),
        ("(abc", "missing closing ): `(abc`"),
        ("(a: b", "missing closing ): `(a: b`"),
        ("abc)", "unexpected ): `abc)`"),
        ("x[a-z", "missing closing ]: `[a-z`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("\\pX", "invalid character class range: `\\pX`"),
        ("abc\\", "trailing backslash at end of expression: ``"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a*+", "invalid nested repetition operator: `*+`"),
        ("\\x", "invalid escape sequence: `\\x`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?P<a-b>x)", "invalid named capture: `(?P<a-b>`"),
        pytest.param(LARGE, f"expression too large: `{LARGE}`", id="large"),
    ],
)
def test_what_is_no_regular_expression(pattern: str, why: str) -> None:
    assert what_is_wrong(pattern) == f"error parsing regexp: {why}"
