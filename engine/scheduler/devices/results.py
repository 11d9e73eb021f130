"""An allocation as it is written into a claim's status: devices, their configuration, and the nodes that reach them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.api.types import Object
from engine.scheduler.devices.pools import Device
from engine.scheduler.devices.requests import AllocationError, Request, devices_of
from engine.scheduler.devices.sharing import Consumed, shown


@dataclass(frozen=True, slots=True)
class Chosen:
    """`share` is what is consumed of a device that is shared; None for a device of one's own."""

    request: Request
    device: Device
    share: Consumed | None = None


def allocation_of(
    claim: Object,
    requests: list[Request],
    chosen: list[Chosen],
    *,
    node_name: str,
    new_share: Callable[[], str],
    short: bool = True,
) -> Object:
    """`requests` are the alternatives that were met, in the claim's order; `short` leaves them out of configurations
    that are for all of them. Raises AllocationError."""
    devices: Object = {"results": [_result(each, new_share) for each in chosen]}
    if config := [*_class_config(requests), *_claim_config(claim, requests)]:
        devices["config"] = [_for_all(entry, requests) for entry in config] if short else config
    allocation: Object = {"devices": devices}
    if (selector := _node_selector(claim, chosen, node_name)) is not None:
        allocation["nodeSelector"] = selector
    return allocation


def _result(each: Chosen, new_share: Callable[[], str]) -> Object:
    found = each.device.id
    made: Object = {
        "request": each.request.full_name,
        "driver": found.driver,
        "pool": found.pool,
        "device": found.device,
    }
    if each.request.admin_access:
        made["adminAccess"] = True
    if each.request.tolerations:
        made["tolerations"] = each.request.tolerations
    for name in ("bindingConditions", "bindingFailureConditions"):
        if conditions := each.device.spec.get(name):
            made[name] = conditions
    if each.share is not None:
        made["shareID"] = new_share()
        if each.share:
            made["consumedCapacity"] = shown(each.share)
    return made


def _class_config(requests: list[Request]) -> list[Object]:
    """Each class's once, for all requests of the class."""
    by_class: dict[str, list[Request]] = {}
    for request in requests:
        by_class.setdefault(request.device_class["metadata"]["name"], []).append(request)
    return [
        {"source": "FromClass", "requests": [request.full_name for request in of_class], **config}
        for of_class in by_class.values()
        for config in (of_class[0].device_class.get("spec") or {}).get("config") or ()
    ]


def _claim_config(claim: Object, requests: list[Request]) -> list[Object]:
    """Those that mean all requests, or one that was met."""
    return [
        {"source": "FromClaim", **config}
        for config in devices_of(claim).get("config") or ()
        if any(request.applies(config.get("requests") or []) for request in requests)
    ]


def _for_all(entry: Object, requests: list[Request]) -> Object:
    """A configuration that is of all requests names none: of each as a whole, or of the alternative that was met."""
    if not all(request.applies(entry.get("requests") or []) for request in requests):
        return entry
    return {name: value for name, value in entry.items() if name != "requests"}


def _node_selector(claim: Object, chosen: list[Chosen], node_name: str) -> Object | None:
    """What a node must be to reach all the devices; None for any. A device may bind itself to the node."""
    if any(each.device.spec.get("bindsToNode") for each in chosen):
        return _only(node_name)
    term: dict[str, list[Object]] = {"matchFields": [], "matchExpressions": []}
    for each in chosen:
        spec = each.device.slice["spec"]
        place = each.device.spec if spec.get("perDeviceNodeSelection") else spec
        if name := place.get("nodeName"):
            return _only(name)
        terms = (place.get("nodeSelector") or {}).get("nodeSelectorTerms") or []
        if len(terms) > 1:
            told = f"create NodeSelector for claim {claim['metadata']['name']}"
            raise AllocationError(f"{told}: unsupported ResourceSlice.NodeSelector with {len(terms)} terms")
        for kind, requirements in term.items():
            for requirement in terms[0].get(kind) or () if terms else ():
                if not any(_same(requirement, other) for other in requirements):
                    requirements.append(requirement)
    kept = {kind: requirements for kind, requirements in term.items() if requirements}
    return {"nodeSelectorTerms": [kept]} if kept else None


def _only(node_name: str) -> Object:
    local = {"key": "metadata.name", "operator": "In", "values": [node_name]}
    return {"nodeSelectorTerms": [{"matchFields": [local]}]}


def _same(one: Object, other: Object) -> bool:
    return (one.get("key"), one.get("operator"), set(one.get("values") or ())) == (
        other.get("key"),
        other.get("operator"),
        set(other.get("values") or ()),
    )
