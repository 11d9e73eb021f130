"""Ingresses, IngressClasses and NetworkPolicies in words.

Source of the behaviour: kubectl pkg/describe (describeIngressV1, describeIngressClassV1, describeNetworkPolicyV1).
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.errors import ApiError
from engine.api.selectors import format_label_selector
from engine.api.types import Object
from engine.kubectl.describe import events
from engine.kubectl.describe.network import endpoints_text, slices_of
from engine.kubectl.describe.writer import NONE, Page, parse_time
from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session


async def ingress(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec, namespace = obj.get("spec") or {}, obj["metadata"]["namespace"]
    page.field("Name", obj["metadata"]["name"])
    page.labels("Labels", obj["metadata"].get("labels"))
    page.field("Namespace", namespace)
    page.field("Address", _address(obj))
    page.field("Ingress Class", spec.get("ingressClassName", NONE))
    default = spec.get("defaultBackend")
    default_text = "<default>" if default is None else await _backend(session, namespace, default)
    page.field("Default backend", default_text)
    _tls(page, spec.get("tls") or ())
    page.line("Rules:\n  Host\tPath\tBackends")
    page.row("----", "----", "--------", level=1)
    rules = [rule for rule in spec.get("rules") or () if rule.get("http")]
    for rule in rules:
        page.line(f"{rule.get('host') or '*'}\t", 1)
        for path in rule["http"].get("paths") or ():
            page.line(f"\t{path.get('path', '')} \t{await _backend(session, namespace, path['backend'])}", 2)
    if not rules:
        page.row("*", "* ", default_text, level=1)
    page.annotations("Annotations", obj["metadata"].get("annotations"))
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


def _address(obj: Object) -> str:
    entries = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return ",".join(sorted({one.get("ip") or one.get("hostname", "") for one in entries} - {""}))


def _tls(page: Page, entries: Sequence[Object]) -> None:
    if entries:
        page.line("TLS:")
    for one in entries:
        hosts = ",".join(one.get("hosts") or ())
        page.line(f"{one['secretName']} terminates {hosts}" if one.get("secretName") else f"SNI routes {hosts}", 1)


async def _backend(session: Session, namespace: str, backend: Object) -> str:
    """`web:80 (10.244.0.5:8080)`, or the resource that it is."""
    resource = backend.get("resource")
    if not (backend.get("service") or resource):
        return ""
    if resource and not backend.get("service"):
        group = resource.get("apiGroup") or NONE
        return f"APIGroup: {group}, Kind: {resource.get('kind', '')}, Name: {resource.get('name', '')}"
    service = backend.get("service") or {}
    name, port = service.get("name", ""), service.get("port") or {}
    shown = f"{name}:{port.get('number') or port.get('name', '')}"
    try:
        found = await session.get(await session.resolve("services"), name, namespace)
    except ApiError as error:
        return f"{shown} (<error: {error.message}>)"
    except CommandError as error:
        return f"{shown} (<error: {error}>)"
    named = [one.get("name", "") for one in found["spec"].get("ports") or () if _is(one, port)]
    slices = await slices_of(session, namespace, name)
    return f"{shown} ({endpoints_text(slices, named[-1] if named else '')})"


def _is(port: Object, wanted: Object) -> bool:
    if wanted.get("name"):
        return bool(port.get("name") == wanted["name"])
    return bool(port.get("port") == wanted.get("number"))


async def ingress_class(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec = obj.get("spec") or {}
    page.field("Name", obj["metadata"]["name"])
    page.labels_and_annotations(obj)
    page.field("Controller", spec.get("controller", ""))
    if parameters := spec.get("parameters"):
        page.line("Parameters:")
        if parameters.get("apiGroup") is not None:
            page.field("APIGroup", parameters["apiGroup"], 1)
        page.field("Kind", parameters.get("kind", ""), 1)
        page.field("Name", parameters.get("name", ""), 1)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


# -- network policies


async def network_policy(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec = obj.get("spec") or {}
    page.head(obj)
    created = parse_time(obj["metadata"].get("creationTimestamp") or "0001-01-01T00:00:00Z")
    page.field("Created on", f"{created.replace(tzinfo=None)} +0000 UTC")
    page.labels_and_annotations(obj)
    page.line("Spec:")
    selector = spec.get("podSelector") or {}
    everyone = not (selector.get("matchLabels") or selector.get("matchExpressions"))
    everything = f"{NONE} (Allowing the specific traffic to all pods in this namespace)"
    page.line(f"PodSelector:     {everything if everyone else format_label_selector(selector)}", 1)
    types = spec.get("policyTypes") or ()
    for kind, side, key in (("Ingress", "ingress", "from"), ("Egress", "egress", "to")):
        if kind in types:
            page.line(f"Allowing {side} traffic:", 1)
            _rules(page, spec.get(side) or (), side=side, key=key)
        else:
            page.line(f"Not affecting {side} traffic", 1)
    page.line(f"Policy Types: {', '.join(types) or NONE}", 1)
    return page.text()


def _rules(page: Page, rules: Sequence[Object], *, side: str, key: str) -> None:
    title, end = key.capitalize(), "source" if key == "from" else "destination"
    if not rules:
        page.line(f"{NONE} (Selected pods are isolated for {side} connectivity)", 2)
    for index, rule in enumerate(rules):
        for port in rule.get("ports") or ():
            page.line(_port(port), 2)
        if not rule.get("ports"):
            page.line("To Port: <any> (traffic allowed to all ports)", 2)
        for peer in rule.get(key) or ():
            page.line(f"{title}:", 2)
            _peer(page, peer)
        if not rule.get(key):
            page.line(f"{title}: <any> (traffic not restricted by {end})", 2)
        if index < len(rules) - 1:
            page.line("----------", 2)


def _port(port: Object) -> str:
    protocol = port.get("protocol", "TCP")
    if port.get("endPort") is not None:
        return f"To Port Range: {port['port']}-{port['endPort']}/{protocol}"
    return f"To Port: {port.get('port', '<nil>')}/{protocol}"


def _peer(page: Page, peer: Object) -> None:
    if peer.get("namespaceSelector") is not None:
        page.line(f"NamespaceSelector: {format_label_selector(peer['namespaceSelector'])}", 3)
    if peer.get("podSelector") is not None:
        page.line(f"PodSelector: {format_label_selector(peer['podSelector'])}", 3)
    if "namespaceSelector" not in peer and "podSelector" not in peer and (block := peer.get("ipBlock")) is not None:
        page.line("IPBlock:", 3)
        page.line(f"CIDR: {block.get('cidr', '')}", 4)
        page.line(f"Except: {', '.join(block.get('except') or ())}", 4)
