"""Services (core validation, ValidateService).

A Service is checked before its addresses and node ports are allocated and after: what is not there yet is not missed.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from engine.api.defaults.networking import externally_accessible
from engine.api.service_strategy import needs_health_check
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.go_values import internal
from engine.api.validation.labels import label_map
from engine.api.validation.probes import port as port_or_name
from engine.api.validation.problems import IMMUTABLE, Problems

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_AFFINITIES = ("ClientIP", "None")
_POLICIES = ("Cluster", "Local")
_FAMILIES = ("IPv4", "IPv6")
_FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_DISTRIBUTIONS = ("PreferClose", "PreferSameNode", "PreferSameZone")
PROTOCOLS = ("SCTP", "TCP", "UDP")
_AFFINITY_LIMIT = 86400
_LOAD_BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'"
_ONCE = "may not change once set"
_NONE = "None"


def service(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    kind, headless = spec.get("type", ""), is_headless(spec)
    if not spec.get("ports") and not headless and kind != "ExternalName":
        problems.required("spec.ports")
    if kind in ("LoadBalancer", "NodePort") and headless:
        problems.invalid("spec.clusterIPs[0]", _NONE, f"may not be set to 'None' for {kind} services")
    if kind == "ExternalName":
        _external_name(spec, problems)
    _ports(spec.get("ports", ()), problems)
    label_map(spec.get("selector"), "spec.selector", problems)
    _affinity(spec, problems)
    if kind != "ExternalName":
        cluster_addresses(spec, problems)
    for index, address in enumerate(spec.get("externalIPs", ())):
        plain_address(address, f"spec.externalIPs[{index}]", problems)
    problems.one_of("spec.type", kind, _TYPES)
    _node_ports(spec, problems)
    _load_balancer(spec, problems)
    _traffic(spec, problems)


def is_headless(spec: Object) -> bool:
    addresses = spec.get("clusterIPs") or [spec.get("clusterIP")]
    return addresses == [_NONE]


def _external_name(spec: Object, problems: Problems) -> None:
    for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(field):
            problems.forbidden(f"spec.{field}", "may not be set for ExternalName services")
    name = spec.get("externalName", "").removesuffix(".")
    if name:
        problems.all_invalid("spec.externalName", name, text.dns_subdomain(name))
    else:
        problems.required("spec.externalName")


def _ports(ports: Sequence[Object], problems: Problems) -> None:
    names: set[str] = set()
    for index, port in enumerate(ports):
        _port(port, f"spec.ports[{index}]", problems, name_required=len(ports) > 1, names=names)
    node_ports, pairs = set(), set()
    for index, port in enumerate(ports):
        node_port = port.get("nodePort", 0)
        if node_port:
            if (port.get("protocol"), node_port) in node_ports:
                problems.duplicate(f"spec.ports[{index}].nodePort", node_port)
            node_ports.add((port.get("protocol"), node_port))
    for index, port in enumerate(ports):
        pair = (port.get("protocol"), port.get("port"))
        if pair in pairs:
            shown = internal("ServicePort", {"protocol": pair[0], "port": pair[1]})
            problems.duplicate(f"spec.ports[{index}]", shown)
        pairs.add(pair)


def _port(port: Object, path: str, problems: Problems, *, name_required: bool, names: set[str]) -> None:
    name, number = port.get("name", ""), port.get("port", 0)
    if not name:
        if name_required:
            problems.required(f"{path}.name")
    else:
        problems.all_invalid(f"{path}.name", name, text.dns_label(name))
        if name in names:
            problems.duplicate(f"{path}.name", name)
        names.add(name)
    problems.all_invalid(f"{path}.port", number, text.port_number(number))
    problems.one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)
    port_or_name(port.get("targetPort", 0), f"{path}.targetPort", problems)
    if "appProtocol" in port:
        problems.all_invalid(f"{path}.appProtocol", port["appProtocol"], text.qualified_name(port["appProtocol"]))


def _affinity(spec: Object, problems: Problems) -> None:
    affinity, config = spec.get("sessionAffinity", ""), spec.get("sessionAffinityConfig")
    problems.one_of("spec.sessionAffinity", affinity, _AFFINITIES)
    path = "spec.sessionAffinityConfig"
    if affinity == "ClientIP":
        seconds = (config or {}).get("clientIP", {}).get("timeoutSeconds")
        if seconds is None:
            problems.required(path, "when session affinity type is ClientIP")
        elif not 0 < seconds <= _AFFINITY_LIMIT:
            detail = f"must be greater than 0 and less than {_AFFINITY_LIMIT}"
            problems.invalid(f"{path}.clientIP.timeoutSeconds", seconds, detail)
    elif affinity == _NONE and config is not None:
        problems.forbidden(path, "must not be set when session affinity is None")


def cluster_addresses(spec: Object, problems: Problems) -> None:
    """clusterIP and clusterIPs agree, and there is at most one address and one family of each kind.

    Checked before addresses are allocated, too (ValidateServiceClusterIPsRelatedFields).
    """
    addresses, first = spec.get("clusterIPs", []), spec.get("clusterIP", "")
    path = "spec.clusterIPs"
    if addresses:
        if not first:
            problems.required("spec.clusterIP", "must be set when clusterIPs is set")
        elif addresses[0] != first:
            problems.invalid(path, addresses, "first value must match `clusterIP`")
    if len(addresses) > 2:
        problems.invalid(path, addresses, "may only hold up to 2 values")
    for index, address in enumerate(addresses or ([first] if first else [])):
        if address == _NONE:
            if index:
                problems.invalid(f"{path}[{index}]", address, "may not be 'None' other than as first value")
        else:
            problems.all_invalid(f"{path}[{index}]", address, text.ip_address(address))
    _families(spec, problems)


def _families(spec: Object, problems: Problems) -> None:
    families, policy = spec.get("ipFamilies", []), spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _FAMILY_POLICIES:
        problems.not_supported("spec.ipFamilyPolicy", policy, _FAMILY_POLICIES)
    for index, family in enumerate(families):
        if family not in _FAMILIES:
            problems.not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES)
        if family in families[:index]:
            problems.duplicate(f"spec.ipFamilies[{index}]", family)
    for index, (family, address) in enumerate(zip(families, spec.get("clusterIPs", ()), strict=False)):
        if address != _NONE and not text.ip_address(address):
            actual = f"IPv{ipaddress.ip_address(address).version}"
            if actual != family:
                detail = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
                problems.invalid(f"spec.clusterIPs[{index}]", address, detail)


def plain_address(address: str, path: str, problems: Problems) -> None:
    wrong = text.ip_address(address)
    problems.all_invalid(path, address, wrong)
    if wrong:
        return
    parsed = ipaddress.ip_address(address)
    if parsed.is_unspecified:
        problems.invalid(path, address, f"may not be unspecified ({address})")
    if parsed.is_loopback:
        problems.invalid(path, address, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if parsed.is_link_local:
        problems.invalid(path, address, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if parsed.is_multicast:
        problems.invalid(path, address, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")


def _node_ports(spec: Object, problems: Problems) -> None:
    if spec.get("type") == "ClusterIP":
        for index, port in enumerate(spec.get("ports", ())):
            if port.get("nodePort"):
                path = f"spec.ports[{index}].nodePort"
                problems.forbidden(path, "may not be used when `type` is 'ClusterIP'")


def _load_balancer(spec: Object, problems: Problems) -> None:
    ranges = spec.get("loadBalancerSourceRanges", ())
    balanced = spec.get("type") == "LoadBalancer"
    if ranges and not balanced:
        problems.forbidden("spec.LoadBalancerSourceRanges", _LOAD_BALANCER_ONLY)
    for index, value in enumerate(ranges):
        plain = value.strip()
        problems.all_invalid(f"spec.LoadBalancerSourceRanges[{index}]", plain, text.cidr(plain))
    if not balanced:
        for field in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
            if field in spec:
                problems.forbidden(f"spec.{field}", _LOAD_BALANCER_ONLY)
    elif "loadBalancerClass" in spec:
        problems.all_invalid(
            "spec.loadBalancerClass", spec["loadBalancerClass"], text.qualified_name(spec["loadBalancerClass"])
        )


def _traffic(spec: Object, problems: Problems) -> None:
    external, internal = spec.get("externalTrafficPolicy", ""), spec.get("internalTrafficPolicy")
    if not externally_accessible(spec):
        if external:
            detail = "may only be set for externally-accessible services"
            problems.invalid("spec.externalTrafficPolicy", external, detail)
    else:
        problems.one_of("spec.externalTrafficPolicy", external, _POLICIES)
    check = spec.get("healthCheckNodePort", 0)
    if check and not needs_health_check(spec):
        detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        problems.invalid("spec.healthCheckNodePort", check, detail)
    elif check:
        problems.all_invalid("spec.healthCheckNodePort", check, text.port_number(check))
    if internal is None:
        if spec.get("type") in ("NodePort", "LoadBalancer", "ClusterIP"):
            problems.required("spec.internalTrafficPolicy")
    elif internal not in _POLICIES:
        problems.not_supported("spec.internalTrafficPolicy", internal, _POLICIES)
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        problems.not_supported("spec.trafficDistribution", distribution, _DISTRIBUTIONS)


def service_update(new: Object, old: Object, problems: Problems) -> None:
    after, before = new.get("spec", {}), old.get("spec", {})
    if "ExternalName" not in (after.get("type"), before.get("type")):
        _kept(after, before, "clusterIPs", problems)
        _kept(after, before, "ipFamilies", problems)
    if before.get("type") == after.get("type") == "LoadBalancer":
        new_class = after.get("loadBalancerClass")
        if new_class != before.get("loadBalancerClass"):
            problems.invalid("spec.loadBalancerClass", new_class, _ONCE)
    if needs_health_check(before) and needs_health_check(after):
        node_port = after.get("healthCheckNodePort")
        if node_port != before.get("healthCheckNodePort"):
            problems.forbidden("spec.healthCheckNodePort", IMMUTABLE)
    service(new, problems)


def _kept(after: Object, before: Object, field: str, problems: Problems) -> None:
    """The first of the addresses (families) stays, and so does a second one while it is there."""
    new, old = after.get(field, []), before.get(field, [])
    if old and not new:
        problems.invalid(
            f"spec.{field}[0]", new, "primary clusterIP can not be unset" if field == "clusterIPs" else _ONCE
        )
    elif old and new[0] != old[0]:
        problems.invalid(f"spec.{field}[0]", new, _ONCE)
    if len(old) > 1 and len(new) > 1 and new[1] != old[1]:
        problems.invalid(f"spec.{field}[1]", new, _ONCE)
