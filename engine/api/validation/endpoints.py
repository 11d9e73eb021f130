"""Endpoints and EndpointSlices (core validation, ValidateEndpoints; pkg/apis/discovery/validation)."""

from __future__ import annotations

import ipaddress

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems
from engine.api.validation.services import PROTOCOLS, plain_address

_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_MAX_ENDPOINTS, _MAX_PORTS, _MAX_ADDRESSES = 1000, 20000, 100


def endpoints(obj: Object, problems: Problems) -> None:
    for index, subset in enumerate(obj.get("subsets", ())):
        path = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            problems.required(path, "must specify `addresses` or `notReadyAddresses`")
        for field in ("addresses", "notReadyAddresses"):
            for number, address in enumerate(subset.get(field, ())):
                plain_address(address.get("ip", ""), f"{path}.{field}[{number}].ip", problems)
        ports = subset.get("ports", ())
        for number, port in enumerate(ports):
            _endpoint_port(port, f"{path}.ports[{number}]", problems, name_required=len(ports) > 1)


def _endpoint_port(port: Object, path: str, problems: Problems, *, name_required: bool) -> None:
    name, number = port.get("name", ""), port.get("port", 0)
    if name_required and not name:
        problems.required(f"{path}.name")
    elif name:
        problems.all_invalid(f"{path}.name", name, text.dns_label(name))
    problems.all_invalid(f"{path}.port", number, text.port_number(number))
    problems.one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)


def endpoint_slice(obj: Object, problems: Problems) -> None:
    """Of discovery.k8s.io (pkg/apis/discovery/validation)."""
    kind = obj.get("addressType", "")
    if not kind:
        problems.required("addressType")
    elif kind not in _ADDRESS_TYPES:
        problems.not_supported("addressType", kind, _ADDRESS_TYPES)
    found = obj.get("endpoints", [])
    if len(found) > _MAX_ENDPOINTS:
        problems.too_many("endpoints", len(found), _MAX_ENDPOINTS)
        return
    for index, endpoint in enumerate(found):
        _endpoint(endpoint, f"endpoints[{index}]", kind, problems)
    ports = obj.get("ports", [])
    if len(ports) > _MAX_PORTS:
        problems.too_many("ports", len(ports), _MAX_PORTS)
        return
    names = set()
    for index, port in enumerate(ports):
        path, name = f"ports[{index}]", port.get("name", "")
        if name:
            problems.all_invalid(f"{path}.name", name, text.dns_label(name))
        if name in names:
            problems.duplicate(f"{path}.name", name)
        names.add(name)
        problems.one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)


def _endpoint(endpoint: Object, path: str, kind: str, problems: Problems) -> None:
    addresses = endpoint.get("addresses", [])
    if not addresses:
        problems.required(f"{path}.addresses", "must contain at least 1 address")
    elif len(addresses) > _MAX_ADDRESSES:
        problems.too_many(f"{path}.addresses", len(addresses), _MAX_ADDRESSES)
    for index, address in enumerate(addresses):
        at = f"{path}.addresses[{index}]"
        if kind == "FQDN":
            problems.all_invalid(at, address, text.dns_subdomain(address))
        elif kind in _ADDRESS_TYPES:
            plain_address(address, at, problems)
            wrong_family = not text.ip_address(address) and f"IPv{ipaddress.ip_address(address).version}" != kind
            if wrong_family:
                problems.invalid(at, address, f"must be an {kind} address")
    if "nodeName" in endpoint:
        problems.all_invalid(f"{path}.nodeName", endpoint["nodeName"], text.dns_subdomain(endpoint["nodeName"]))
    if "hostname" in endpoint:
        problems.all_invalid(f"{path}.hostname", endpoint["hostname"], text.dns_label(endpoint["hostname"]))


def endpoint_slice_update(new: Object, old: Object, problems: Problems) -> None:
    problems.immutable("addressType", new.get("addressType"), old.get("addressType"))
    endpoint_slice(new, problems)
