"""A Pod as an endpoint of a Service: pure (endpointslice utils.go, util/controller_utils.go)."""

from __future__ import annotations

from ipaddress import ip_address

from engine.api.types import Object
from engine.controllers.labels import ZONE_LABEL
from engine.controllers.pods import is_ready, is_terminal


def address_types(service: Object) -> list[str]:
    """`IPv4` and `IPv6` as far as the Service has them; a headless one that does not say has both."""
    spec = service["spec"]
    if families := spec.get("ipFamilies"):
        return [family for family in ("IPv4", "IPv6") if family in families]
    if has_cluster_ip(service):
        return ["IPv6" if ":" in spec["clusterIP"] else "IPv4"]
    return ["IPv4", "IPv6"]


def has_cluster_ip(service: Object) -> bool:
    return service["spec"].get("clusterIP", "") not in ("", "None")


def pod_ips(pod: Object) -> list[str]:
    status = pod.get("status") or {}
    listed = [entry["ip"] for entry in status.get("podIPs") or () if entry.get("ip")]
    return listed or ([status["podIP"]] if status.get("podIP") else [])


def belongs_in_endpoints(pod: Object) -> bool:
    """Not over, and with an address; terminating Pods are in, and marked."""
    return not is_terminal(pod) and bool(pod_ips(pod))


def endpoint_of(pod: Object, node: Object | None, service: Object, address_type: str) -> Object:
    """The endpoint; with no addresses if the Pod has none of that type."""
    metadata, spec = pod["metadata"], pod["spec"]
    serving, terminating = is_ready(pod), bool(metadata.get("deletionTimestamp"))
    ready = bool(service["spec"].get("publishNotReadyAddresses")) or (serving and not terminating)
    endpoint: Object = {
        "addresses": [ip for ip in pod_ips(pod) if _family(ip) == address_type],
        "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
        "targetRef": {
            "kind": "Pod",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
        },
    }
    if spec.get("nodeName"):
        endpoint["nodeName"] = spec["nodeName"]
    zone = ((node or {"metadata": {}})["metadata"].get("labels") or {}).get(ZONE_LABEL)
    if zone:
        endpoint["zone"] = zone
    if spec.get("hostname") and spec.get("subdomain") == service["metadata"]["name"]:
        endpoint["hostname"] = spec["hostname"]
    return endpoint


def with_hints(service: Object, endpoint: Object) -> Object:
    hints = _hints(service, endpoint)
    return {**endpoint, "hints": hints} if hints else endpoint


def _family(ip: str) -> str:
    return f"IPv{ip_address(ip).version}"


def _hints(service: Object, endpoint: Object) -> Object:
    """Who should use this endpoint, by `spec.trafficDistribution` (trafficdist.go)."""
    preference = service["spec"].get("trafficDistribution", "")
    if not preference or not endpoint["conditions"]["ready"]:
        return {}
    hints: Object = {}
    if endpoint.get("zone"):
        hints["forZones"] = [{"name": endpoint["zone"]}]
    if preference == "PreferSameNode" and endpoint.get("nodeName"):
        hints["forNodes"] = [{"name": endpoint["nodeName"]}]
    return hints


def endpoint_ports(service: Object, pod: Object) -> list[Object]:
    """The Service's ports as this Pod has them; one whose named target port the Pod lacks is left out."""
    ports = []
    for port in service["spec"].get("ports") or ():
        number = find_port(pod, port)
        if number is None:
            continue
        found: Object = {"name": port.get("name", ""), "port": number, "protocol": port.get("protocol", "TCP")}
        if port.get("appProtocol"):
            found["appProtocol"] = port["appProtocol"]
        ports.append(found)
    return ports


def find_port(pod: Object, service_port: Object) -> int | None:
    """The number of a target port; a name is looked up in containers and sidecars."""
    target = service_port.get("targetPort", service_port["port"])
    if isinstance(target, int):
        return target
    spec = pod["spec"]
    sidecars = [each for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"]
    for container in [*spec["containers"], *sidecars]:
        for port in container.get("ports") or ():
            same_protocol = port.get("protocol", "TCP") == service_port.get("protocol", "TCP")
            if port.get("name") == target and same_protocol:
                return int(port["containerPort"])
    return None


def endpoint_changed(old: Object, new: Object) -> bool:
    """Whether anything that endpoints show of a Pod has changed."""

    def shown(pod: Object) -> tuple[object, ...]:
        metadata, spec = pod["metadata"], pod["spec"]
        return (
            metadata["uid"],
            metadata.get("deletionTimestamp"),
            is_ready(pod),
            is_terminal(pod),
            pod_ips(pod),
            spec.get("nodeName"),
            spec.get("hostname"),
            spec.get("subdomain"),
        )

    return shown(old) != shown(new)
