"""Ingresses, IngressClasses, NetworkPolicies, IPAddresses and ServiceCIDRs (pkg/apis/networking/validation)."""

from __future__ import annotations

import ipaddress

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.labels import label_selector
from engine.api.validation.probes import port as port_or_name
from engine.api.validation.problems import Problems

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_POLICY_TYPES = ("Ingress", "Egress")
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_SUFFIXES = ("/..", "/.")
_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_CONTROLLER_LENGTH = 250


def network_policy(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    label_selector(spec.get("podSelector"), "spec.podSelector", problems)
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction, ())):
            path = f"spec.{direction}[{index}]"
            for number, port in enumerate(rule.get("ports", ())):
                _policy_port(port, f"{path}.ports[{number}]", problems)
            for number, peer in enumerate(rule.get(peers, ())):
                _peer(peer, f"{path}.{peers}[{number}]", problems)
    types = spec.get("policyTypes", [])
    if len(types) > len(_POLICY_TYPES):
        problems.invalid("spec.policyTypes", types, "may not specify more than two policyTypes")
        return
    for index, kind in enumerate(types):
        if kind not in _POLICY_TYPES:
            problems.not_supported(f"spec.policyTypes[{index}]", kind, _POLICY_TYPES)


def _policy_port(port: Object, path: str, problems: Problems) -> None:
    protocol, number, end = port.get("protocol"), port.get("port"), port.get("endPort")
    if protocol is not None and protocol not in _PROTOCOLS:
        problems.not_supported(f"{path}.protocol", protocol, _PROTOCOLS)
    if number is None:
        if end is not None:
            problems.invalid(f"{path}.endPort", end, "may not be specified when `port` is not specified")
        return
    port_or_name(number, f"{path}.port", problems)
    if end is not None:
        if isinstance(number, str):
            problems.invalid(f"{path}.endPort", end, "may not be specified when `port` is non-numeric")
            return
        if end < number:
            problems.invalid(f"{path}.endPort", end, "must be greater than or equal to `port`")
        problems.all_invalid(f"{path}.endPort", end, text.port_number(end))


def _peer(peer: Object, path: str, problems: Problems) -> None:
    found = [field for field in ("podSelector", "namespaceSelector", "ipBlock") if field in peer]
    for field in found:
        if field == "ipBlock":
            _ip_block(peer[field], f"{path}.ipBlock", problems)
        else:
            label_selector(peer[field], f"{path}.{field}", problems)
    if not found:
        problems.required(path, "must specify a peer")
    elif len(found) > 1 and "ipBlock" in peer:
        problems.forbidden(path, "may not specify both ipBlock and another peer")


def _ip_block(block: Object, path: str, problems: Problems) -> None:
    value = block.get("cidr", "")
    if not value:
        problems.required(f"{path}.cidr")
        return
    wrong = text.cidr(value)
    problems.all_invalid(f"{path}.cidr", value, wrong)
    if wrong:
        return
    network = ipaddress.ip_network(value, strict=False)
    for index, exception in enumerate(block.get("except", ())):
        at = f"{path}.except[{index}]"
        wrong = text.cidr(exception)
        problems.all_invalid(at, exception, wrong)
        if not wrong and not _strictly_inside(ipaddress.ip_network(exception, strict=False), network):
            problems.invalid(at, exception, "must be a strict subset of `cidr`")


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
    _ingress_spec(new.get("spec", {}), problems)


def _ingress_spec(spec: Object, problems: Problems) -> None:
    if not spec.get("rules") and "defaultBackend" not in spec:
        problems.invalid("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified")
    if "defaultBackend" in spec:
        _backend(spec["defaultBackend"], "spec.defaultBackend", problems)
    for index, rule in enumerate(spec.get("rules", ())):
        _ingress_rule(rule, f"spec.rules[{index}]", problems)
    for index, tls in enumerate(spec.get("tls", ())):
        for number, host in enumerate(tls.get("hosts", ())):
            rule = text.wildcard_subdomain if "*" in host else text.dns_subdomain
            problems.all_invalid(f"spec.tls[{index}].hosts[{number}]", host, rule(host))
        if tls.get("secretName"):
            problems.all_invalid(
                f"spec.tls[{index}].secretName", tls["secretName"], text.dns_subdomain(tls["secretName"])
            )
    if "ingressClassName" in spec:
        problems.all_invalid(
            "spec.ingressClassName", spec["ingressClassName"], text.dns_subdomain(spec["ingressClassName"])
        )


def _ingress_rule(rule: Object, path: str, problems: Problems) -> None:
    host = rule.get("host", "")
    if host:
        if not text.ip_address(host):
            problems.invalid(f"{path}.host", host, "must be a DNS name, not an IP address")
        check = text.wildcard_subdomain if "*" in host else text.dns_subdomain
        problems.all_invalid(f"{path}.host", host, check(host))
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
    elif kind not in _PATH_TYPES:
        problems.not_supported(f"{path}.pathType", kind, _PATH_TYPES)
    elif kind == "ImplementationSpecific":
        if value and not value.startswith("/"):
            problems.invalid(f"{path}.path", value, "must be an absolute path")
    elif not value.startswith("/"):
        problems.invalid(f"{path}.path", value, "must be an absolute path")
    else:
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
        for field in ("kind", "name"):
            if not resource.get(field):
                problems.required(f"{path}.resource.{field}")
    elif service is None or not service.get("name"):
        problems.required(f"{path}.service.name" if service is not None else f"{path}.service")
    else:
        problems.all_invalid(f"{path}.service.name", service["name"], text.dns_1035_label(service["name"]))
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


def ingress_class(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    controller = spec.get("controller", "")
    if len(controller) > _CONTROLLER_LENGTH:
        problems.too_long("spec.controller", _CONTROLLER_LENGTH)
    host, slash, path = controller.partition("/")
    if not controller:
        problems.required("spec.controller")
    elif not slash or not host or not path:
        detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
        problems.invalid("spec.controller", controller, detail)
    else:
        problems.all_invalid("spec.controller", host, text.dns_subdomain(host))
    parameters = spec.get("parameters")
    if parameters is not None:
        for field in ("kind", "name"):
            if not parameters.get(field):
                problems.required(f"spec.parameters.{field}", f"{field} is required")
        if parameters.get("scope") == "Namespace" and not parameters.get("namespace"):
            detail = "`parameters.scope` is set to 'Namespace'"
            problems.required("spec.parameters.namespace", detail)


def ingress_class_update(new: Object, old: Object, problems: Problems) -> None:
    before = old.get("spec", {}).get("controller")
    problems.immutable("spec.controller", new.get("spec", {}).get("controller"), before)
    ingress_class(new, problems)


def ip_address_name(name: str) -> tuple[str, ...]:
    try:
        canonical = str(ipaddress.ip_address(name))
    except ValueError:
        return ("must be a valid IP address",)
    return () if canonical == name else ("must be a canonical form IP address",)


def service_cidr(obj: Object, problems: Problems) -> None:
    ranges = obj.get("spec", {}).get("cidrs", [])
    if not ranges:
        problems.required("spec.cidrs", "at least one CIDR required")
    elif len(ranges) > 2:
        problems.invalid("spec.cidrs", ranges, "may only hold up to 2 values")
    for index, value in enumerate(ranges):
        problems.all_invalid(f"spec.cidrs[{index}]", value, text.cidr(value))


def service_cidr_update(new: Object, old: Object, problems: Problems) -> None:
    problems.immutable("spec.cidrs", new.get("spec", {}).get("cidrs"), old.get("spec", {}).get("cidrs"))
