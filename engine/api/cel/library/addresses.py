"""IPs, CIDRs and URLs (pkg/cel/library/ip.go, cidr.go, urls.go); what is wrong with one is told in Go's words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from string import hexdigits
from typing import Any
from urllib.parse import quote, unquote_plus, unquote_to_bytes

import orjson

from engine.api.cel.functions import Library
from engine.api.cel.mismatches import NO_OVERLOAD
from engine.api.cel.types import BOOL, INT, STRING, STRINGS, map_of, opaque
from engine.api.cel.values import EvaluationError, Opaque
from engine.api.golang import url as go_url

_ESCAPED_PATH = re.compile(r"[-\w.~!$&'()*+,;=:@/\[\]%]*", re.ASCII)
_NO_SETTING = re.compile("%(?![0-9A-Fa-f]{2})|;")
IP, CIDR, URL = opaque("net.IP"), opaque("net.CIDR"), opaque("kubernetes.URL")


@dataclass(frozen=True, slots=True)
class Address(Opaque):
    cel_type = IP
    ip: IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Network(Opaque):
    cel_type = CIDR
    ip: IPv4Address | IPv6Address
    bits: int

    @property
    def network(self) -> Any:
        return ip_network(f"{self.ip}/{self.bits}", strict=False)


@dataclass(frozen=True, slots=True)
class Url(Opaque):
    cel_type = URL
    parsed: go_url.Url


def addresses() -> Library:
    made = Library()
    _ips(made)
    _cidrs(made)
    return made


def urls() -> Library:
    made = Library()
    _urls(made)
    return made


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


# -- IPs


def _wrong_ipv4(text: str) -> str:
    """The first letter that is wrong counts, as in net/netip."""
    fields, digits = 1, ""
    for at, letter in enumerate(text):
        if letter in "0123456789":
            if digits == "0":
                return "IPv4 field has octet with leading zero"
            digits += letter
            if int(digits) > 255:
                return "IPv4 field has value >255"
        elif letter != ".":
            return f"unexpected character (at {_quoted(text[at:])})"
        elif not digits or at == len(text) - 1:
            return f"IPv4 field must have at least one digit (at {_quoted(text[at:])})"
        elif fields == 4:
            return "IPv4 address too long"
        else:
            fields, digits = fields + 1, ""
    return "IPv4 address too short"


def _wrong_ipv6(text: str) -> str:
    """As net/netip goes through the fields: the first thing that is wrong counts."""
    rest, octets, gap = text, 0, text.startswith("::")
    if gap:
        rest = rest[2:]
    while octets < 16:
        digits = len(rest) - len(rest.lstrip(hexdigits))
        if digits > 4:
            return f"each group must have 4 or less digits (at {_quoted(rest)})"
        if digits == 0:
            return f"each colon-separated field must have at least one digit (at {_quoted(rest)})"
        if rest[digits : digits + 1] == ".":
            return _wrong_embedded(rest, octets, gap=gap)
        octets, rest = octets + 2, rest[digits:]
        if not rest:
            break
        if not rest.startswith(":"):
            return f"unexpected character, want colon (at {_quoted(rest)})"
        if rest == ":":
            return f"colon must be followed by more characters (at {_quoted(rest)})"
        rest = rest[1:]
        if rest.startswith(":"):
            if gap:
                return f"multiple :: in address (at {_quoted(rest)})"
            gap, rest = True, rest[1:]
            if not rest:
                break
    if rest:
        return f"trailing garbage after address (at {_quoted(rest)})"
    return "the :: must expand to at least one field of zeros" if octets == 16 else "address string too short"


def _wrong_embedded(rest: str, octets: int, *, gap: bool) -> str:
    if not gap and octets != 12:
        return f"embedded IPv4 address must replace the final 2 fields of the address (at {_quoted(rest)})"
    if octets > 12:
        return f"too many hex fields to fit an embedded IPv4 at the end of the address (at {_quoted(rest)})"
    return _wrong_ipv4(rest)


def parse_addr(text: str) -> IPv4Address | IPv6Address:
    """As Go's netip.ParseAddr. Raises EvaluationError."""
    bare, zone, name = text.partition("%")
    try:
        found = ip_address(bare)
        if not zone or (name and found.version == 6):
            return found
        why = (
            "zone must be a non-empty string"
            if found.version == 6
            else f"unexpected character (at {_quoted(zone + name)})"
        )
    except ValueError:
        first = next((letter for letter in text if letter in ".:%"), "")
        why = {"": "unable to parse IP", "%": "missing IPv6 address"}.get(first, "")
        why = why or (_wrong_ipv4(text) if first == "." else _wrong_ipv6(bare))
    raise EvaluationError(f"ParseAddr({_quoted(text)}): {why}")


def address(text: str) -> Address:
    """Raises EvaluationError."""
    try:
        found = parse_addr(text)
    except EvaluationError as error:
        raise EvaluationError(
            f"IP Address {_quoted(text)} parse error during conversion from string: {error}"
        ) from None
    if "%" in text:
        raise EvaluationError(f"IP address {_quoted(text)} with zone value is not allowed")
    if _is_mapped(found):
        raise EvaluationError(_not_mapped(text))
    return Address(found)


def _is_mapped(ip: Any) -> bool:
    return ip.version == 6 and ip.ipv4_mapped is not None


def _not_mapped(text: str) -> str:
    return f"IPv4-mapped IPv6 address {_quoted(text)} is not allowed"


def _tells(parse: Callable[[str], Any]) -> Callable[[str], bool]:
    def run(text: str) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return run


def _ips(made: Library) -> None:
    made.add("ip", (STRING,), IP, address, identity="string_to_ip")
    made.add("isIP", (STRING,), BOOL, _tells(address), identity="is_ip")
    made.add("ip.isCanonical", (STRING,), BOOL, lambda text: str(address(text).ip) == text, identity="ip_is_canonical")
    made.add("string", (IP,), STRING, lambda value: str(value.ip), identity="ip_to_string")
    made.member("family", (IP,), INT, lambda value: value.ip.version)
    made.member("isUnspecified", (IP,), BOOL, lambda value: value.ip.is_unspecified)
    made.member("isLoopback", (IP,), BOOL, lambda value: value.ip.is_loopback)
    made.member("isLinkLocalMulticast", (IP,), BOOL, _link_local_multicast)
    made.member("isLinkLocalUnicast", (IP,), BOOL, lambda value: value.ip.is_link_local)
    made.member("isGlobalUnicast", (IP,), BOOL, _global_unicast)


def _link_local_multicast(value: Address) -> bool:
    return value.ip in ip_network("224.0.0.0/24" if value.ip.version == 4 else "ff02::/16")


def _global_unicast(value: Address) -> bool:
    found = value.ip
    special = found.is_unspecified or found.is_loopback or found.is_multicast or found.is_link_local
    return not special and found != IPv4Address("255.255.255.255")


# -- CIDRs


def network(text: str) -> Network:
    """Raises EvaluationError."""
    what = "network address parse error during conversion from string: "
    try:
        found = _network(text)
    except EvaluationError as error:
        raise EvaluationError(f"{what}{what}netip.ParsePrefix({_quoted(text)}): {error}") from None
    if _is_mapped(found.ip):
        raise EvaluationError(f"{what}{_not_mapped(text)}")
    return found


def _network(text: str) -> Network:
    where, slash, bits = text.rpartition("/")
    if not slash:
        raise EvaluationError("no '/'")
    found = parse_addr(where)
    if "%" in where:
        raise EvaluationError("IPv6 zones cannot be present in a prefix")
    if not re.fullmatch(r"0|[1-9][0-9]{0,2}", bits):
        raise EvaluationError(f"bad bits after slash: {_quoted(bits)}")
    if int(bits) > found.max_prefixlen:
        raise EvaluationError("prefix length out of range")
    return Network(found, int(bits))


def _contains_ip(outer: Network, inner: Any) -> bool:
    try:
        found = address(inner) if isinstance(inner, str) else inner
    except EvaluationError:
        raise EvaluationError(NO_OVERLOAD) from None  # of the network, as upstream has it
    return found.ip in outer.network


def _contains_cidr(outer: Network, inner: Any) -> bool:
    found = network(inner) if isinstance(inner, str) else inner
    return outer.ip.version == found.ip.version and bool(found.network.subnet_of(outer.network))


def _masked(value: Network) -> Network:
    return Network(value.network.network_address, value.bits)


def _cidrs(made: Library) -> None:
    made.add("cidr", (STRING,), CIDR, network, identity="string_to_cidr")
    made.add("isCIDR", (STRING,), BOOL, _tells(network), identity="is_cidr")
    made.add("string", (CIDR,), STRING, lambda value: f"{value.ip}/{value.bits}", identity="cidr_to_string")
    made.member("containsIP", (CIDR, STRING), BOOL, _contains_ip, identity="cidr_contains_ip_string")
    made.member("containsIP", (CIDR, IP), BOOL, _contains_ip, identity="cidr_contains_ip_ip")
    made.member("containsCIDR", (CIDR, STRING), BOOL, _contains_cidr, identity="cidr_contains_cidr_string")
    made.member("containsCIDR", (CIDR, CIDR), BOOL, _contains_cidr, identity="cidr_contains_cidr")
    made.member("ip", (CIDR,), IP, lambda value: Address(value.ip), identity="cidr_ip")
    made.member("masked", (CIDR,), CIDR, _masked, identity="cidr_masked")
    made.member("prefixLength", (CIDR,), INT, lambda value: value.bits, identity="cidr_prefix_length")


# -- URLs


def url(text: str) -> Url:
    """Must be one that a request can be for, but may have a fragment, which such have not. Raises EvaluationError."""
    request_url(text)
    return Url(_parsed(text, request=False))


def request_url(text: str) -> go_url.Url:
    """What the format `uri` is. Raises EvaluationError."""
    return _parsed(text, request=True)


def _parsed(text: str, *, request: bool) -> go_url.Url:
    try:
        return go_url.parse(text, request=request)
    except ValueError as error:
        raise EvaluationError(f"URL parse error during conversion from string: {error}") from error


def _host(value: Url) -> str:
    return value.parsed.host


def _host_name(value: Url) -> str:
    host = _host(value)
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _port(value: Url) -> str:
    host = _host(value)
    return (host.partition("]")[2] if host.startswith("[") else host).partition(":")[2]


def _path(value: Url) -> str:
    """As written if all that must be escaped is (net/url, URL.EscapedPath)."""
    path = value.parsed.path
    return path if _ESCAPED_PATH.fullmatch(path) else quote(unquote_to_bytes(path), safe="$&+,/:;=@")


def _query(value: Url) -> dict[str, list[str]]:
    """Without what net/url does not take for a setting: one with a semicolon, or with a broken escape."""
    found: dict[str, list[str]] = {}
    for setting in value.parsed.query.split("&"):
        if setting and not _NO_SETTING.search(setting):
            key, _, item = setting.partition("=")
            found.setdefault(unquote_plus(key), []).append(unquote_plus(item))
    return found


def _urls(made: Library) -> None:
    made.add("url", (STRING,), URL, url, identity="string_to_url")
    made.add("isURL", (STRING,), BOOL, _tells(request_url), identity="is_url_string")
    made.member("getScheme", (URL,), STRING, lambda value: value.parsed.scheme)
    made.member("getHost", (URL,), STRING, _host)
    made.member("getHostname", (URL,), STRING, _host_name)
    made.member("getPort", (URL,), STRING, _port)
    made.member("getEscapedPath", (URL,), STRING, _path)
    made.member("getQuery", (URL,), map_of(STRING, STRINGS), _query)
