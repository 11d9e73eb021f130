"""Ingresses, IngressClasses, NetworkPolicies, IPAddresses and ServiceCIDRs (pkg/apis/networking/validation)."""

from __future__ import annotations

import ipaddress

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.go_values import internal
from engine.api.validation.labels import label_selector
from engine.api.validation.probes import port as port_or_name
from engine.api.validation.problems import IMMUTABLE, Problems

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_POLICY_TYPES = ("Ingress", "Egress")
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_SUFFIXES = ("/..", "/.")
_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_CONTROLLER_LENGTH = 250
_SCOPES = ("Cluster", "Namespace")
_ONE_OF_EACH = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


_NO_BLOCKS: frozenset[str] = frozenset()


def network_policy(
    obj: Object, problems: Problems, *, kept: frozenset[str] = _NO_BLOCKS, any_values: bool = False
) -> None:
    spec = obj.get("spec", {})
    label_selector(spec.get("podSelector"), "spec.podSelector", problems, any_values=any_values)
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction, ())):
            path = f"spec.{direction}[{index}]"
            for number, port in enumerate(rule.get("ports", ())):
                _policy_port(port, f"{path}.ports[{number}]", problems)
            for number, peer in enumerate(rule.get(peers, ())):
                _peer(peer, f"{path}.{peers}[{number}]", problems, kept=kept, any_values=any_values)
    types = spec.get("policyTypes", [])
    if len(types) > len(_POLICY_TYPES):
        problems.invalid("spec.policyTypes", types, "may not specify more than two policyTypes")
        return
    for index, kind in enumerate(types):
        if kind not in _POLICY_TYPES:
            problems.not_supported(f"spec.policyTypes[{index}]", kind, _POLICY_TYPES)


def network_policy_update(new: Object, old: Object, problems: Problems) -> None:
    """Older releases took more: blocks that were there stay, and a wrong selector of Pods makes all values right."""
    spec, kept = old.get("spec", {}), set[str]()
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for rule in spec.get(direction, ()):
            for block in (peer["ipBlock"] for peer in rule.get(peers, ()) if "ipBlock" in peer):
                kept |= {block.get("cidr", ""), *block.get("except", ())}
    wrong = Problems()
    label_selector(spec.get("podSelector"), "spec.podSelector", wrong)
    network_policy(new, problems, kept=frozenset(kept), any_values=bool(wrong))


def _policy_port(port: Object, path: str, problems: Problems) -> None:
    protocol, number, end = port.get("protocol"), port.get("port"), port.get("endPort")
    if protocol is not None and protocol not in _PROTOCOLS:
        problems.not_supported(f"{path}.protocol", protocol, _PROTOCOLS)
    if number is None:
        if end is not None:
            problems.invalid(f"{path}.endPort", end, "may not be specified when `port` is not specified")
        return
    if isinstance(number, str) and end is not None:
        problems.invalid(f"{path}.endPort", end, "may not be specified when `port` is non-numeric")
    port_or_name(number, f"{path}.port", problems)
    if end is not None and not isinstance(number, str):
        if end < number:
            problems.invalid(f"{path}.endPort", end, "must be greater than or equal to `port`")
        problems.all_invalid(f"{path}.endPort", end, text.port_number(end))


def _peer(peer: Object, path: str, problems: Problems, *, kept: frozenset[str], any_values: bool) -> None:
    found = [field for field in ("podSelector", "namespaceSelector", "ipBlock") if field in peer]
    for field in found:
        if field == "ipBlock":
            _ip_block(peer[field], f"{path}.ipBlock", problems, kept=kept)
        else:
            label_selector(peer[field], f"{path}.{field}", problems, any_values=any_values)
    if not found:
        problems.required(path, "must specify a peer")
    elif len(found) > 1 and "ipBlock" in peer:
        problems.forbidden(path, "may not specify both ipBlock and another peer")


def _ip_block(block: Object, path: str, problems: Problems, *, kept: frozenset[str]) -> None:
    value = block.get("cidr", "")
    if not value:
        problems.required(f"{path}.cidr")
        return
    if value not in kept:
        problems.all_invalid(f"{path}.cidr", value, text.cidr(value))
    network = _network(value)
    if network is None:
        return
    for index, exception in enumerate(block.get("except", ())):
        at, inner = f"{path}.except[{index}]", _network(exception)
        if exception not in kept:
            problems.all_invalid(at, exception, text.cidr(exception))
        if inner is not None and not _strictly_inside(inner, network):
            problems.invalid(at, exception, "must be a strict subset of `cidr`")


def _network(value: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Also one that is not written as it should be."""
    try:
        return ipaddress.ip_network(value, strict=False) if "/" in value else None
    except ValueError:
        return None


def _strictly_inside(
    inner: ipaddress.IPv4Network | ipaddress.IPv6Network, outer: ipaddress.IPv4Network | ipaddress.IPv6Network
) -> bool:
    return inner.version == outer.version and inner.prefixlen > outer.prefixlen and inner.network_address in outer


def ingress(obj: Object, problems: Problems) -> None:
    _ingress_spec(obj.get("spec", {}), problems)
    annotation = obj.get("metadata", {}).get("annotations", {}).get(_CLASS_ANNOTATION)
    name = obj.get("spec", {}).get("ingressClassName")
    if annotation is not None and name is not None and annotation != name:
        detail = "must match `ingressClassName` when both are specified"
        problems.invalid(f"annotations.{_CLASS_ANNOTATION}", annotation, detail)


def ingress_update(new: Object, old: Object, problems: Problems) -> None:
    known = [tls.get("secretName", "") for tls in old.get("spec", {}).get("tls", ())]
    kept = any(name and text.dns_subdomain(name) for name in known)
    wildcards = any(_wrong_wildcard(rule) for rule in old.get("spec", {}).get("rules", ()))
    _ingress_spec(new.get("spec", {}), problems, any_secret=kept, any_wildcard=wildcards)


def _wrong_wildcard(rule: Object) -> bool:
    """Older releases did not look at the paths of hosts with a wildcard."""
    problems = Problems()
    if "*" in rule.get("host", ""):
        _http_paths(rule, "", problems)
    return bool(problems)


def _ingress_spec(spec: Object, problems: Problems, *, any_secret: bool = False, any_wildcard: bool = False) -> None:
    if not spec.get("rules") and "defaultBackend" not in spec:
        problems.invalid("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified")
    if "defaultBackend" in spec:
        _backend(spec["defaultBackend"], "spec.defaultBackend", problems)
    for index, rule in enumerate(spec.get("rules", ())):
        path = f"spec.rules[{index}]"
        _rule_host(rule.get("host", ""), f"{path}.host", problems)
        if not any_wildcard or "*" not in rule.get("host", ""):
            _http_paths(rule, path, problems)
    for index, tls in enumerate(spec.get("tls", ())):
        for number, host in enumerate(tls.get("hosts", ())):
            rule = text.wildcard_subdomain if "*" in host else text.dns_subdomain
            problems.all_invalid(f"spec.tls[{index}].hosts[{number}]", host, rule(host))
        if tls.get("secretName") and not any_secret:
            problems.all_invalid(
                f"spec.tls[{index}].secretName", tls["secretName"], text.dns_subdomain(tls["secretName"])
            )
    if "ingressClassName" in spec:
        problems.all_invalid(
            "spec.ingressClassName", spec["ingressClassName"], text.dns_subdomain(spec["ingressClassName"])
        )


def _rule_host(host: str, path: str, problems: Problems) -> None:
    if host:
        if text.is_ip_address(host):
            problems.invalid(path, host, "must be a DNS name, not an IP address")
        check = text.wildcard_subdomain if "*" in host else text.dns_subdomain
        problems.all_invalid(path, host, check(host))


def _http_paths(rule: Object, path: str, problems: Problems) -> None:
    http = rule.get("http")
    if http is None:
        return
    if not http.get("paths"):
        problems.required(f"{path}.http.paths")
    for index, entry in enumerate(http.get("paths", ())):
        _http_path(entry, f"{path}.http.paths[{index}]", problems)


def _http_path(entry: Object, path: str, problems: Problems) -> None:
    kind, value = entry.get("pathType"), entry.get("path", "")
    if kind is None:
        problems.required(f"{path}.pathType", "pathType must be specified")
        return
    if kind not in _PATH_TYPES:
        problems.not_supported(f"{path}.pathType", kind, _PATH_TYPES)
    elif kind == "ImplementationSpecific":
        if value and not value.startswith("/"):
            problems.invalid(f"{path}.path", value, "must be an absolute path")
    else:
        if not value.startswith("/"):
            problems.invalid(f"{path}.path", value, "must be an absolute path")
        for sequence in _BAD_SEQUENCES:
            if sequence in value:
                problems.invalid(f"{path}.path", value, f"must not contain '{sequence}'")
        for suffix in _BAD_SUFFIXES:
            if value.endswith(suffix):
                problems.invalid(f"{path}.path", value, f"cannot end with '{suffix}'")
    _backend(entry.get("backend", {}), f"{path}.backend", problems)


def _backend(backend: Object, path: str, problems: Problems) -> None:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        problems.invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        typed_reference(resource, f"{path}.resource", problems)
    elif service is not None:
        _service_backend(service, path, problems)
    else:
        problems.invalid(path, "", "resource or service backend is required")


def _service_backend(service: Object, path: str, problems: Problems) -> None:
    if not service.get("name"):
        problems.required(f"{path}.service.name")
    else:
        problems.all_invalid(f"{path}.service.name", service["name"], text.dns_label(service["name"]))
    port = service.get("port", {})
    name, number = port.get("name", ""), port.get("number", 0)
    if name and number:
        problems.invalid(path, "", "cannot set both port name & port number")
    elif name:
        problems.all_invalid(f"{path}.service.port.name", name, text.port_name(name))
    elif number:
        problems.all_invalid(f"{path}.service.port.number", number, text.port_number(number))
    else:
        problems.required(path, "port name or number is required")


def typed_reference(reference: Object, path: str, problems: Problems) -> None:
    """To an object in the same namespace, of any kind."""
    if "apiGroup" in reference:
        problems.all_invalid(f"{path}.apiGroup", reference["apiGroup"], text.dns_subdomain(reference["apiGroup"]))
    for field in ("kind", "name"):
        value = reference.get(field, "")
        if not value:
            problems.required(f"{path}.{field}")
        else:
            problems.all_invalid(f"{path}.{field}", value, text.path_segment(value))


def ingress_class(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    controller = spec.get("controller", "")
    if len(controller.encode()) > _CONTROLLER_LENGTH:
        problems.too_long("spec.controller", _CONTROLLER_LENGTH)
    problems.domain_prefixed_path("spec.controller", controller)
    if "parameters" in spec:
        _class_parameters(spec["parameters"], "spec.parameters", problems)


def _class_parameters(parameters: Object, path: str, problems: Problems) -> None:
    typed_reference(parameters, path, problems)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope is None:
        problems.required(f"{path}.scope")
    elif scope not in _SCOPES:
        problems.not_supported(f"{path}.scope", scope, _SCOPES)
    elif scope == "Cluster" and namespace is not None:
        problems.forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'")
    elif scope == "Namespace" and namespace is None:
        problems.required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'")
    elif scope == "Namespace":
        problems.all_invalid(f"{path}.namespace", namespace, text.dns_label(namespace))


def ingress_class_update(new: Object, old: Object, problems: Problems) -> None:
    before = old.get("spec", {}).get("controller")
    problems.immutable("spec.controller", new.get("spec", {}).get("controller"), before)


def ip_address_name(name: str) -> tuple[str, ...]:
    """The address itself, as it is written canonically."""
    wrong = text.ip_address(name)
    if wrong:
        return wrong
    canonical = str(ipaddress.ip_address(name))
    return () if canonical == name else (f'must be in canonical form ("{canonical}")',)


def ip_address(obj: Object, problems: Problems) -> None:
    parent, path = obj.get("spec", {}).get("parentRef"), "spec.parentRef"
    if parent is None:
        problems.required(path)
        return
    if parent.get("group"):
        problems.all_invalid(f"{path}.group", parent["group"], text.dns_subdomain(parent["group"]))
    for field in ("resource", "name"):
        if not parent.get(field):
            problems.required(f"{path}.{field}")
        else:
            problems.all_invalid(f"{path}.{field}", parent[field], text.path_segment(parent[field]))
    if parent.get("namespace"):
        problems.all_invalid(f"{path}.namespace", parent["namespace"], text.path_segment(parent["namespace"]))


def ip_address_update(new: Object, old: Object, problems: Problems) -> None:
    after, before = new.get("spec", {}).get("parentRef"), old.get("spec", {}).get("parentRef")
    if after != before:
        shown = None if after is None else internal("ParentReference", after)
        problems.invalid("spec.parentRef", shown, IMMUTABLE)


def service_cidr(obj: Object, problems: Problems) -> None:
    ranges = obj.get("spec", {}).get("cidrs", [])
    if not ranges:
        problems.required("spec.cidrs", "at least one CIDR required")
    elif len(ranges) > 2:
        problems.invalid("spec.cidrs", {"CIDRs": ranges}, "may only hold up to 2 values")
    else:
        for index, value in enumerate(ranges):
            wrong, network = text.cidr(value), _network(value)
            problems.all_invalid(f"spec.cidrs[{index}]", value, wrong)
            if not wrong and str(network) != value:
                problems.invalid(f"spec.cidrs[{index}]", value, f'must be in canonical form ("{network}")')
        if len(ranges) == 2 and _same_family(ranges):
            problems.invalid("spec.cidrs", ranges, _ONE_OF_EACH)


def _same_family(ranges: list[str]) -> bool:
    first, second = (_network(value) for value in ranges)
    return first is not None and second is not None and first.version == second.version


def service_cidr_update(new: Object, old: Object, problems: Problems) -> None:
    """A second range may be added, of the other family."""
    after, before = new.get("spec", {}).get("cidrs", []), old.get("spec", {}).get("cidrs", [])
    added = (len(before), len(after)) == (1, 2)
    if len(before) != len(after) and not added:
        problems.invalid("spec.cidrs", after, IMMUTABLE)
        return
    for index, value in enumerate(before):
        if after[index] != value:
            problems.invalid(f"spec.cidrs[{index}]", after[index], IMMUTABLE)
    if added:
        service_cidr(new, problems)


def ingress_status(new: Object, old: Object, problems: Problems) -> None:
    kept = {entry.get("ip") for entry in old.get("status", {}).get("loadBalancer", {}).get("ingress", ())}
    for index, entry in enumerate(new.get("status", {}).get("loadBalancer", {}).get("ingress", ())):
        path, address = f"status.loadBalancer.ingress[{index}]", entry.get("ip", "")
        if address and address not in kept:
            problems.all_invalid(f"{path}.ip", address, text.ip_address(address))
        host_name(entry.get("hostname", ""), f"{path}.hostname", problems)


def host_name(name: str, path: str, problems: Problems) -> None:
    """Of a load balancer: a DNS name, if there is one."""
    if name:
        problems.all_invalid(path, name, text.dns_subdomain(name))
        if text.is_ip_address(name):
            problems.invalid(path, name, "must be a DNS name, not an IP address")
