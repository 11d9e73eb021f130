"""Defaults of Services, Endpoints, EndpointSlices, NetworkPolicies and IngressClasses.

Sources: pkg/apis/{core,discovery,networking}/v1/defaults.go. Cluster IPs, node ports and IP families are not defaults:
the Service's REST storage allocates them.
"""

from __future__ import annotations

from engine.api.defaults.fields import fill
from engine.api.types import Object

_AFFINITY_SECONDS = 10800
_IN_CLUSTER = ("ClusterIP", "NodePort", "LoadBalancer")


def service(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("type", "ClusterIP")
    _session_affinity(spec)
    for port in spec.get("ports", ()):
        port.setdefault("protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    if externally_accessible(spec):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] in _IN_CLUSTER:
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for ingress in obj.get("status", {}).get("loadBalancer", {}).get("ingress", ()):
            if ingress.get("ip"):
                ingress.setdefault("ipMode", "VIP")
    obj.setdefault("status", {}).setdefault("loadBalancer", {})


def _session_affinity(spec: Object) -> None:
    spec.setdefault("sessionAffinity", "None")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        config = spec.get("sessionAffinityConfig", {}).get("clientIP", {})
        if "timeoutSeconds" not in config:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _AFFINITY_SECONDS}}


def externally_accessible(spec: Object) -> bool:
    """Whether traffic from outside of the cluster can reach the Service (pkg/api/v1/service ExternallyAccessible)."""
    kind = spec.get("type")
    return kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


def endpoints(obj: Object) -> None:
    for subset in obj.get("subsets", ()):
        for port in subset.get("ports", ()):
            fill(port, "protocol", "TCP")


def endpoint_slice(obj: Object) -> None:
    for endpoint in obj.get("endpoints", ()):
        endpoint.setdefault("conditions", {})  # a struct in Go, which is written where it is empty
    for port in obj.get("ports", ()):
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


def network_policy(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("podSelector", {})
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    for rule in (*spec.get("ingress", ()), *spec.get("egress", ())):
        for port in rule.get("ports", ()):
            port.setdefault("protocol", "TCP")


def ingress_class(obj: Object) -> None:
    parameters = obj.get("spec", {}).get("parameters")
    if parameters is not None:
        parameters.setdefault("scope", "Cluster")


def service_cidr(obj: Object) -> None:
    """Fields of its conditions without omitempty: the controllers that say Ready give no reason."""
    for condition in (obj.get("status") or {}).get("conditions") or ():
        condition.setdefault("reason", "")
        condition.setdefault("message", "")
