"""The formats of strings that custom resources are checked for (kube-openapi pkg/validation/strfmt).

A format that is not here says nothing, as upstream; dashes in the names of formats do not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from unicodedata import category

from engine.api.crd.numbered import credit_card, isbn10, isbn13
from engine.api.golang import url as go_url
from engine.api.golang.duration import parse_duration
from engine.api.golang.integer import parse_int
from engine.api.golang.mail import is_address
from engine.api.validation.text import dns_label, dns_subdomain, sloppy_address

_UUID = {
    name: re.compile(
        rf"(?i)[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{version}[0-9a-f]{{3}}-?{variant}[0-9a-f]{{3}}-?[0-9a-f]{{12}}"
    )
    for name, version, variant in (
        ("uuid", "[0-9a-f]", "[0-9a-f]"),
        ("uuid3", "3", "[0-9a-f]"),
        ("uuid4", "4", "[89ab]"),
        ("uuid5", "5", "[89ab]"),
    )
}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})")
_PAIR = "[0-9a-fA-F]{2}"
_MAC = re.compile(
    rf"{_PAIR}([:-]){_PAIR}(?:(?:\1{_PAIR}){{4}}|(?:\1{_PAIR}){{6}}|(?:\1{_PAIR}){{18}})"
    rf"|{_PAIR * 2}(?:(?:\.{_PAIR * 2}){{2}}|(?:\.{_PAIR * 2}){{3}}|(?:\.{_PAIR * 2}){{9}})"
)
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_HEX_COLOR = re.compile(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_SHADE = r"[ \t\n\f\r]*(?:0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[ \t\n\f\r]*"
_RGB_COLOR = re.compile(rf"rgb\({_SHADE},{_SHADE},{_SHADE}\)")
_SSN = re.compile(r"(?=.{11}$)[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}")
_OBJECT_ID = re.compile(r"[0-9a-fA-F]{24}")
# Letters, digits and symbols of any script are all an "a" here.
_HOST = re.compile(r"a-?a{0,62}|(?:a(?:[a-]{0,61}a)?\.)+a(?:-?a){1,62}|a")
_SPELT = re.compile(r"\s*(?:[0-9]+\s*[A-Za-zµ]+\s*)+", re.ASCII)
_UNIT = re.compile(r"([0-9]+)\s*([A-Za-zµ]+)", re.ASCII)
_UNITS = frozenset(("ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"))
_LONG_UNITS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")


def _whole(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _ipv4(text: str) -> bool:
    """An address that says so with its dots, as one of six may that holds one of four."""
    return "." in text and sloppy_address(text) is not None


def _ipv6(text: str) -> bool:
    return ":" in text and sloppy_address(text) is not None


def _cidr(text: str) -> bool:
    address, slash, length = text.partition("/")
    found = sloppy_address(address)
    if not slash or found is None or not (length.isascii() and length.isdigit()):
        return False
    return int(length[:9]) <= found.max_prefixlen


def _uri(text: str) -> bool:
    try:
        go_url.parse(text, request=True)
    except ValueError:
        return False
    return True


def _host_name(text: str) -> bool:
    if len(text.encode()) > 255 or any(len(part.encode()) > 63 for part in text.split(".")):
        return False
    return _HOST.fullmatch("".join(map(_kind, text))) is not None


def _kind(letter: str) -> str:
    if letter in ".-":
        return letter
    # What is lower, upper, title or other letter, or a symbol: neither a mark nor punctuation.
    return "a" if letter.isalpha() or letter in "0123456789" or category(letter)[0] == "S" else "!"


def _date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text if text[:4] != "0000" else f"0400{text[4:]}")  # as long as the year that Go knows
    except ValueError:
        return False
    return True


def _date_time(text: str) -> bool:
    """What comes behind a second T is not looked at."""
    parts = text.lower().split("t")
    found = _TIME.fullmatch(parts[1]) if len(parts) > 1 and _date(parts[0]) else None
    return found is not None and found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


def _duration(text: str) -> bool:
    """Go's durations, and spelt ones of which one unit at least is known and no number is longer than int64."""
    try:
        parse_duration(text)
    except ValueError:
        return _SPELT.fullmatch(text) is not None and _spelt_duration(_UNIT.findall(text))
    return True


def _spelt_duration(parts: list[tuple[str, str]]) -> bool:
    try:
        for number, _ in parts:
            parse_int(number)
    except ValueError:
        return False
    return any(_is_unit(unit) for _, unit in parts)


def _is_unit(unit: str) -> bool:
    return unit.lower() in _UNITS or unit.lower().startswith(_LONG_UNITS)


_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "bsonobjectid": _whole(_OBJECT_ID),
    "byte": _whole(_BASE64),
    "cidr": _cidr,
    "creditcard": credit_card,
    "date": _date,
    "datetime": _date_time,
    "duration": _duration,
    "email": is_address,
    "hexcolor": _whole(_HEX_COLOR),
    "hostname": _host_name,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "isbn": lambda text: isbn10(text) or isbn13(text),
    "isbn10": isbn10,
    "isbn13": isbn13,
    "k8slongname": lambda text: not dns_subdomain(text),
    "k8sshortname": lambda text: not dns_label(text),
    "mac": _whole(_MAC),
    "password": lambda text: True,
    "rgbcolor": _whole(_RGB_COLOR),
    "ssn": _whole(_SSN),
    "uri": _uri,
    **{name: _whole(pattern) for name, pattern in _UUID.items()},
}


def known(format_: str) -> bool:
    return _name(format_) in _CHECKS


def fits(format_: str, text: str) -> bool:
    """Whether a text has a format; any text has one that is not known."""
    check = _CHECKS.get(_name(format_))
    return check is None or check(text)


def _name(format_: str) -> str:
    return format_.replace("-", "")
