"""Addresses that are right but not written as they should be (apimachinery pkg/util/validation/ip.go).

Validation already refuses the forms that have more than one reading; what is left are IPv6 addresses that are not in
their canonical form.
"""

from __future__ import annotations

import ipaddress
import json

from engine.api.types import Object


def ip_warnings(value: str, path: str) -> list[str]:
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        return []
    if address.version == 4 or str(address) == value:
        return []
    return [_canonical(path, "address", value, str(address))]


def cidr_warnings(value: str, path: str) -> list[str]:
    try:
        network = ipaddress.ip_network(value)
    except ValueError:
        return []
    if network.version == 4 or str(network) == value:
        return []
    return [_canonical(path, "CIDR value", value, str(network))]


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
