"""Endpoints and EndpointSlices (core validation, ValidateEndpoints; pkg/apis/discovery/validation)."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.labels import label_map
from engine.api.validation.problems import Problems
from engine.api.validation.service_addresses import special_address
from engine.api.validation.services import PROTOCOLS

_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_MAX_ENDPOINTS, _MAX_PORTS, _MAX_ADDRESSES = 1000, 20000, 100
_MAX_TOPOLOGY, _MAX_HINTS = 16, 8


def endpoints(obj: Object, problems: Problems) -> None:
    for index, subset in enumerate(obj.get("subsets", ())):
        path = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            problems.required(path, "must specify `addresses` or `notReadyAddresses`")
        for field in ("addresses", "notReadyAddresses"):
            for number, address in enumerate(subset.get(field, ())):
                _address(address, f"{path}.{field}[{number}]", problems)
        ports = subset.get("ports", ())
        for number, port in enumerate(ports):
            _endpoint_port(port, f"{path}.ports[{number}]", problems, name_required=len(ports) > 1)


def endpoints_update(new: Object, old: Object, problems: Problems) -> None:
    """Subsets that have not changed may be as older releases took them."""
    if new.get("subsets", []) != old.get("subsets", []):
        endpoints(new, problems)


def _address(address: Object, path: str, problems: Problems) -> None:
    value = address.get("ip", "")
    problems.all_invalid(f"{path}.ip", value, text.ip_address(value))
    if address.get("hostname"):
        problems.all_invalid(f"{path}.hostname", address["hostname"], text.dns_label(address["hostname"]))
    if "nodeName" in address:
        problems.all_invalid(f"{path}.nodeName", address["nodeName"], text.dns_subdomain(address["nodeName"]))
    special_address(value, f"{path}.ip", problems)


def _endpoint_port(port: Object, path: str, problems: Problems, *, name_required: bool) -> None:
    name, number = port.get("name", ""), port.get("port", 0)
    if name_required and not name:
        problems.required(f"{path}.name")
    elif name:
        problems.all_invalid(f"{path}.name", name, text.dns_label(name))
    problems.all_invalid(f"{path}.port", number, text.port_number(number))
    problems.one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)
    _application(port, path, problems)


def _application(port: Object, path: str, problems: Problems) -> None:
    if "appProtocol" in port:
        problems.all_invalid(f"{path}.appProtocol", port["appProtocol"], text.qualified_name(port["appProtocol"]))


def endpoint_slice(obj: Object, problems: Problems) -> None:
    """Of discovery.k8s.io (pkg/apis/discovery/validation)."""
    _address_type_and_ports(obj, problems)
    _slice_endpoints(obj, problems)


def _address_type_and_ports(obj: Object, problems: Problems) -> None:
    problems.one_of("addressType", obj.get("addressType"), _ADDRESS_TYPES)
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
        _application(port, path, problems)


def _slice_endpoints(obj: Object, problems: Problems) -> None:
    found = obj.get("endpoints", [])
    if len(found) > _MAX_ENDPOINTS:
        problems.too_many("endpoints", len(found), _MAX_ENDPOINTS)
        return
    for index, endpoint in enumerate(found):
        _endpoint(endpoint, f"endpoints[{index}]", obj.get("addressType", ""), problems)


def _endpoint(endpoint: Object, path: str, kind: str, problems: Problems) -> None:
    addresses = endpoint.get("addresses", [])
    if not addresses:
        problems.required(f"{path}.addresses", "must contain at least 1 address")
    elif len(addresses) > _MAX_ADDRESSES:
        problems.too_many(f"{path}.addresses", len(addresses), _MAX_ADDRESSES)
    for index, address in enumerate(addresses):
        at = f"{path}.addresses[{index}]"
        if kind == "FQDN":
            _domain(address, at, problems)
        elif kind in _ADDRESS_TYPES:
            _slice_address(address, at, kind, problems)
    if "nodeName" in endpoint:
        problems.all_invalid(f"{path}.nodeName", endpoint["nodeName"], text.dns_subdomain(endpoint["nodeName"]))
    topology = endpoint.get("deprecatedTopology", {})
    if len(topology) > _MAX_TOPOLOGY:
        problems.too_many(f"{path}.deprecatedTopology", len(topology), _MAX_TOPOLOGY)
    label_map(topology, f"{path}.deprecatedTopology", problems)
    if "hostname" in endpoint:
        problems.all_invalid(f"{path}.hostname", endpoint["hostname"], text.dns_label(endpoint["hostname"]))

    for field, rule in (("forZones", text.label_value), ("forNodes", text.dns_subdomain)):
        hints, at = endpoint.get("hints", {}).get(field, []), f"{path}.hints.{field}"
        if len(hints) > _MAX_HINTS:
            problems.too_many(at, len(hints), _MAX_HINTS)
            break
        _hints(hints, at, problems, rule=rule)


def _slice_address(address: str, path: str, kind: str, problems: Problems) -> None:
    """IPv6 addresses are written in their one way; upstream tells of those of the other family without their place."""
    wrong = text.ip_address(address)
    problems.all_invalid(path, address, wrong)
    if wrong:
        return
    parsed = ipaddress.ip_address(address)
    if kind == "IPv6" and str(parsed) != address:
        problems.invalid(path, address, f'must be in canonical form ("{parsed}")')
        return
    if f"IPv{parsed.version}" != kind:
        problems.invalid(path.rpartition("[")[0], address, f"must be an {kind} address")
    special_address(address, path, problems)


def _hints(hints: list[Object], path: str, problems: Problems, *, rule: Callable[[str], Sequence[str]]) -> None:
    names = set()
    for index, hint in enumerate(hints):
        name = hint.get("name", "")
        if name in names:
            problems.duplicate(f"{path}[{index}].name", name)
        names.add(name)
        problems.all_invalid(f"{path}[{index}].name", name, rule(name))


def _domain(name: str, path: str, problems: Problems) -> None:
    """Of at least two segments (IsFullyQualifiedDomainName)."""
    plain = name.removesuffix(".")
    if not name:
        problems.required(path)
    elif wrong := text.dns_subdomain(plain):
        problems.invalid(path, plain, ",".join(wrong))
    elif "." not in plain:
        problems.invalid(path, plain, "should be a domain with at least two segments separated by dots")
    else:
        for label in plain.split("."):
            if wrong := text.dns_label(label):
                problems.invalid(path, label, ",".join(wrong))
                return


def endpoint_slice_update(new: Object, old: Object, problems: Problems) -> None:
    """Endpoints that have not changed may be as older releases took them."""
    _address_type_and_ports(new, problems)
    if new.get("endpoints", []) != old.get("endpoints", []):
        _slice_endpoints(new, problems)
    problems.immutable("addressType", new.get("addressType"), old.get("addressType"))
