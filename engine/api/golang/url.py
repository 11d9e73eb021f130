"""URLs as Go's net/url parses them (url.go: Parse, ParseRequestURI), and what is wrong with one in its words.

Colons in a host are taken strictly, as since Go 1.26.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import orjson

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}", re.DOTALL)
# Of ASCII, only these need to be escaped in a host, and there they cannot be.
_NOT_IN_HOSTS = re.compile(r"%(?!25|[89a-fA-F][0-9a-fA-F]).{0,2}|[ #/?@\\^`{|}]", re.DOTALL)
_USER = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_PORT = re.compile(r"(:[0-9]*)?")
_ODD = re.compile(r"(?<!\\)\\u00([01][0-9a-f])|\x7f")  # where JSON writes otherwise than Go


@dataclass(frozen=True, slots=True)
class Url:
    scheme: str = ""
    user: str | None = None
    """As written; empty if there is nothing before an '@'."""
    host: str = ""
    """With its port."""
    path: str = ""
    query: str = ""
    fragment: str = ""


def parse(text: str, *, request: bool = False) -> Url:
    """Of a request: absolute, and a '#' says nothing. Raises ValueError."""
    rest, fragment = text, ""
    if not request:
        rest, _, fragment = text.partition("#")
    return _fragment(text, _parse(rest, request), fragment)


def _fragment(text: str, url: Url, fragment: str) -> Url:
    if (broken := _BROKEN_ESCAPE.search(fragment)) is not None:
        raise _error(text, _escape(broken[0]))
    return Url(url.scheme, url.user, url.host, url.path, url.query, fragment)


def _parse(text: str, request: bool) -> Url:
    if _CONTROL.search(text):
        raise _error(text, "net/url: invalid control character in URL")
    if not text and request:
        raise _error(text, "empty url")
    if text == "*":
        return Url(path="*")
    if text.startswith(":"):
        raise _error(text, "missing protocol scheme")
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found is not None else ""
    rest, _, query = text[found.end() if found is not None else 0 :].partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(scheme=scheme, query=query)  # an opaque one
        if request:
            raise _error(text, "invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise _error(text, "first path segment in URL cannot contain colon")
    user, host = None, ""
    if rest.startswith("//") and (scheme or (not request and not rest.startswith("///"))):
        authority, slash, rest = rest[2:].partition("/")
        rest = slash + rest
        before, at, host = authority.rpartition("@")
        if why := _wrong_host(host) or _wrong_user(before):
            raise _error(text, why)
        user = before if at else None
    if (broken := _BROKEN_ESCAPE.search(rest)) is not None:
        raise _error(text, _escape(broken[0]))
    return Url(scheme, user, host, rest, query)


def _wrong_host(host: str) -> str:
    if "[" in host:
        if "]" not in host:
            return "missing ']' in host"
        name, _, port = host.rpartition("]")
    else:
        name, colon, number = host.partition(":")
        port = colon + number
    if not _PORT.fullmatch(port):
        return f"invalid port {_quoted(port)} after host"
    if (bad := _NOT_IN_HOSTS.search(name.partition("%25")[0] if "[" in host else name)) is None:
        return ""
    return _escape(bad[0]) if bad[0].startswith("%") else f"invalid character {_quoted(bad[0])} in host name"


def _wrong_user(user: str) -> str:
    if not _USER.fullmatch(user):
        return "net/url: invalid userinfo"
    broken = _BROKEN_ESCAPE.search(user)
    return _escape(broken[0]) if broken is not None else ""


def _escape(text: str) -> str:
    return f"invalid URL escape {_quoted(text)}"


def _error(url: str, why: str) -> ValueError:
    return ValueError(f"parse {_quoted(url)}: {why}")


def _quoted(text: str) -> str:
    """As %q writes it."""
    return _ODD.sub(lambda odd: rf"\x{odd[1] or '7f'}", orjson.dumps(text).decode())
