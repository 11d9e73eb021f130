"""The tables of Services, endpoints, Ingresses and network policy (printers.go)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.api.selectors import format_label_selector, format_labels
from engine.api.tables.columns import AGE, NAME, Column, Field, Row, kind_table
from engine.api.tables.formats import host_port, load_balancer, with_more

_DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"
_SHOWN = 3  # of a list of endpoints, ports or hosts


def _external_ip(row: Row) -> str:
    kind = row.spec.get("type")
    external = row.spec.get("externalIPs") or []
    if kind in ("ClusterIP", "NodePort"):
        return ",".join(external) or "<none>"
    if kind == "LoadBalancer":
        points = load_balancer(row.status)
        return ",".join(filter(None, [points, *external])) or "<pending>"
    if kind == "ExternalName":
        return str(row.spec.get("externalName", ""))
    return "<unknown>"


def _service_port(port: Mapping[str, Any]) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{node_port}/{port.get('protocol', '')}"


def _cluster_ip(row: Row) -> str:
    addresses = row.spec.get("clusterIPs") or [row.spec.get("clusterIP") or "<none>"]
    return str(addresses[0])


_SERVICE_SPEC = "api.core.v1.ServiceSpec"
SERVICES = kind_table(
    NAME,
    Column("Type", lambda row: row.spec.get("type", ""), Field(_SERVICE_SPEC, "type")),
    Column("Cluster-IP", _cluster_ip, Field(_SERVICE_SPEC, "clusterIP")),
    Column("External-IP", _external_ip, Field(_SERVICE_SPEC, "externalIPs")),
    Column(
        "Port(s)",
        lambda row: ",".join(map(_service_port, row.spec.get("ports") or ())) or "<none>",
        Field(_SERVICE_SPEC, "ports"),
    ),
    AGE,
    Column(
        "Selector", lambda row: format_labels(row.spec.get("selector")), Field(_SERVICE_SPEC, "selector"), priority=1
    ),
)


def _endpoints(row: Row) -> str:
    subsets = row.object.get("subsets") or ()
    if not subsets:
        return "<none>"
    found: list[str] = []
    for subset in subsets:
        addresses = [address.get("ip", "") for address in subset.get("addresses") or ()]
        ports = subset.get("ports") or ()
        if not ports:  # a headless Service may have none
            found += addresses
        for port in ports:
            found += [host_port(address, port.get("port", 0)) for address in addresses]
    return with_more(found, _SHOWN)


ENDPOINTS = kind_table(NAME, Column("Endpoints", _endpoints, Field("api.core.v1.Endpoints", "subsets")), AGE)


def _slice_ports(row: Row) -> str:
    ports = [_slice_port(port) for port in row.object.get("ports") or ()]
    return with_more(ports, _SHOWN) or "<unset>"


def _slice_port(port: Mapping[str, Any]) -> str:
    if port.get("port") is not None:
        return str(port["port"])
    return "*" if port.get("name") is None else str(port["name"])


def _slice_endpoints(row: Row) -> str:
    endpoints = row.object.get("endpoints") or ()
    addresses = [address for endpoint in endpoints for address in endpoint.get("addresses") or ()]
    return with_more(addresses, _SHOWN) or "<unset>"


_SLICE = "api.discovery.v1.EndpointSlice"
ENDPOINT_SLICES = kind_table(
    NAME,
    Column("AddressType", lambda row: row.object.get("addressType", ""), Field(_SLICE, "addressType")),
    Column("Ports", _slice_ports, Field(_SLICE, "ports")),
    Column("Endpoints", _slice_endpoints, Field(_SLICE, "endpoints")),
    AGE,
)


def _hosts(row: Row) -> str:
    rules = row.spec.get("rules") or ()
    hosts: list[str] = []
    more = False
    for rule in rules:
        more = more or len(hosts) == _SHOWN
        if not more and rule.get("host"):
            hosts.append(rule["host"])
    shown = ",".join(hosts) or "*"
    return f"{shown} + {len(rules) - _SHOWN} more..." if more else shown


INGRESSES = kind_table(
    NAME,
    Column(
        "Class",
        lambda row: row.spec.get("ingressClassName", "<none>"),
        "The name of the IngressClass resource that should be used for additional configuration",
    ),
    Column("Hosts", _hosts, "Hosts that incoming requests are matched against before the ingress rule"),
    Column(
        "Address",
        lambda row: load_balancer(row.status),
        "Address is a list containing ingress points for the load-balancer",
    ),
    Column("Ports", lambda row: "80, 443" if row.spec.get("tls") else "80", "Ports of TLS configurations that open"),
    AGE,
)


def _class_parameters(row: Row) -> str:
    parameters = row.spec.get("parameters")
    if parameters is None:
        return "<none>"
    group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") is not None else ""
    return f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"


def _class_name(row: Row) -> str:
    """The name, with a mark on the default class."""
    annotations: Mapping[str, str] = row.metadata.get("annotations") or {}
    return f"{row.name} (default)" if annotations.get(_DEFAULT_CLASS) == "true" else row.name


_CLASS_COLUMNS: tuple[Column[Row], ...] = (
    Column(
        "Controller",
        lambda row: row.spec.get("controller", ""),
        "Controller that is responsible for handling this class",
    ),
    Column("Parameters", _class_parameters, "A reference to a resource with additional parameters"),
    AGE,
)
INGRESS_CLASSES = kind_table(replace(NAME, cell=_class_name), *_CLASS_COLUMNS)
UNMARKED_INGRESS_CLASSES = kind_table(NAME, *_CLASS_COLUMNS)

NETWORK_POLICIES = kind_table(
    NAME,
    Column(
        "Pod-Selector",
        lambda row: format_label_selector(row.spec.get("podSelector") or {}),
        Field("api.networking.v1.NetworkPolicySpec", "podSelector"),
    ),
    AGE,
)

SERVICE_CIDRS = kind_table(
    NAME,
    Column(
        "CIDRs",
        lambda row: ",".join(row.spec.get("cidrs") or ()),
        Field("api.networking.v1.ServiceCIDRSpec", "cidrs"),
    ),
    AGE,
)


def _parent(row: Row) -> str:
    parent = row.spec.get("parentRef")
    if parent is None:
        return "<none>"
    group = f".{parent['group']}" if parent.get("group") else ""
    namespace = f"/{parent['namespace']}" if parent.get("namespace") else ""
    return f"{(parent.get('resource', '') + group).lower()}{namespace}/{parent.get('name', '')}"


IP_ADDRESSES = kind_table(NAME, Column("ParentRef", _parent, Field("api.networking.v1.IPAddressSpec", "parentRef")))
