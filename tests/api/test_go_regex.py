"""Go's regular expressions in Python's syntax: what is found is what RE2 finds, as read off it."""

from __future__ import annotations

import re

import pytest

from engine.api.golang.regex import translated


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\d+", "٣12", "12"),
        (r"\w+", "é_a1é", "_a1"),
        (r"\s", "\u00a0\v\t", "\t"),
        (r"[^\w]", "aé", "é"),
        (r"[\Wa]+", "bé-a", "é-a"),
        (r"[^\Wa]", "-ab", "b"),
        (r"\bb", "éb", "b"),
        (r"\B", "", ""),
        ("a$", "a\n", None),
        ("(?m)a$", "a\nb", "a"),
        (r"a\z", "a\n", None),
        ("(?m)^b", "a\nb", "b"),
        ("a.b|a(?s).b", "a\nb", "a\nb"),
        ("a(?i)b|c", "C", "C"),
        ("(?:(?i)a)b", "AbAB", "Ab"),
        ("(?i:a)B", "ab AB", "AB"),
        ("(?i)\u212a", "k", "k"),
        ("(?U)ab??", "ab", "ab"),
        ("(?U)a+", "aa", "a"),
        ("(?<n>a)(?P<m>b)", "ab", "ab"),
        (r"\Qa.b\E+", "a.bb", "a.bb"),
        (r"\Qa*", "aa*", "a*"),
        ("a{,2}", "aa a{,2}", "a{,2}"),
        ("a{2}?", "aaa", "aa"),
        ("^*a", "ba", "a"),
        ("[]a]+", "[a]]", "a]]"),
        ("[^]a]", "]ab", "b"),
        ("[[a]", "[", "["),
        ("[a&&b]+", "c&b", "&b"),
        (r"[\x{41}-C\141\n]+", "\nABa", "\nABa"),
        ("[[:alpha:]_]+", "é1a_", "a_"),
        ("[[:^alpha:]]", "aé", "é"),
        (r"\pL+\p{Nd}", "aé٣", "aé٣"),
        (r"\PL", "é1", "1"),
        (r"[\p{^Lu}-]+", "Éa-", "a-"),
        (r"(?i)\p{Lu}", "1a", "a"),
        (r"(?i)\P{Lu}", "a1", "1"),
        ("#~ &", "#~ &", "#~ &"),
    ],
)
def test_what_is_found(pattern: str, text: str, found: str | None) -> None:
    match = re.search(translated(pattern), text)
    assert (match[0] if match else None) == found


def test_scripts_are_not_known() -> None:
    with pytest.raises(ValueError, match="Greek"):
        translated(r"\p{Greek}")
