"""Kubernetes' own CEL functions: lists, regex, URLs, IPs and CIDRs, quantities, versions, formats, sets.

Source: apiserver pkg/cel/library. What these functions make (a Quantity, a URL) travels through the runtime as a map
with one key that says what it is, for only plain values do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from cel_expr_python import cel
from cel_expr_python.ext import ext_optional, ext_strings

from engine.api.crd import formats
from engine.api.crd.cel.values import duration_of, time_of
from engine.api.quantity import Quantity, QuantityError
from engine.api.validation import text as names

_T = cel.Type
_LIST = _T.List(_T.DYN)
_STRINGS = _T.List(_T.STRING)
Implementation = Callable[..., Any]


def _function(name: str, *overloads: tuple[Any, list[Any], Implementation, bool]) -> Any:
    made = []
    for number, (result, parameters, implementation, member) in enumerate(overloads):
        identity = f"kubernetes_{name.replace('.', '_')}_{number}"
        made.append(
            cel.Overload(identity, return_type=result, parameters=parameters, is_member=member, impl=implementation)
        )
    return cel.FunctionDecl(name, made)


def _member(name: str, result: Any, parameters: list[Any], implementation: Implementation) -> Any:
    return _function(name, (result, parameters, implementation, True))


def _plain(name: str, result: Any, parameters: list[Any], implementation: Implementation) -> Any:
    return _function(name, (result, parameters, implementation, False))


@lru_cache(maxsize=1)
def extensions() -> list[Any]:
    """Made once: what the rules of every schema are compiled with."""
    functions = [*_lists(), *_regex(), *_urls(), *_quantities(), *_addresses(), *_formats(), *_sets(), *_instants()]
    own = cel.CelExtension("kubernetes", functions)
    return [ext_strings.ExtStrings(), ext_optional.ExtOptional(), own]


# -- lists


def _lists() -> Iterable[Any]:
    yield _member("isSorted", _T.BOOL, [_LIST], lambda items: all(a <= b for a, b in pairwise(items)))
    yield _member("sum", _T.DYN, [_LIST], sum)
    yield _member("min", _T.DYN, [_LIST], min)
    yield _member("max", _T.DYN, [_LIST], max)
    yield _member("indexOf", _T.INT, [_LIST, _T.DYN], lambda items, item: items.index(item) if item in items else -1)
    yield _member("lastIndexOf", _T.INT, [_LIST, _T.DYN], _last_index)


def _last_index(items: list[Any], item: Any) -> int:
    return len(items) - 1 - items[::-1].index(item) if item in items else -1


def _sets() -> Iterable[Any]:
    yield _plain("sets.contains", _T.BOOL, [_LIST, _LIST], lambda one, other: all(each in one for each in other))
    yield _plain(
        "sets.equivalent",
        _T.BOOL,
        [_LIST, _LIST],
        lambda one, other: all(each in one for each in other) and all(each in other for each in one),
    )
    yield _plain("sets.intersects", _T.BOOL, [_LIST, _LIST], lambda one, other: any(each in one for each in other))


def _instants() -> Iterable[Any]:
    """What `fields` puts behind texts that are times or durations."""
    yield _member("kubernetesTime", _T.TIMESTAMP, [_T.DYN], time_of)
    yield _member("kubernetesDuration", _T.DURATION, [_T.DYN], duration_of)


# -- regular expressions


def _regex() -> Iterable[Any]:
    yield _member("find", _T.STRING, [_T.STRING, _T.STRING], _find)
    yield _function(
        "findAll",
        (_STRINGS, [_T.STRING, _T.STRING], lambda text, pattern: _find_all(text, pattern, -1), True),
        (_STRINGS, [_T.STRING, _T.STRING, _T.INT], lambda text, pattern, limit: _find_all(text, pattern, limit), True),
    )


def _find(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    return found[0] if found else ""


def _find_all(text: str, pattern: str, limit: int) -> list[str]:
    found = [match[0] for match in re.finditer(pattern, text)]
    return found if limit < 0 else found[:limit]


# -- URLs


def _is_url(text: str) -> bool:
    parts = urlsplit(text)
    return bool(parts.scheme and parts.netloc) or text.startswith("/")


def _url(text: str) -> dict[str, str]:
    if not _is_url(text):
        raise ValueError(f'URL parse error during conversion from string: parse "{text}": invalid URI for request')
    return {"url": text}


def _urls() -> Iterable[Any]:
    yield _plain("url", _T.DYN, [_T.STRING], _url)
    yield _plain("isURL", _T.BOOL, [_T.STRING], _is_url)
    yield _member("getScheme", _T.STRING, [_T.DYN], lambda url: urlsplit(url["url"]).scheme)
    yield _member("getHost", _T.STRING, [_T.DYN], lambda url: urlsplit(url["url"]).netloc.rpartition("@")[2])
    yield _member("getHostname", _T.STRING, [_T.DYN], _host_name)
    yield _member("getPort", _T.STRING, [_T.DYN], lambda url: str(urlsplit(url["url"]).port or ""))
    yield _member("getEscapedPath", _T.STRING, [_T.DYN], lambda url: urlsplit(url["url"]).path)
    yield _member("getQuery", _T.Map(_T.STRING, _STRINGS), [_T.DYN], lambda url: parse_qs(urlsplit(url["url"]).query))


def _host_name(url: dict[str, str]) -> str:
    host = urlsplit(url["url"]).netloc.rpartition("@")[2]
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


# -- quantities and versions


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def _quantity(text: str) -> dict[str, str]:
    return {"quantity": str(Quantity.parse(text))}


def _amount(value: Any) -> Any:
    """What a value is compared by: a quantity or a version, or a number that stands for one."""
    if isinstance(value, dict):
        if "semver" in value:
            return _version_key(value["semver"])
        return Quantity.parse(value["quantity"])
    return Quantity.parse(value)


def _compare(one: Any, other: Any) -> int:
    left, right = _amount(one), _amount(other)
    return int(left > right) - int(left < right)


def _quantities() -> Iterable[Any]:
    yield _plain("quantity", _T.DYN, [_T.STRING], _quantity)
    yield _plain("isQuantity", _T.BOOL, [_T.STRING], _is_quantity)
    yield _plain("semver", _T.DYN, [_T.STRING], _semver)
    yield _plain("isSemver", _T.BOOL, [_T.STRING], lambda text: _SEMVER.fullmatch(text) is not None)
    yield _member("isGreaterThan", _T.BOOL, [_T.DYN, _T.DYN], lambda one, other: _compare(one, other) > 0)
    yield _member("isLessThan", _T.BOOL, [_T.DYN, _T.DYN], lambda one, other: _compare(one, other) < 0)
    yield _member("compareTo", _T.INT, [_T.DYN, _T.DYN], _compare)
    yield _member("add", _T.DYN, [_T.DYN, _T.DYN], lambda one, other: {"quantity": str(_amount(one) + _amount(other))})
    yield _member("sub", _T.DYN, [_T.DYN, _T.DYN], lambda one, other: {"quantity": str(_amount(one) - _amount(other))})
    yield _member("sign", _T.INT, [_T.DYN], lambda value: _compare(value, 0))
    yield _member("isInteger", _T.BOOL, [_T.DYN], lambda value: _amount(value).milli % 1000 == 0)
    yield _member("asInteger", _T.INT, [_T.DYN], lambda value: int(_amount(value).value))
    yield _member("asApproximateFloat", _T.DOUBLE, [_T.DYN], lambda value: _amount(value).milli / 1000)
    for index, part in enumerate(("major", "minor", "patch")):
        yield _member(part, _T.INT, [_T.DYN], lambda value, index=index: _version_key(value["semver"])[index])


_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?"
)


def _semver(text: str) -> dict[str, str]:
    if not _SEMVER.fullmatch(text):
        raise ValueError(f"semver parse error: {text}")
    return {"semver": text}


def _version_key(text: str) -> tuple[Any, ...]:
    match = _SEMVER.fullmatch(text)
    assert match is not None
    before = match[4]
    order = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in (before or "").split(".") if part)
    return (int(match[1]), int(match[2]), int(match[3]), before is None, order)


# -- addresses


def _ip(value: Any) -> IPv4Address | IPv6Address:
    return ip_address(value["ip"] if isinstance(value, dict) else value)


def _is_ip(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _is_cidr(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _make_ip(value: Any) -> dict[str, str]:
    if isinstance(value, dict):
        return {"ip": value["cidr"].partition("/")[0]}
    if not _is_ip(value):
        raise ValueError(
            f"IP Address '{value}' parse error during conversion from string: "
            f'ParseAddr("{value}"): unable to parse IP'
        )
    return {"ip": str(ip_address(value))}


def _make_cidr(text: str) -> dict[str, str]:
    if not _is_cidr(text):
        raise ValueError(
            f"network address parse error during conversion from string: netip.ParsePrefix(\"{text}\"): no '/'"
        )
    return {"cidr": text}


def _network(value: Any) -> Any:
    return ip_network(value["cidr"] if isinstance(value, dict) else value, strict=False)


def _contains_cidr(one: Any, other: Any) -> bool:
    outer, inner = _network(one), _network(other)
    return outer.version == inner.version and bool(inner.subnet_of(outer))


def _addresses() -> Iterable[Any]:
    yield _function("ip", (_T.DYN, [_T.STRING], _make_ip, False), (_T.DYN, [_T.DYN], _make_ip, True))
    yield _plain("isIP", _T.BOOL, [_T.STRING], _is_ip)
    yield _plain("ip.isCanonical", _T.BOOL, [_T.STRING], lambda text: str(ip_address(text)) == text)
    yield _member("family", _T.INT, [_T.DYN], lambda value: _ip(value).version)
    yield _member("isUnspecified", _T.BOOL, [_T.DYN], lambda value: _ip(value).is_unspecified)
    yield _member("isLoopback", _T.BOOL, [_T.DYN], lambda value: _ip(value).is_loopback)
    yield _member("isLinkLocalMulticast", _T.BOOL, [_T.DYN], _link_local_multicast)
    yield _member("isLinkLocalUnicast", _T.BOOL, [_T.DYN], lambda value: _ip(value).is_link_local)
    yield _member("isGlobalUnicast", _T.BOOL, [_T.DYN], _global_unicast)
    yield _plain("cidr", _T.DYN, [_T.STRING], _make_cidr)
    yield _plain("isCIDR", _T.BOOL, [_T.STRING], _is_cidr)
    yield _member("containsIP", _T.BOOL, [_T.DYN, _T.DYN], lambda cidr, address: _ip(address) in _network(cidr))
    yield _member("containsCIDR", _T.BOOL, [_T.DYN, _T.DYN], _contains_cidr)
    yield _member("masked", _T.DYN, [_T.DYN], lambda value: {"cidr": str(_network(value))})
    yield _member("prefixLength", _T.INT, [_T.DYN], lambda value: _network(value).prefixlen)


def _link_local_multicast(value: Any) -> bool:
    address = _ip(value)
    return address in ip_network("224.0.0.0/24" if address.version == 4 else "ff02::/16")


def _global_unicast(value: Any) -> bool:
    address = _ip(value)
    broadcast = address == IPv4Address("255.255.255.255")
    return not (
        address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local or broadcast
    )


# -- formats


def _checked(check: Callable[[str], Iterable[str]]) -> Callable[[str], list[str]]:
    return lambda text: list(check(text))


def _fits(name: str, words: str) -> Callable[[str], list[str]]:
    return lambda text: [] if formats.fits(name, text) else [words]


_FORMATS: dict[str, Callable[[str], list[str]]] = {
    "dns1123Label": _checked(names.dns_label),
    "dns1123Subdomain": _checked(names.dns_subdomain),
    "dns1035Label": _checked(names.dns_1035_label),
    "qualifiedName": _checked(names.qualified_name),
    "dns1123LabelPrefix": lambda text: list(names.dns_label(names.unmasked(text))),
    "dns1123SubdomainPrefix": lambda text: list(names.dns_subdomain(names.unmasked(text))),
    "dns1035LabelPrefix": lambda text: list(names.dns_1035_label(names.unmasked(text))),
    "labelValue": _checked(names.label_value),
    "uri": _fits("uri", "invalid URI"),
    "uuid": _fits("uuid", "does not match the UUID format"),
    "byte": _fits("byte", "invalid base64"),
    "date": _fits("date", "invalid date"),
    "datetime": _fits("datetime", "invalid datetime"),
}


def _formats() -> Iterable[Any]:
    """What says whether there are errors is an optional of a list, here a map that has the list under one key."""
    for name in _FORMATS:
        yield _plain(f"format.{name}", _T.DYN, [], lambda name=name: {"format": name})
    result = _T.Map(_T.STRING, _STRINGS)
    yield _plain("format.named", _T.DYN, [_T.STRING], _named_format)
    yield _member("validate", result, [_T.DYN, _T.STRING], _validate)
    yield _member("hasValue", _T.BOOL, [result], bool)
    yield _member("value", _STRINGS, [result], lambda found: found["errors"])
    yield _member("orValue", _STRINGS, [result, _STRINGS], lambda found, other: found.get("errors", other))


def _named_format(name: str) -> dict[str, str]:
    if name not in _FORMATS:
        raise ValueError(f"unknown format: {orjson.dumps(name).decode()}")
    return {"format": name}


def _validate(format_: dict[str, str], text: str) -> dict[str, list[str]]:
    errors = _FORMATS[format_["format"]](text)
    return {"errors": errors} if errors else {}
