"""Services, Endpoints, EndpointSlices and Ingresses in words.

Source of the behaviour: kubectl pkg/describe (describeService, describeEndpointSliceV1, describeIngressV1).
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.selectors import format_labels
from engine.api.types import Object
from engine.kubectl.describe import events
from engine.kubectl.describe.writer import NONE, UNSET, Page
from engine.kubectl.session import Session

SHOWN_ENDPOINTS = 3


async def service(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    slices = await slices_of(session, obj["metadata"]["namespace"], obj["metadata"]["name"])
    page.head(obj)
    page.labels_and_annotations(obj)
    page.field("Selector", format_labels(spec.get("selector")))
    page.field("Type", spec.get("type", ""))
    if spec.get("ipFamilyPolicy") is not None:
        page.field("IP Family Policy", spec["ipFamilyPolicy"])
    page.field("IP Families", _joined(spec.get("ipFamilies")))
    page.field("IP", spec.get("clusterIP", ""))
    page.field("IPs", _joined(spec.get("clusterIPs")))
    if spec.get("externalIPs"):
        page.field("External IPs", ",".join(spec["externalIPs"]))
    if spec.get("loadBalancerIP"):
        page.field("Desired LoadBalancer IP", spec["loadBalancerIP"])
    if spec.get("externalName"):
        page.field("External Name", spec["externalName"])
    if ingress := (status.get("loadBalancer") or {}).get("ingress"):
        page.field("LoadBalancer Ingress", ", ".join(map(_ingress, ingress)))
    for port in spec.get("ports") or ():
        _port(page, port, slices)
    page.field("Session Affinity", spec.get("sessionAffinity", ""))
    for title, key in (
        ("External Traffic Policy", "externalTrafficPolicy"),
        ("Internal Traffic Policy", "internalTrafficPolicy"),
        ("HealthCheck NodePort", "healthCheckNodePort"),
    ):
        if spec.get(key) or (key == "internalTrafficPolicy" and key in spec):
            page.field(title, spec[key])
    if spec.get("loadBalancerSourceRanges"):
        page.field("LoadBalancer Source Ranges", ",".join(spec["loadBalancerSourceRanges"]))
    if spec.get("trafficDistribution") is not None:
        page.field("Traffic Distribution", spec["trafficDistribution"])
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


def _joined(items: Sequence[str] | None) -> str:
    return ",".join(items) if items else NONE


async def slices_of(session: Session, namespace: str, name: str) -> list[Object]:
    resource = await session.resolve("endpointslices.discovery.k8s.io")
    return await session.list(resource, namespace, labelSelector=f"kubernetes.io/service-name={name}")


def _ingress(entry: Object) -> str:
    if not entry.get("ip"):
        return str(entry.get("hostname", ""))
    return f"{entry['ip']} ({entry['ipMode']})" if entry.get("ipMode") is not None else str(entry["ip"])


def _port(page: Page, port: Object, slices: Sequence[Object]) -> None:
    name, protocol = port.get("name") or UNSET, port.get("protocol", "")
    page.line(f"Port:\t{name}\t{port.get('port', 0)}/{protocol}")
    page.field("TargetPort", f"{port.get('targetPort', 0)}/{protocol}")
    if port.get("appProtocol") is not None:
        page.field("AppProtocol", port["appProtocol"])
    if port.get("nodePort"):
        page.line(f"NodePort:\t{name}\t{port['nodePort']}/{protocol}")
    page.field("Endpoints", endpoints_text(slices, port.get("name", "")))


def endpoints_text(slices: Sequence[Object], port_name: str) -> str:
    """The first three ready addresses, and how many more there are."""
    if not slices:
        return NONE
    found: list[str] = []
    for one in slices:
        ports = one.get("ports") or []
        numbers = [port.get("port") for port in ports if port.get("name", "") == port_name] if ports else [None]
        for number in numbers:
            for endpoint in one.get("endpoints") or ():
                if (endpoint.get("conditions") or {}).get("ready", True) is not False:
                    address = endpoint["addresses"][0]
                    host = f"[{address}]" if ":" in address else address
                    found.append(address if number is None else f"{host}:{number}")
    text = ",".join(found[:SHOWN_ENDPOINTS])
    return text if len(found) <= SHOWN_ENDPOINTS else f"{text} + {len(found) - SHOWN_ENDPOINTS} more..."


async def endpoints(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.head(obj)
    page.labels_and_annotations(obj)
    page.line("Subsets:")
    for subset in obj.get("subsets") or ():
        ready = ",".join(address.get("ip", "") for address in subset.get("addresses") or ())
        page.field("Addresses", ready or NONE, 1)
        not_ready = ",".join(address.get("ip", "") for address in subset.get("notReadyAddresses") or ())
        page.field("NotReadyAddresses", not_ready or NONE, 1)
        if ports := subset.get("ports"):
            page.line("Ports:", 1)
            page.row("Name", "Port", "Protocol", level=2)
            page.row("----", "----", "--------", level=2)
            for port in ports:
                page.row(port.get("name") or UNSET, port.get("port", 0), port.get("protocol", ""), level=2)
        page.line()
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


async def endpoint_slice(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.head(obj)
    page.labels_and_annotations(obj)
    page.field("AddressType", obj.get("addressType", ""))
    if ports := obj.get("ports"):
        page.line("Ports:")
        page.row("Name", "Port", "Protocol", level=1)
        page.row("----", "----", "--------", level=1)
        for port in ports:
            page.row(port.get("name") or UNSET, port.get("port", UNSET), port.get("protocol", "TCP"), level=1)
    else:
        page.line("Ports: <unset>")
    if found := obj.get("endpoints"):
        page.line("Endpoints:")
        for endpoint in found:
            _endpoint(page, endpoint)
    else:
        page.line("Endpoints: <none>")
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


def _endpoint(page: Page, endpoint: Object) -> None:
    page.field("- Addresses", ", ".join(endpoint.get("addresses") or ()) or NONE, 1)
    page.line("Conditions:", 2)
    ready = (endpoint.get("conditions") or {}).get("ready")
    page.field("Ready", UNSET if ready is None else str(ready).lower(), 3)
    page.field("Hostname", endpoint.get("hostname", UNSET), 2)
    if target := endpoint.get("targetRef"):
        page.field("TargetRef", f"{target.get('kind', '')}/{target.get('name', '')}", 2)
    page.field("NodeName", endpoint.get("nodeName", UNSET), 2)
    page.field("Zone", endpoint.get("zone", UNSET), 2)


async def ip_address(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.field("Name", obj["metadata"]["name"])
    page.labels_and_annotations(obj)
    if (parent := (obj.get("spec") or {}).get("parentRef")) is not None:
        page.line("Parent Reference:")
        for title, key in (("Group", "group"), ("Resource", "resource"), ("Namespace", "namespace"), ("Name", "name")):
            page.field(title, parent.get(key, ""), 1)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


async def service_cidr(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.field("Name", obj["metadata"]["name"])
    page.labels_and_annotations(obj)
    page.field("CIDRs", ", ".join((obj.get("spec") or {}).get("cidrs") or ()))
    if conditions := (obj.get("status") or {}).get("conditions"):
        page.line("Status:")
        page.line("Conditions:\n  Type\tStatus\tLastTransitionTime\tReason\tMessage")
        page.row("----", "------", "------------------", "------", "-------", level=1)
        for one in conditions:
            cells = (
                one.get("type", ""),
                one.get("status", ""),
                page.date(one.get("lastTransitionTime")),
                one.get("reason", ""),
            )
            page.row(*cells, one.get("message", ""), level=1)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()
