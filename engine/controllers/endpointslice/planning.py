"""Which EndpointSlices to create, update and delete: pure (endpointslice reconciler.go).

Slices are kept by port mapping: Pods that give a named port different numbers are in different slices. As few slices
as may be are written: changed ones are filled up first, then one that has room, then new ones are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from engine.api.types import GVK, Object
from engine.controllers.endpointslice.endpoints import (
    belongs_in_endpoints,
    endpoint_of,
    endpoint_ports,
    has_cluster_ip,
    with_hints,
)
from engine.controllers.ownership import controller_reference, owner_references

CONTROLLER = "endpointslice-controller.k8s.io"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
SERVICE_NAME = "kubernetes.io/service-name"
HEADLESS = "service.kubernetes.io/headless"
MAX_ENDPOINTS = 100

SERVICE = GVK("", "v1", "Service")
_RESERVED = frozenset({MANAGED_BY, SERVICE_NAME, HEADLESS})

PortKey = bytes


@dataclass(slots=True)
class Plan:
    create: list[Object] = field(default_factory=list)
    update: list[Object] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # Pods whose Node is not there
    unchanged: list[Object] = field(default_factory=list)

    def extend(self, other: Plan) -> None:
        self.create += other.create
        self.update += other.update
        self.delete += other.delete
        self.unchanged += other.unchanged


@dataclass(slots=True)
class _Group:
    """The endpoints that should be there for one port mapping, by what makes them the same endpoint."""

    ports: list[Object]
    endpoints: dict[str, Object] = field(default_factory=dict)


def plan(
    service: Object,
    pods: Sequence[Object],
    *,
    slices: Sequence[Object],
    nodes: dict[str, Object],
    address_type: str,
    max_endpoints: int = MAX_ENDPOINTS,
    keep_hints: bool = False,
) -> Plan:
    """The changes for one address type. `slices` are those of the Service of that type. With `keep_hints` somebody else
    sees to hints, and endpoints that differ in nothing else are the same."""
    result = Plan()
    existing: dict[PortKey, list[Object]] = {}
    for each in slices:
        if _owned_by(each, service):
            existing.setdefault(_port_key(each.get("ports") or []), []).append(each)
        else:
            result.delete.append(each)
    groups = _desired(service, pods, nodes=nodes, address_type=address_type, skipped=result.skipped)
    if not keep_hints:
        for group in groups.values():
            group.endpoints = {key: with_hints(service, endpoint) for key, endpoint in group.endpoints.items()}
    filler = _Filler(service, address_type, max_endpoints, keep_hints=keep_hints)
    for key, group in groups.items():
        result.extend(filler.fill(group, existing.get(key, [])))
    for key, unwanted in existing.items():
        if key not in groups:
            result.delete += unwanted
    if len(slices) == len(result.delete) and not result.create:
        _keep_placeholder(service, address_type, result)
    _reuse_deleted(service, result)
    return result


def _desired(
    service: Object, pods: Sequence[Object], *, nodes: dict[str, Object], address_type: str, skipped: list[str]
) -> dict[PortKey, _Group]:
    groups: dict[PortKey, _Group] = {}
    for pod in pods:
        if not belongs_in_endpoints(pod):
            continue
        ports = endpoint_ports(service, pod)
        group = groups.setdefault(_port_key(ports), _Group(ports))
        node_name = pod["spec"].get("nodeName", "")
        if node_name not in nodes and not service["spec"].get("publishNotReadyAddresses"):
            skipped.append(
                f"skipping Pod {pod['metadata']['name']} for Service "
                f"{service['metadata']['namespace']}/{service['metadata']['name']}: Node {node_name} Not Found"
            )
            continue
        endpoint = endpoint_of(pod, nodes.get(node_name), service, address_type)
        if endpoint["addresses"]:
            group.endpoints[_identity(endpoint)] = endpoint
    return groups


def _port_key(ports: list[Object]) -> PortKey:
    ordered = sorted(orjson.dumps(port, option=orjson.OPT_SORT_KEYS) for port in ports)
    return b",".join(ordered)


def _identity(endpoint: Object) -> str:
    """What makes two versions of an endpoint the same one; its Node, its Pod's uid and conditions may differ."""
    target = endpoint.get("targetRef") or {}
    addresses = ",".join(sorted(endpoint["addresses"]))
    return "|".join([addresses, endpoint.get("hostname", ""), target.get("namespace", ""), target.get("name", "")])


def _owned_by(each: Object, service: Object) -> bool:
    uid = service["metadata"]["uid"]
    return any(
        reference.get("uid") == uid and reference.get("kind") == "Service" and reference.get("apiVersion") == "v1"
        for reference in owner_references(each)
    )


class _Filler:
    """Distributes the endpoints of one port mapping over slices."""

    def __init__(self, service: Object, address_type: str, max_endpoints: int, *, keep_hints: bool) -> None:
        self._service = service
        self._address_type = address_type
        self._max = max_endpoints
        self._keep_hints = keep_hints

    def fill(self, group: _Group, existing: Sequence[Object]) -> Plan:
        result, left = Plan(), dict(group.endpoints)
        updates: dict[str, Object] = {}
        unchanged: dict[str, Object] = {}
        for each in existing:
            self._keep(each, left, updates=updates, unchanged=unchanged, result=result)
        for each in sorted(updates.values(), key=lambda each: -len(each["endpoints"])):
            self._pour(each, left)
        while left:
            target = self._with_room(list(unchanged.values()), len(left))
            if target is None:
                new = new_slice(self._service, self._address_type, group.ports)
                self._pour(new, left)
                result.create.append(new)
            else:
                name = target["metadata"]["name"]
                del unchanged[name]
                copy = {**target, "endpoints": list(target.get("endpoints") or [])}
                self._pour(copy, left)
                updates[name] = copy
        result.update = list(updates.values())
        result.unchanged = list(unchanged.values())
        return result

    def _keep(
        self,
        each: Object,
        left: dict[str, Object],
        *,
        updates: dict[str, Object],
        unchanged: dict[str, Object],
        result: Plan,
    ) -> None:
        """Keep of an existing slice the endpoints that are still wanted, as they should be now."""
        name, before = each["metadata"]["name"], each.get("endpoints") or []
        after = []
        for endpoint in before:
            wanted = left.pop(_identity(endpoint), None)
            if wanted is None:
                continue
            if self._keep_hints and endpoint.get("hints"):
                wanted = {**wanted, "hints": endpoint["hints"]}
            after.append(wanted)
        labels = slice_labels(self._service)
        if after != before and not after:
            result.delete.append(each)
        elif after != before or labels != (each["metadata"].get("labels") or {}):
            updates[name] = {**each, "metadata": {**each["metadata"], "labels": labels}, "endpoints": after}
        else:
            unchanged[name] = each

    def _pour(self, each: Object, left: dict[str, Object]) -> None:
        while left and len(each["endpoints"]) < self._max:
            each["endpoints"].append(left.pop(next(iter(left))))

    def _with_room(self, slices: list[Object], count: int) -> Object | None:
        """The slice that will be fullest with `count` more endpoints (getSliceToFill)."""
        if count >= self._max:
            return None
        room = [(self._max - count - len(each.get("endpoints") or []), each) for each in slices]
        fitting = [(free, each) for free, each in room if 0 <= free < self._max]
        return min(fitting, key=lambda pair: pair[0])[1] if fitting else None


def slice_labels(service: Object) -> dict[str, str]:
    """The Service's labels, and those that say whose slice it is."""
    labels = {key: value for key, value in (service["metadata"].get("labels") or {}).items() if key not in _RESERVED}
    if not has_cluster_ip(service):
        labels[HEADLESS] = ""
    labels[SERVICE_NAME] = service["metadata"]["name"]
    labels[MANAGED_BY] = CONTROLLER
    return labels


def new_slice(service: Object, address_type: str, ports: list[Object]) -> Object:
    metadata = service["metadata"]
    prefix = f"{metadata['name']}-"
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": prefix,
            "namespace": metadata["namespace"],
            "labels": slice_labels(service),
            "ownerReferences": [controller_reference(service, SERVICE)],
        },
        "addressType": address_type,
        "endpoints": [],
        "ports": ports,
    }


def _keep_placeholder(service: Object, address_type: str, result: Plan) -> None:
    """A Service without endpoints has one empty slice."""
    placeholder = new_slice(service, address_type, [])
    if len(result.delete) == 1 and _is_placeholder(result.delete[0], placeholder):
        result.delete.clear()
    else:
        result.create.append(placeholder)


def _is_placeholder(each: Object, placeholder: Object) -> bool:
    def compared(of: Object) -> tuple[Any, ...]:
        return of.get("endpoints") or [], of.get("ports") or [], of["metadata"].get("labels"), owner_references(of)

    return compared(each) == compared(placeholder)


def _reuse_deleted(service: Object, result: Plan) -> None:
    """Update in place what would be deleted while another is created."""
    for each in list(result.delete):
        if not result.create:
            return
        new = result.create[-1]
        if each["addressType"] != new["addressType"] or not _owned_by(each, service):
            continue
        result.create.pop()
        result.delete.remove(each)
        metadata = {**each["metadata"], "labels": new["metadata"]["labels"]}
        result.update.append({**new, "metadata": metadata})
