"""Services (core validation, ValidateService).

A Service is checked before its addresses and node ports are allocated and after: what is not there yet is not missed.
"""

from __future__ import annotations

from engine.api.defaults.networking import externally_accessible
from engine.api.strategies.service_strategy import TRAFFIC_POLICIES, needs_health_check
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.go_values import internal
from engine.api.validation.labels import label_map
from engine.api.validation.networking import host_name
from engine.api.validation.probes import port as port_or_name
from engine.api.validation.problems import IMMUTABLE, Problems
from engine.api.validation.service_addresses import (
    LOAD_BALANCER_ONLY,
    cluster_addresses,
    external_address,
    is_headless,
    source_ranges,
)

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_AFFINITIES = ("ClientIP", "None")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
PROTOCOLS = ("SCTP", "TCP", "UDP")
_AFFINITY_LIMIT = 86400
_ONCE = "may not change once set"
_HINTS, _MODE = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
_NONE = "None"


def service(obj: Object, problems: Problems) -> None:
    """A new Service."""
    _service(obj, {}, problems)


def replacing_service(new: Object, old: Object, problems: Problems) -> None:
    """What is written as older releases took it may stay as it is (IsValidIPForLegacyField)."""
    _service(new, old, problems)


def _service(obj: Object, old: Object, problems: Problems) -> None:
    """In upstream's order (validateService)."""
    before = old.get("spec", {})
    annotations, spec = obj.get("metadata", {}).get("annotations", {}), obj.get("spec", {})
    kind, headless = spec.get("type", ""), is_headless(spec)
    hints, mode = annotations.get(_HINTS), annotations.get(_MODE)
    if hints is not None and mode is not None and hints != mode:
        detail = f"must match annotations[{_HINTS}] when both are specified"
        problems.invalid(f"metadata.annotations[{_MODE}]", mode, detail)
    if not spec.get("ports") and not headless and kind != "ExternalName":
        problems.required("spec.ports")
    if kind in ("LoadBalancer", "NodePort") and headless:
        problems.invalid("spec.clusterIPs[0]", _NONE, f"may not be set to 'None' for {kind} services")
    if kind == "ExternalName":
        _external_name(spec, problems)
    names: set[str] = set()
    ports = spec.get("ports", ())
    for index, port in enumerate(ports):
        _port(port, f"spec.ports[{index}]", problems, name_required=len(ports) > 1, names=names)
    label_map(spec.get("selector"), "spec.selector", problems)
    _affinity(spec, problems)
    if kind != "ExternalName":
        cluster_addresses(spec, problems, known=before.get("clusterIPs") or ())
    for index, address in enumerate(spec.get("externalIPs", ())):
        external_address(address, f"spec.externalIPs[{index}]", problems, known=before.get("externalIPs", ()))
    problems.one_of("spec.type", kind, _TYPES)
    _distinct_ports(spec, problems)
    source_ranges(spec, annotations, problems, old=old)
    _load_balancer(spec, problems)
    _traffic(spec, problems)


def _external_name(spec: Object, problems: Problems) -> None:
    for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(field):
            problems.forbidden(f"spec.{field}", "may not be set for ExternalName services")
    name = spec.get("externalName", "").removesuffix(".")
    if name:
        problems.all_invalid("spec.externalName", name, text.dns_subdomain(name))
    else:
        problems.required("spec.externalName")


def _distinct_ports(spec: Object, problems: Problems) -> None:
    ports, node_ports, pairs = spec.get("ports", ()), set(), set()
    for index, port in enumerate(ports):
        if port.get("nodePort") and spec.get("type") == "ClusterIP":
            path = f"spec.ports[{index}].nodePort"
            problems.forbidden(path, "may not be used when `type` is 'ClusterIP'")
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
        _client_affinity(config, path, problems)
    elif affinity == _NONE and config is not None:
        problems.forbidden(path, "must not be set when session affinity is None")


def _client_affinity(config: Object | None, path: str, problems: Problems) -> None:
    needed = "when session affinity type is ClientIP"
    if config is None:
        problems.required(path, needed)
    elif "clientIP" not in config:
        problems.required(f"{path}.clientIP", needed)
    elif "timeoutSeconds" not in config["clientIP"]:
        problems.required(f"{path}.clientIP.timeoutSeconds", needed)
    elif not 0 < config["clientIP"]["timeoutSeconds"] <= _AFFINITY_LIMIT:
        detail = f"must be greater than 0 and less than {_AFFINITY_LIMIT}"
        problems.invalid(f"{path}.clientIP.timeoutSeconds", config["clientIP"]["timeoutSeconds"], detail)


def _load_balancer(spec: Object, problems: Problems) -> None:
    balanced, given = spec.get("type") == "LoadBalancer", "allocateLoadBalancerNodePorts" in spec
    if given and not balanced:
        problems.forbidden("spec.allocateLoadBalancerNodePorts", LOAD_BALANCER_ONLY)
    elif balanced and not given:
        problems.required("allocateLoadBalancerNodePorts")
    _load_balancer_class(spec, problems)


def _load_balancer_class(spec: Object, problems: Problems) -> None:
    name = spec.get("loadBalancerClass")
    if name is None:
        return
    if spec.get("type") == "LoadBalancer":
        problems.all_invalid("spec.loadBalancerClass", name, text.qualified_name(name))
    else:
        problems.forbidden("spec.loadBalancerClass", LOAD_BALANCER_ONLY)


def _traffic(spec: Object, problems: Problems) -> None:
    external, internal = spec.get("externalTrafficPolicy", ""), spec.get("internalTrafficPolicy")
    if not externally_accessible(spec):
        if external:
            detail = "may only be set for externally-accessible services"
            problems.invalid("spec.externalTrafficPolicy", external, detail)
    else:
        problems.one_of("spec.externalTrafficPolicy", external, TRAFFIC_POLICIES)
    check = spec.get("healthCheckNodePort", 0)
    if check and not needs_health_check(spec):
        detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        problems.invalid("spec.healthCheckNodePort", check, detail)
    elif needs_health_check(spec) and not check:
        problems.required("spec.healthCheckNodePort")
    elif check:
        problems.all_invalid("spec.healthCheckNodePort", check, text.port_number(check))
    if internal is None:
        if spec.get("type") in ("NodePort", "LoadBalancer", "ClusterIP"):
            problems.required("spec.internalTrafficPolicy")
    elif internal not in TRAFFIC_POLICIES:
        problems.not_supported("spec.internalTrafficPolicy", internal, TRAFFIC_POLICIES)
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        problems.not_supported("spec.trafficDistribution", distribution, _DISTRIBUTIONS)


def changed_service(new: Object, old: Object, problems: Problems) -> None:
    after, before = new.get("spec", {}), old.get("spec", {})
    if "ExternalName" not in (after.get("type"), before.get("type")):
        _kept_addresses(after, before, problems)
        _kept_families(after, before, problems)
    if before.get("type") == after.get("type") == "LoadBalancer":
        new_class = after.get("loadBalancerClass")
        if new_class != before.get("loadBalancerClass"):
            problems.invalid("spec.loadBalancerClass", new_class, _ONCE)
    _load_balancer_class(after, problems)
    if needs_health_check(before) and needs_health_check(after):
        node_port = after.get("healthCheckNodePort")
        if node_port != before.get("healthCheckNodePort"):
            problems.forbidden("spec.healthCheckNodePort", IMMUTABLE)


def _kept_addresses(after: Object, before: Object, problems: Problems) -> None:
    """What is there stays; a second address may come and, with SingleStack, go (validateUpgradeDowngradeClusterIPs)."""
    if is_headless(after) and is_headless(before):
        return
    new, old, path = after.get("clusterIPs") or [], before.get("clusterIPs") or [], "spec.clusterIPs"
    if len(new) == len(old):
        for index, address in enumerate(old):
            if new[index] != address:
                problems.invalid(f"{path}[{index}]", new, _ONCE)
        return
    if old and not new:
        problems.invalid(f"{path}[0]", after.get("clusterIPs"), "primary clusterIP can not be unset")
    elif old and new[0] != old[0]:
        problems.invalid(f"{path}[0]", new, _ONCE)
    if len(new) == 1 and len(old) > 1:
        _single_stack(after, problems, what="clusterIP")


def _kept_families(after: Object, before: Object, problems: Problems) -> None:
    if is_headless(after) or is_headless(before):
        return
    new, old, path = after.get("ipFamilies") or [], before.get("ipFamilies") or [], "spec.ipFamilies[0]"
    addresses = after.get("clusterIPs") or None  # upstream shows these where it means the families
    if len(new) == len(old):
        for family, other in zip(new, old, strict=True):
            if family != other:
                problems.invalid(path, new, _ONCE)
        return
    if len(old) > len(new) and not addresses:
        problems.invalid(path, after.get("ipFamilies"), "primary ipFamily can not be unset")
    if new and old and new[0] != old[0]:
        problems.invalid(path, addresses, _ONCE)
    if len(new) == 1 and len(old) > 1:
        _single_stack(after, problems, what="ipFamily")


def _single_stack(spec: Object, problems: Problems, *, what: str) -> None:
    policy = spec.get("ipFamilyPolicy")
    if policy != "SingleStack":
        detail = f"must be set to 'SingleStack' when releasing the secondary {what}"
        problems.invalid("spec.ipFamilyPolicy", policy, detail)


def service_status(new: Object, old: Object, problems: Problems) -> None:
    """ValidateLoadBalancerStatus."""
    entries = new.get("status", {}).get("loadBalancer", {}).get("ingress", ())
    known = [entry.get("ip", "") for entry in old.get("status", {}).get("loadBalancer", {}).get("ingress", ())]
    path = "status.loadBalancer.ingress"
    if entries and new.get("spec", {}).get("type") != "LoadBalancer":
        problems.forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    for index, entry in enumerate(entries):
        at, address, mode = f"{path}[{index}]", entry.get("ip", ""), entry.get("ipMode")
        if address and address not in known:
            problems.all_invalid(f"{at}.ip", address, text.ip_address(address))
        if mode is None and address:
            problems.required(f"{at}.ipMode", "must be specified when `ip` is set")
        elif mode is not None and not address:
            problems.forbidden(f"{at}.ipMode", "may not be specified when `ip` is not set")
        else:
            problems.unless_in(f"{at}.ipMode", mode, ("Proxy", "VIP"))
        host_name(entry.get("hostname", ""), f"{at}.hostname", problems)
