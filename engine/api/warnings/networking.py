"""What Services, endpoints, Ingresses and NetworkPolicies are warned of (pkg/api/service/warnings.go and others)."""

from __future__ import annotations

from engine.api.types import Object
from engine.api.warnings.addresses import cidr_warnings, ip_warnings

_HINTS = "service.kubernetes.io/topology-aware-hints"
_TOPOLOGY_MODE = "service.kubernetes.io/topology-mode"
_INGRESS_CLASS = "kubernetes.io/ingress.class"
# Their own controllers write these by the thousand: nobody reads warnings there.
_ENDPOINTS_MANAGER = ("endpoints.kubernetes.io/managed-by", "endpoint-controller")
_SLICE_MANAGER = ("endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io")


def service(obj: Object) -> list[str]:
    spec, found = obj.get("spec") or {}, []
    if _HINTS in _annotations(obj):
        found.append(f"annotation {_HINTS} is deprecated, please use {_TOPOLOGY_MODE} instead")
    headless = spec.get("type") == "ClusterIP" and spec.get("clusterIP") == "None"
    if spec.get("type") != "ExternalName" and spec.get("clusterIP") not in (None, "", "None"):
        found += _addresses(spec.get("clusterIPs") or (), "spec.clusterIPs")
    if headless:
        found += _headless(spec)
    found += _addresses(spec.get("externalIPs") or (), "spec.externalIPs")
    if spec.get("externalIPs") and not headless and spec.get("type") != "ExternalName":
        found.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    found += ip_warnings(spec.get("loadBalancerIP") or "", "spec.loadBalancerIP")
    for index, value in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        found += cidr_warnings(value, f"spec.loadBalancerSourceRanges[{index}]")
    return found + _of_other_types(spec)


def _headless(spec: Object) -> list[str]:
    ignored = {
        "spec.loadBalancerIP": bool(spec.get("loadBalancerIP")),
        "spec.externalIPs": bool(spec.get("externalIPs")),
        "spec.SessionAffinity": spec.get("sessionAffinity") != "None",
    }
    return [f"{field} is ignored for headless services" for field, given in ignored.items() if given]


def _of_other_types(spec: Object) -> list[str]:
    found = []
    if spec.get("type") == "ExternalName" and spec.get("externalIPs"):
        found.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if spec.get("type") != "ExternalName" and spec.get("externalName"):
        found.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        found.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return found


def endpoints(obj: Object) -> list[str]:
    if _managed(obj, _ENDPOINTS_MANAGER):
        return []
    found = []
    for index, subset in enumerate(obj.get("subsets") or ()):
        for field in ("addresses", "notReadyAddresses"):
            for place, address in enumerate(subset.get(field) or ()):
                found += ip_warnings(address.get("ip", ""), f"subsets[{index}].{field}[{place}].ip")
    return found


def endpoint_slice(obj: Object) -> list[str]:
    found = ["addressType: FQDN endpoints are deprecated"] if obj.get("addressType") == "FQDN" else []
    if not _managed(obj, _SLICE_MANAGER):
        for index, endpoint in enumerate(obj.get("endpoints") or ()):
            found += _addresses(endpoint.get("addresses") or (), f"endpoints[{index}].addresses")
    return found


def ingress(obj: Object) -> list[str]:
    if _INGRESS_CLASS in _annotations(obj) and (obj.get("spec") or {}).get("ingressClassName") is None:
        return [f"annotation \"{_INGRESS_CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"]
    return []


def network_policy(obj: Object) -> list[str]:
    found = []
    for field, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate((obj.get("spec") or {}).get(field) or ()):
            for place, peer in enumerate(rule.get(peers) or ()):
                found += _block(peer.get("ipBlock") or {}, f"spec.{field}[{index}].{peers}[{place}].ipBlock")
    return found


def _block(block: Object, path: str) -> list[str]:
    found = cidr_warnings(block.get("cidr", ""), f"{path}.cidr")
    for index, value in enumerate(block.get("except") or ()):
        found += cidr_warnings(value, f"{path}.except[{index}]")
    return found


def _addresses(values: list[str] | tuple[str, ...], path: str) -> list[str]:
    return [text for index, value in enumerate(values) for text in ip_warnings(value, f"{path}[{index}]")]


def _annotations(obj: Object) -> Object:
    return (obj.get("metadata") or {}).get("annotations") or {}


def _managed(obj: Object, label: tuple[str, str]) -> bool:
    return ((obj.get("metadata") or {}).get("labels") or {}).get(label[0]) == label[1]
