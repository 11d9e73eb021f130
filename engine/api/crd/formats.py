"""The formats of strings that custom resources are checked for (kube-openapi pkg/validation/strfmt).

A format that is not here says nothing, as upstream.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from datetime import date
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_interface

from engine.api.golang import url as go_url
from engine.api.validation.text import dns_label, dns_subdomain

_HOST_LABEL = re.compile(r"[a-zA-Z0-9\u00a1-\uffff](?:[a-zA-Z0-9\u00a1-\uffff-]{0,62}[a-zA-Z0-9\u00a1-\uffff])?")
_EMAIL = re.compile(r"[^@\s<>()]+@[^@\s<>()]+")
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
_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})?")
_MAC = re.compile(r"(?i)[0-9a-f]{2}([:-][0-9a-f]{2}){5}(([:-][0-9a-f]{2}){2})?|([0-9a-f]{4}\.){2,3}[0-9a-f]{4}")
_GO_DURATION = re.compile(r"[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)")
_LONG_DURATION = re.compile(
    r"\s*(\d+\s*(ns|us|µs|μs|ms|s|m|h|d|w|nano(second)?s?|micros?(econds?)?|millis?(econds?)?|secs?|seconds?|mins?|"
    r"minutes?|hours?|hrs?|days?|weeks?|wks?)\s*)+"
)
_HEX_COLOR = re.compile(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_RGB_COLOR = re.compile(r"rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)")
_ISBN = {"isbn10": re.compile(r"(\d{9}X|\d{10})"), "isbn13": re.compile(r"\d{13}")}
_SSN = re.compile(r"\d{3}[- ]?\d{2}[- ]?\d{4}")
_OBJECT_ID = re.compile(r"[0-9a-fA-F]{24}")
_CARD = re.compile(r"\d{13,19}")


def _whole(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _ipv4(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


def _ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return "%" not in text


def _cidr(text: str) -> bool:
    try:
        ip_interface(text)
    except ValueError:
        return False
    return "/" in text


def _uri(text: str) -> bool:
    try:
        go_url.parse(text, request=True)
    except ValueError:
        return False
    return True


def _date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10


def _date_time(text: str) -> bool:
    return _DATE_TIME.fullmatch(text) is not None and _date(text[:10])


def _duration(text: str) -> bool:
    return _GO_DURATION.fullmatch(text) is not None or _LONG_DURATION.fullmatch(text) is not None


def _byte(text: str) -> bool:
    try:
        b64decode(text, validate=True)
    except (Base64Error, ValueError):
        return False
    return True


def _isbn(text: str) -> bool:
    plain = re.sub(r"[\s-]+", "", text)
    return any(pattern.fullmatch(plain) for pattern in _ISBN.values())


def _rgb(text: str) -> bool:
    found = _RGB_COLOR.fullmatch(text)
    return found is not None and all(int(part) <= 255 for part in found.groups())


def _card(text: str) -> bool:
    plain = re.sub(r"[^0-9]+", "", text)
    if not _CARD.fullmatch(plain):
        return False
    digits = [int(digit) for digit in reversed(plain)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "bsonobjectid": _whole(_OBJECT_ID),
    "byte": _byte,
    "cidr": _cidr,
    "creditcard": _card,
    "date": _date,
    "date-time": _date_time,
    "datetime": _date_time,
    "duration": _duration,
    "email": _whole(_EMAIL),
    "hexcolor": _whole(_HEX_COLOR),
    "hostname": lambda text: len(text) <= 255 and all(map(_HOST_LABEL.fullmatch, text.split("."))),
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "isbn": _isbn,
    "isbn10": lambda text: _ISBN["isbn10"].fullmatch(re.sub(r"[\s-]+", "", text)) is not None,
    "isbn13": lambda text: _ISBN["isbn13"].fullmatch(re.sub(r"[\s-]+", "", text)) is not None,
    "k8s-long-name": lambda text: not dns_subdomain(text),
    "k8s-short-name": lambda text: not dns_label(text),
    "mac": _whole(_MAC),
    "rgbcolor": _rgb,
    "ssn": _whole(_SSN),
    "uri": _uri,
    **{name: _whole(pattern) for name, pattern in _UUID.items()},
}


def known(format_: str) -> bool:
    return format_ in _CHECKS or format_ == "password"


def fits(format_: str, text: str) -> bool:
    """Whether a text has a format; any text has one that is not known."""
    check = _CHECKS.get(format_)
    return check is None or check(text)
