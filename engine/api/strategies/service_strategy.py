"""What a change of a Service keeps, follows and drops (pkg/registry/core/service/strategy.go, storage/storage.go).

The API server fills in addresses, families, node ports and traffic policies. When a change makes one of them pointless,
it goes with the change, unless the client changed it too: then validation has the word.
"""

from __future__ import annotations

from engine.api.defaults.networking import externally_accessible
from engine.api.types import Object

WITH_NODE_PORTS = ("NodePort", "LoadBalancer")
TRAFFIC_POLICIES = ("Cluster", "Local")


def normalize_cluster_ips(spec: Object, before: Object | None = None) -> None:
    """clusterIP, the older field, leads: who changes or clears it alone means clusterIPs too (normalizeClusterIPs)."""
    first, addresses = spec.get("clusterIP", ""), spec.get("clusterIPs") or []
    if before is None:
        if first and not addresses:
            spec["clusterIPs"] = [first]
        return
    old_first, old_addresses = before.get("clusterIP", ""), before.get("clusterIPs") or []
    if first != old_first and addresses == old_addresses:
        if first:
            spec["clusterIPs"] = [first]
        else:
            spec.pop("clusterIPs", None)


def prepare_service_for_update(new: Object, old: Object) -> None:
    """Drops what the new type does not use and the client did not touch (dropTypeDependentFields)."""
    spec, before = new.get("spec", {}), old.get("spec", {})
    if _has_address(before) and not _has_address(spec):
        if all(spec.get(field) == before.get(field) for field in ("clusterIP", "clusterIPs")):
            spec.pop("clusterIP", None)
            spec.pop("clusterIPs", None)
        _drop_unchanged(spec, before, "ipFamilies")
        _drop_unchanged(spec, before, "ipFamilyPolicy")
    adds_none = _node_ports(spec) <= _node_ports(before)
    # A load balancer that is to have no node ports any more keeps those it has until the client takes them out.
    if before.get("type") in WITH_NODE_PORTS and spec.get("type") not in WITH_NODE_PORTS and adds_none:
        for port in spec.get("ports", ()):
            port.pop("nodePort", None)
    if needs_health_check(before) and not needs_health_check(spec):
        _drop_unchanged(spec, before, "healthCheckNodePort")
    if before.get("type") == "LoadBalancer" != spec.get("type"):
        _drop_unchanged(spec, before, "allocateLoadBalancerNodePorts")
        _drop_unchanged(spec, before, "loadBalancerClass")
    if externally_accessible(before) and not externally_accessible(spec):
        _drop_unchanged(spec, before, "externalTrafficPolicy")
    if spec.get("type") != "LoadBalancer":
        new.setdefault("status", {})["loadBalancer"] = {}


def drop_unread_policy(spec: Object) -> None:
    """A name elsewhere has no internalTrafficPolicy, though one was defaulted once and is still accepted: upstream
    keeps it and does not read it (defaultOnReadInternalTrafficPolicy). What validation refuses stays for it."""
    if spec.get("type") == "ExternalName" and spec.get("internalTrafficPolicy") in TRAFFIC_POLICIES:
        del spec["internalTrafficPolicy"]


def has_node_ports(spec: Object) -> bool:
    """Whether ports of the nodes are given to the Service where it names none."""
    if spec.get("type") == "NodePort":
        return True
    return spec.get("type") == "LoadBalancer" and bool(spec.get("allocateLoadBalancerNodePorts", True))


def needs_health_check(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _has_address(spec: Object) -> bool:
    """Also a headless Service has one: None."""
    return spec.get("type") != "ExternalName"


def _node_ports(spec: Object) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports", ()) if port.get("nodePort")}


def _drop_unchanged(spec: Object, before: Object, field: str) -> None:
    if spec.get(field) == before.get(field):
        spec.pop(field, None)
