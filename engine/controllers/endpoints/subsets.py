"""The subsets of an Endpoints object: pure (pkg/api/v1/endpoints/util.go RepackSubsets).

Addresses are grouped by the very same set of ports; an address is in a group once, ready or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from engine.api.types import Object
from engine.controllers.endpointslice.endpoints import belongs_in_endpoints, endpoint_ports, pod_ips
from engine.controllers.pods import is_ready

MAX_ADDRESSES = 1000


@dataclass(slots=True)
class _Group:
    ports: list[Object]
    ready: dict[str, Object] = field(default_factory=dict)  # by IP
    unready: dict[str, Object] = field(default_factory=dict)


def subsets_of(service: Object, pods: Sequence[Object]) -> tuple[list[Object], bool]:
    """The subsets, and whether addresses were left out because there are too many."""
    groups: dict[bytes, _Group] = {}
    family = (service["spec"].get("ipFamilies") or ["IPv4"])[0]
    publish = bool(service["spec"].get("publishNotReadyAddresses"))
    for pod in sorted(pods, key=lambda pod: str(pod["metadata"]["name"])):
        if not belongs_in_endpoints(pod) or (pod["metadata"].get("deletionTimestamp") and not publish):
            continue
        address = _address(service, pod, family)
        if address is None:
            continue
        ports = [_port(each) for each in endpoint_ports(service, pod)]
        if not ports and service["spec"].get("ports"):
            continue
        key = orjson.dumps(sorted(ports, key=_order), option=orjson.OPT_SORT_KEYS)
        group = groups.setdefault(key, _Group(ports))
        (group.ready if publish or is_ready(pod) else group.unready)[address["ip"]] = address
    over = _truncate(groups.values())
    made = [_subset(group) for group in groups.values() if group.ready or group.unready]
    return sorted(made, key=lambda each: orjson.dumps(each, option=orjson.OPT_SORT_KEYS)), over


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


def _order(port: Object) -> tuple[Any, ...]:
    return port.get("name", ""), port["port"], port["protocol"]


def _subset(group: _Group) -> Object:
    subset: Object = {}
    if group.ready:
        subset["addresses"] = [group.ready[ip] for ip in sorted(group.ready)]
    if group.unready:
        subset["notReadyAddresses"] = [group.unready[ip] for ip in sorted(group.unready)]
    if group.ports:
        subset["ports"] = sorted(group.ports, key=_order)
    return subset


def _truncate(groups: Iterable[_Group]) -> bool:
    """Leave at most a thousand addresses, ready ones first; says whether there were more."""
    every = list(groups)
    left, over = MAX_ADDRESSES, False
    for addresses in [*(group.ready for group in every), *(group.unready for group in every)]:
        for ip in list(addresses)[max(0, left) :]:
            del addresses[ip]
            over = True
        left -= len(addresses)
    return over
