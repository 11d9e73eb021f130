"""The table that a node's service proxy programs: virtual addresses and where packets to them go (pkg/proxy
topology.go, pkg/proxy/ipvs and nftables proxier.go). Pure: a Service, its EndpointSlices and the node in, rules out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.api.types import Object

PROXY_NAME_LABEL = "service.kubernetes.io/service-proxy-name"
SERVICE_NAME_LABEL = "kubernetes.io/service-name"


class Endpoint(NamedTuple):
    ip: str
    port: int
    node: str = ""
    zone: str = ""
    ready: bool = True
    serving: bool = True
    terminating: bool = False
    zone_hints: tuple[str, ...] = ()
    node_hints: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        return f"[{self.ip}]:{self.port}" if ":" in self.ip else f"{self.ip}:{self.port}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One virtual address of one port of a Service. Without endpoints packets are rejected, or dropped where there are
    some on other nodes, which the traffic policy lets nobody have.

    `anywhere` are those of all nodes: at an address for the outside, the node's own Pods get these whatever the policy.
    """

    service: str  # namespace/name:port
    kind: str  # ClusterIP, ExternalIP, LoadBalancer, NodePort
    ip: str  # "" for a node port, which is on every address of the node
    port: int
    protocol: str
    endpoints: tuple[Endpoint, ...]
    local_only: bool = False
    affinity_seconds: int = 0
    anywhere: tuple[Endpoint, ...] = ()

    @property
    def for_pods(self) -> tuple[Endpoint, ...]:
        """Where packets of a Pod on this node go."""
        return self.endpoints if self.kind == "ClusterIP" else self.anywhere

    @property
    def drops(self) -> bool:
        """Whether packets that find no endpoint are lost without an answer."""
        return self.local_only and bool(self.anywhere)

    @property
    def action(self) -> str:
        if self.endpoints:
            return "dnat"
        return "drop" if self.drops else "reject"

    def to_json(self) -> Object:
        host = f"[{self.ip}]" if ":" in self.ip else self.ip or "*"
        return {
            "service": self.service,
            "kind": self.kind,
            "address": f"{host}:{self.port}",
            "protocol": self.protocol,
            "action": self.action,
            "endpoints": [endpoint.address for endpoint in self.endpoints],
            "policy": "Local" if self.local_only else "Cluster",
            "sessionAffinitySeconds": self.affinity_seconds,
        }


class NodeView(NamedTuple):
    """What of the node a rule depends on."""

    name: str
    zone: str = ""


def proxied(service: Object) -> bool:
    """Whether the proxy has anything to do for a Service."""
    spec, labels = service["spec"], service["metadata"].get("labels") or {}
    if spec.get("type") == "ExternalName" or PROXY_NAME_LABEL in labels:
        return False
    return spec.get("clusterIP", "None") not in ("", "None")


def service_rules(service: Object, slices: Sequence[Object], node: NodeView) -> tuple[Rule, ...]:
    """All rules of one Service on one node, in the order of its ports and addresses."""
    if not proxied(service):
        return ()
    rules: list[Rule] = []
    for port in service["spec"].get("ports") or ():
        for family, ips in _by_family(service["spec"].get("clusterIPs") or [service["spec"]["clusterIP"]]).items():
            endpoints = _endpoints(slices, port, family)
            rules += _port_rules(service, port, ips, endpoints, family, node)
    return tuple(rules)


def _port_rules(
    service: Object, port: Object, ips: list[str], endpoints: list[Endpoint], family: str, node: NodeView
) -> Iterable[Rule]:
    spec = service["spec"]
    internal_local = spec.get("internalTrafficPolicy") == "Local"
    external_local = spec.get("externalTrafficPolicy") == "Local"
    internal = _chosen(endpoints, node, local=internal_local)
    external = _chosen(endpoints, node, local=external_local)
    anywhere = _chosen(endpoints, node, local=False)
    affinity = _affinity(spec)
    name = _port_name(service, port)
    protocol = port.get("protocol", "TCP")

    def rule(kind: str, ip: str, number: int, to: tuple[Endpoint, ...], *, local: bool) -> Rule:
        return Rule(name, kind, ip, number, protocol, to, local, affinity, anywhere)

    for ip in ips:
        yield rule("ClusterIP", ip, port["port"], internal, local=internal_local)
    for ip in _by_family(spec.get("externalIPs") or []).get(family, ()):
        yield rule("ExternalIP", ip, port["port"], external, local=external_local)
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    balanced = [item["ip"] for item in ingress if item.get("ip") and item.get("ipMode", "VIP") == "VIP"]
    for ip in _by_family(balanced).get(family, ()):
        yield rule("LoadBalancer", ip, port["port"], external, local=external_local)
    if port.get("nodePort") and family == _family((spec.get("clusterIPs") or [spec["clusterIP"]])[0]):
        yield rule("NodePort", "", port["nodePort"], external, local=external_local)


def _port_name(service: Object, port: Object) -> str:
    metadata = service["metadata"]
    key = f"{metadata.get('namespace', '')}/{metadata['name']}"
    return f"{key}:{port['name']}" if port.get("name") else key


def _affinity(spec: Object) -> int:
    if spec.get("sessionAffinity") != "ClientIP":
        return 0
    return int(((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds") or 10800)


def _family(ip: str) -> str:
    return "IPv6" if ":" in ip else "IPv4"


def _by_family(ips: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for ip in ips:
        found.setdefault(_family(ip), []).append(ip)
    return found


# -- endpoints


def _endpoints(slices: Sequence[Object], port: Object, family: str) -> list[Endpoint]:
    """The endpoints of one port, sorted by address, each once."""
    found: dict[tuple[str, int], Endpoint] = {}
    for piece in slices:
        if piece.get("addressType") != family:
            continue
        for target in piece.get("ports") or ():
            if (target.get("name") or "") != (port.get("name") or "") or not target.get("port"):
                continue
            for item in piece.get("endpoints") or ():
                endpoint = _endpoint(item, int(target["port"]))
                found[endpoint.ip, endpoint.port] = endpoint
    return [found[key] for key in sorted(found)]


def _endpoint(item: Object, port: int) -> Endpoint:
    conditions = item.get("conditions") or {}
    ready = conditions.get("ready", True) is not False
    hints = item.get("hints") or {}
    return Endpoint(
        item["addresses"][0],
        port,
        item.get("nodeName", ""),
        item.get("zone", ""),
        ready,
        conditions.get("serving", ready) is not False,
        bool(conditions.get("terminating")),
        tuple(zone["name"] for zone in hints.get("forZones") or ()),
        tuple(node["name"] for node in hints.get("forNodes") or ()),
    )


def _chosen(endpoints: Sequence[Endpoint], node: NodeView, *, local: bool) -> tuple[Endpoint, ...]:
    """Ready ones, of the node alone or of its zone where that is asked for; without any, those that serve while they
    terminate (KEP-1669)."""
    if local:
        endpoints = [endpoint for endpoint in endpoints if endpoint.node == node.name]
    ready = [endpoint for endpoint in endpoints if endpoint.ready]
    if not ready:
        return tuple(endpoint for endpoint in endpoints if endpoint.serving and endpoint.terminating)
    return tuple(ready if local else _hinted(ready, node))


def _hinted(ready: list[Endpoint], node: NodeView) -> list[Endpoint]:
    """Those hinted to the node, else those hinted to its zone, where every endpoint has a hint of that kind and one is
    for it (topologyModeFromHints; KEP-2433, KEP-3015)."""
    if all(endpoint.node_hints for endpoint in ready):
        mine = [endpoint for endpoint in ready if node.name in endpoint.node_hints]
        if mine:
            return mine
    if node.zone and all(endpoint.zone_hints for endpoint in ready):
        return [endpoint for endpoint in ready if node.zone in endpoint.zone_hints] or ready
    return ready


# -- the table


@dataclass(slots=True)
class RuleTable:
    """The rules of one node, by Service; replaced Service by Service."""

    by_service: dict[str, tuple[Rule, ...]] = field(default_factory=dict)

    def set(self, service: str, rules: tuple[Rule, ...]) -> bool:
        """Replace the rules of one Service; whether that changes anything."""
        if self.by_service.get(service, ()) == rules:
            return False
        if rules:
            self.by_service[service] = rules
        else:
            del self.by_service[service]
        return True

    def rules(self) -> list[Rule]:
        return [rule for key in sorted(self.by_service) for rule in self.by_service[key]]

    def find(self, ip: str, port: int, protocol: str = "TCP") -> Rule | None:
        """The rule that a packet to a virtual address meets."""
        for rules in self.by_service.values():
            rule = of_address(rules, ip, port, protocol)
            if rule is not None:
                return rule
        return None


def of_address(rules: Iterable[Rule], ip: str, port: int, protocol: str = "TCP") -> Rule | None:
    found = (rule for rule in rules if (rule.ip, rule.port, rule.protocol) == (ip, port, protocol))
    return next(found, None)


def service_key(piece: Object) -> str:
    """The Service that an EndpointSlice belongs to, as namespace/name; "" for none."""
    metadata: Mapping[str, str] = piece["metadata"]
    labels = piece["metadata"].get("labels") or {}
    name = labels.get(SERVICE_NAME_LABEL, "")
    return f"{metadata.get('namespace', '')}/{name}" if name else ""
