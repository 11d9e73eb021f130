"""URLs: parsed twice as upstream does, for a request's URL has no fragment (pkg/cel/library/urls.go, Go's net/url)."""

from __future__ import annotations

import pytest

from engine.api.cel.environment import Environment

ENVIRONMENT = Environment({})


@pytest.mark.parametrize(
    "expression",
    [
        "url('https://u:p@a.io:80/docs/home?k1=a&k2=b&k2=c#anchor').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
        "url('https://a.io/docs#anchor').getEscapedPath() == '/docs'",
        "url('https://a.io/docs#anchor') != url('https://a.io/docs')",
        "url('https://a.io/a b%20c').getEscapedPath() == '/a%20b%20c'",
        "url('https://a.io/a%2Fb(c)').getEscapedPath() == '/a%2Fb(c)'",
        "url('https://a.io/ü').getEscapedPath() == '/%C3%BC'",
        "url('https://a.io/?a=1;b=2&c=%zz&d+e=f+g&&h').getQuery() == {'d e': ['f g'], 'h': ['']}",
        "isURL('https://a.io/?q#%zz') && !isURL('https://a.io/#%zz')",
        "!format.uri().validate('https://a.io/?q#%zz').hasValue()",
    ],
)
def test_what_a_url_says(expression: str) -> None:
    outcome = ENVIRONMENT.compile(expression).run({})
    assert (outcome.value, outcome.error) == (True, "")


def test_a_fragment_must_be_escaped_too() -> None:
    outcome = ENVIRONMENT.compile("url('https://a.io/?q#%zz').getHost() == ''").run({})
    why = 'URL parse error during conversion from string: parse "https://a.io/?q#%zz": invalid URL escape "%zz"'
    assert outcome.error == why
