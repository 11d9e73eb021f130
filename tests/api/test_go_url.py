"""The rows are of Go's net/url url_test.go (parseRequestURLTests, TestParseErrors, urltests)."""

from __future__ import annotations

import pytest

from engine.api.golang.url import Url, parse


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://www.google.com", Url("http", None, "www.google.com")),
        ("http://www.google.com/file%20one%26two", Url("http", None, "www.google.com", "/file%20one%26two")),
        ("http://webmaster@www.google.com/", Url("http", "webmaster", "www.google.com", "/")),
        ("http://j@ne:password@google.com/p@th?q=@go", Url("http", "j@ne:password", "google.com", "/p@th", "q=@go")),
        (
            "http://www.google.com/?q=go+language#foo%26bar",
            Url("http", None, "www.google.com", "/", "q=go+language", "foo%26bar"),
        ),
        ("MAILTO:webmaster@golang.org", Url("mailto")),
        ("//foo/bar", Url("", None, "foo", "/bar")),
        ("///threeslashes", Url(path="///threeslashes")),
        ("a/b/c", Url(path="a/b/c")),
        ("*", Url(path="*")),
        ("http://[fe80::1%25en0]:8080/", Url("http", None, "[fe80::1%25en0]:8080", "/")),
        ("https://host:/x", Url("https", None, "host:", "/x")),
        ('http://a<b>"c/', Url("http", None, 'a<b>"c', "/")),
        ("", Url()),
    ],
)
def test_what_a_url_is_made_of(text: str, url: Url) -> None:
    assert parse(text) == url


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("http://[::1", "missing ']' in host"),
        ("http://[::1]:namedport", 'invalid port ":namedport" after host'),
        ("http://x:namedport", 'invalid port ":namedport" after host'),
        ("http://[::1]a", 'invalid port "a" after host'),
        ("http://localhost:80:80/", 'invalid port ":80:80" after host'),
        ("http://%41:8080/", 'invalid URL escape "%41"'),
        ("http://a b.com/", 'invalid character " " in host name'),
        ("mysql://x@y(z:123)/foo", 'invalid port ":123)" after host'),
        ("http://[]%20%48%54%54%50%2f%31%2e%31%0a/", 'invalid port "%20%48%54%54%50%2f%31%2e%31%0a" after host'),
        ("http://a b:c@host/", "net/url: invalid userinfo"),
        ("http://host/%zz", 'invalid URL escape "%zz"'),
        ("%$", 'invalid URL escape "%$"'),
        ("cache_object:foo/bar", "first path segment in URL cannot contain colon"),
        (":", "missing protocol scheme"),
    ],
)
def test_what_is_wrong_with_a_url(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=r"^parse ") as refused:
        parse(text)
    assert str(refused.value) == f'parse "{text}": {why}'


@pytest.mark.parametrize(("text", "told"), [("a\x7fb", "a\\x7fb"), ("a\x01", "a\\x01"), ("a\n", "a\\n")])
def test_control_characters_are_written_out(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r"^parse ") as refused:
        parse(text)
    assert str(refused.value) == f'parse "{told}": net/url: invalid control character in URL'


def test_a_fragment_is_told_apart_and_checked() -> None:
    with pytest.raises(ValueError, match=r"^parse ") as refused:
        parse("http://a b/#c")
    assert str(refused.value) == 'parse "http://a b/": invalid character " " in host name'
    with pytest.raises(ValueError, match=r"^parse ") as refused:
        parse("http://a/#%c")
    assert str(refused.value) == 'parse "http://a/#%c": invalid URL escape "%c"'


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("http://foo.com/path", True),
        ("/", True),
        ("//not.a.user@not.a.host/just/a/path", True),
        ("//not.a.user@%66%6f%6f.com/just/a/path/also", True),
        ("*", True),
        ("http://192.168.0.1:8080/", True),
        ("http://192.168.0.%31/", False),
        ("http://[fe80::1]:8080/", True),
        ("http://[::1]/%48", True),
        ("mailto:webmaster@golang.org", True),
        ("foo.html", False),
        ("../dir/", False),
        (" http://foo.com", False),
        ("", False),
        ("http://a#b", False),
    ],
)
def test_what_a_request_can_be_for(text: str, right: bool) -> None:
    if right:
        parse(text, request=True)
    else:
        with pytest.raises(ValueError, match=r"^parse "):
            parse(text, request=True)
