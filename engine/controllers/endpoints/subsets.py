"""The subsets of an Endpoints object: pure (pkg/api/v1/endpoints/util.go, truncateEndpoints)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import orjson

from engine.api.types import Object
from engine.controllers.endpoints.ordering import port_order, subset_order
from engine.controllers.endpointslice.endpoints import belongs_in_endpoints, endpoint_ports, has_cluster_ip, pod_ips
from engine.controllers.pods import is_ready

MAX_ADDRESSES = 1000
_READY, _UNREADY = "addresses", "notReadyAddresses"


class Subset(NamedTuple):
    ports: list[Object]
    addresses: list[tuple[Object, bool]]  # each with whether it is ready; those first


def repacked(subsets: Iterable[Object]) -> list[Subset]:
    """All ports that have the same addresses, once, however they were written down (RepackSubsets). An address of a
    port that is told both to be ready and not to be is not; one that two objects have is there for each."""
    ports: dict[bytes, Object | None] = {}
    addresses: dict[tuple[str, str], Object] = {}
    found: dict[bytes, dict[tuple[str, str], bool]] = {}  # by port and address, whether that is ready
    for subset in subsets:
        for port in subset.get("ports") or (None,):
            ports.setdefault(of_port := orjson.dumps(port, option=orjson.OPT_SORT_KEYS), port)
            of_it = found.setdefault(of_port, {})
            for name, ready in ((_READY, True), (_UNREADY, False)):
                for address in subset.get(name) or ():
                    addresses.setdefault(key := _identity(address), address)
                    of_it[key] = of_it.get(key, True) and ready
    together: dict[frozenset[tuple[tuple[str, str], bool]], list[bytes]] = {}
    for of_port, listed in found.items():
        together.setdefault(frozenset(listed.items()), []).append(of_port)
    return [
        Subset(
            [port for each in sharing if (port := ports[each]) is not None],
            sorted(((addresses[key], ready) for key, ready in found[sharing[0]].items()), key=lambda each: not each[1]),
        )
        for sharing in together.values()
    ]


def _identity(address: Object) -> tuple[str, str]:
    return address["ip"], (address.get("targetRef") or {}).get("uid", "")


def subsets_of(service: Object, pods: Sequence[Object]) -> tuple[list[Object], bool]:
    """The subsets, and whether addresses were left out because there are too many."""
    parts = []
    family = (service["spec"].get("ipFamilies") or ["IPv4"])[0]
    publish, has_ports = bool(service["spec"].get("publishNotReadyAddresses")), bool(service["spec"].get("ports"))
    for pod in pods:
        if not belongs_in_endpoints(pod) or (pod["metadata"].get("deletionTimestamp") and not publish):
            continue
        address = _address(service, pod, family)
        ports = [_port(each) for each in endpoint_ports(service, pod)]
        if address is None or not (ports if has_ports else not has_cluster_ip(service)):
            continue
        parts.append({_READY if publish or is_ready(pod) else _UNREADY: [address], "ports": ports})
    made = [_subset(each) for each in repacked(parts)]
    made.sort(key=subset_order)
    over = _truncate(made)
    return [each for each in made if _READY in each or _UNREADY in each], over


def _address(service: Object, pod: Object, family: str) -> Object | None:
    wanted = [ip for ip in pod_ips(pod) if (":" in ip) == (family == "IPv6")]
    if not wanted:
        return None
    metadata, spec = pod["metadata"], pod["spec"]
    address: Object = {
        "ip": wanted[0],
        "targetRef": {
            "kind": "Pod",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
        },
    }
    if spec.get("nodeName"):
        address["nodeName"] = spec["nodeName"]
    if spec.get("hostname") and spec.get("subdomain") == service["metadata"]["name"]:
        address["hostname"] = spec["hostname"]
    return address


def _port(port: Object) -> Object:
    """As an EndpointPort of core/v1, which leaves an empty name out."""
    return {name: value for name, value in port.items() if value != ""}


def _subset(packed: Subset) -> Object:
    subset: Object = {}
    for name, wanted in ((_READY, True), (_UNREADY, False)):
        if listed := [address for address, ready in packed.addresses if ready is wanted]:
            subset[name] = sorted(listed, key=_identity)
    if packed.ports:
        subset["ports"] = sorted(packed.ports, key=port_order)
    return subset


def _truncate(subsets: list[Object]) -> bool:
    """Leave at most a thousand addresses, ready ones first, of each subset its share; says whether there were more."""
    ready, unready = (sum(len(each.get(name, ())) for each in subsets) for name in (_READY, _UNREADY))
    if ready + unready <= MAX_ADDRESSES:
        return False
    if ready > MAX_ADDRESSES:
        name, total, room = _READY, ready, MAX_ADDRESSES
        for each in subsets:
            each.pop(_UNREADY, None)
    else:
        name, total, room = _UNREADY, unready, MAX_ADDRESSES - ready
    left = room
    for each in subsets:
        listed = each.pop(name, [])
        kept = listed[: min(left, math.ceil(len(listed) / total * room))]
        left -= len(kept)
        if kept:
            each[name] = kept
    return True
