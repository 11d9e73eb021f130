"""Addresses that are taken but not written as they should be (apimachinery pkg/util/validation/ip.go).

Validation refuses the forms that have more than one reading, but not everywhere: what an object has may stay, and
`loadBalancerIP` may be anything.
"""

from __future__ import annotations

import ipaddress
import json

from engine.api.types import Object
from engine.api.validation.text import ip_address, sloppy_address


def ip_warnings(value: str, path: str) -> list[str]:
    address = sloppy_address(value)
    if address is None:
        return []
    if ip_address(value):
        return [_non_standard(path, "IP address", value, _shown(address))]
    if address.version == 4 or str(address) == value:
        return []
    return [_canonical(path, "address", value, str(address))]


def cidr_warnings(value: str, path: str) -> list[str]:
    text, _, length = value.partition("/")
    address = sloppy_address(text)
    if address is None or not (length.isascii() and length.isdigit()) or int(length) > address.max_prefixlen:
        return []
    network = ipaddress.ip_network((address, int(length)), strict=False)
    right = _shown_network(network)
    found = []
    if network.network_address != address:
        single = f"{_shown(address)}/{address.max_prefixlen}"
        found.append(
            f"{path}: CIDR value {json.dumps(value)} is ambiguous in this context (should be {json.dumps(right)} or "
            f"{json.dumps(single)}?)"
        )
    if ip_address(text) or length != str(int(length)):
        found.append(_non_standard(path, "CIDR value", value, right))
    if not found and address.version == 6 and str(network) != value:
        found.append(_canonical(path, "CIDR value", value, str(network)))
    return found


def pod_status(pod: Object) -> list[str]:
    status = pod.get("status") or {}
    return [
        text
        for field in ("podIPs", "hostIPs")
        for index, entry in enumerate(status.get(field) or ())
        for text in ip_warnings(entry.get("ip", ""), f"status.{field}[{index}].ip")
    ]


def load_balancer_status(obj: Object) -> list[str]:
    entries = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return [
        text
        for index, entry in enumerate(entries)
        for text in ip_warnings(entry.get("ip", ""), f"status.loadBalancer.ingress[{index}]")
    ]


def _canonical(path: str, noun: str, value: str, right: str) -> str:
    return f"{path}: IPv6 {noun} {json.dumps(value)} should be in RFC 5952 canonical format ({json.dumps(right)})"


def _non_standard(path: str, noun: str, value: str, right: str) -> str:
    return (
        f"{path}: non-standard {noun} {json.dumps(value)} will be considered invalid in a future Kubernetes release: "
        f"use {json.dumps(right)}"
    )


def _shown(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """As Go's net.IP says it: an IPv4 address in an IPv6 address is an IPv4 address."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def _shown_network(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> str:
    """As Go's net.IPNet says it, which shortens the prefix with the address."""
    address = network.network_address
    mapped = isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None
    return f"{_shown(address)}/{network.prefixlen - 96 if mapped else network.prefixlen}"
