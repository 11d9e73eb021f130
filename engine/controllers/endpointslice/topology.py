"""Topology Aware Routing: which zone should use which endpoint, so that each zone has as many as it has of the CPU of
the cluster: pure (staging endpointslice/topologycache; KEP-2433). Asked for by an annotation of the Service."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.client import NORMAL, WARNING
from engine.controllers.conditions import conditions_of, is_true
from engine.controllers.endpointslice.planning import Plan
from engine.controllers.labels import ZONE_LABEL

MODE = "service.kubernetes.io/topology-mode"
DEPRECATED_MODE = "service.kubernetes.io/topology-aware-hints"
# How much more than its share an endpoint may get before a zone keeps its endpoints rather for itself.
OVERLOAD_THRESHOLD = 0.20
_EXCLUDED = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")

ENABLED, DISABLED = "TopologyAwareHintsEnabled", "TopologyAwareHintsDisabled"
_NO_NODE_INFO = "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"
_TOO_FEW = "Insufficient number of endpoints"
_TOO_UNEVEN = "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold"
_NO_ZONE = "One or more endpoints do not have a zone specified"

Ratios = Mapping[str, float]  # of the cluster's CPU, by zone


class Allocation(NamedTuple):
    least: int
    most: int
    desired: float


class Told(NamedTuple):
    """An event of the Service."""

    type: str
    reason: str
    message: str


def wants_hints(service: Object) -> bool:
    annotations = service["metadata"].get("annotations") or {}
    mode = annotations.get(DEPRECATED_MODE)
    return (annotations.get(MODE, "") if mode is None else mode) in ("Auto", "auto")


def cpu_ratios(nodes: Iterable[Object]) -> Ratios:
    """Empty where it cannot be told, or where there is one zone alone."""
    by_zone: dict[str, int] = {}
    for node in nodes:
        labels, status = node["metadata"].get("labels") or {}, node.get("status") or {}
        if any(label in labels for label in _EXCLUDED) or not is_true(conditions_of(status), "Ready"):
            continue
        cpu = Quantity.parse((status.get("allocatable") or {}).get("cpu", "0")).milli
        if not labels.get(ZONE_LABEL) or not cpu:
            return {}
        by_zone[labels[ZONE_LABEL]] = by_zone.get(labels[ZONE_LABEL], 0) + cpu
    whole = sum(by_zone.values())
    return {zone: by_zone[zone] / whole for zone in sorted(by_zone)} if len(by_zone) > 1 else {}


def allocations(ratios: Ratios, endpoints: int) -> tuple[dict[str, Allocation], str]:
    """How many endpoints each zone should have, or why that cannot be."""
    sizes = f"({endpoints} endpoints, {len(ratios)} zones)"
    if not ratios:
        return {}, _NO_NODE_INFO
    if len(ratios) > endpoints:
        return {}, f"{_TOO_FEW} {sizes}"
    desired = {zone: ratio * endpoints for zone, ratio in ratios.items()}
    least = {zone: math.ceil(amount / (1 + OVERLOAD_THRESHOLD)) for zone, amount in desired.items()}
    spare = endpoints - sum(least.values())
    if spare < 0:
        return {}, f"{_TOO_UNEVEN} {sizes}"
    return {
        zone: Allocation(least[zone], least[zone] + spare, max(desired[zone], float(least[zone]))) for zone in ratios
    }, ""


def add_hints(changes: Plan, ratios: Ratios, address_type: str, *, hinted_before: bool) -> tuple[bool, Told | None]:
    """Put hints on the slices of one address type; whether they have them then, and what is to be told."""
    every = [*changes.create, *changes.update, *changes.unchanged]
    ready = sum(_is_ready(endpoint) for each in every for endpoint in each.get("endpoints") or ())
    wanted, problem = allocations(ratios, ready)
    if not problem and not _all_have_zones([*changes.create, *changes.update]):
        problem = _NO_ZONE
    if problem:
        _remove_hints(changes)
        return False, Told(WARNING, DISABLED, f"{problem}, addressType: {address_type}")
    hinted = _keep_what_fits(changes, wanted)
    _hint_by_own_zone(changes, hinted)
    giving, receiving = exchange(wanted, hinted)
    _redistribute(changes, giving, receiving)
    if hinted_before:
        return True, None
    message = f"Topology Aware Hints has been enabled, addressType: {address_type}"
    return True, Told(NORMAL, ENABLED, message)


def exchange(wanted: Mapping[str, Allocation], hinted: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """How many endpoints each zone gives to others, and receives from them."""
    differences = {zone: hinted.get(zone, 0) - allocation.desired for zone, allocation in wanted.items()}
    to_give = {zone: more for zone, more in differences.items() if more > 0}
    to_get = {zone: -less for zone, less in differences.items() if less < 0}
    giving: dict[str, int] = {}
    receiving: dict[str, int] = {}
    while to_give and to_get:
        giver, receiver = max(to_give, key=to_give.__getitem__), max(to_get, key=to_get.__getitem__)
        given, got = to_give[giver], to_get[receiver]
        if (given < 1.0 and got < 1.0) or given < 0.5 or got < 0.5:
            break
        giving[giver], receiving[receiver] = giving.get(giver, 0) + 1, receiving.get(receiver, 0) + 1
        to_give[giver] -= 1
        to_get[receiver] -= 1
    return giving, receiving


def _is_ready(endpoint: Object) -> bool:
    return bool((endpoint.get("conditions") or {}).get("ready"))


def _all_have_zones(slices: Iterable[Object]) -> bool:
    return all(
        endpoint.get("zone") for each in slices for endpoint in each.get("endpoints") or () if _is_ready(endpoint)
    )


def _remove_hints(changes: Plan) -> None:
    for each in list(changes.unchanged):
        if any(endpoint.get("hints") for endpoint in each.get("endpoints") or ()):
            _change(changes, each)
    for each in [*changes.create, *changes.update]:
        each["endpoints"] = [_with_hint(endpoint, "") for endpoint in each.get("endpoints") or ()]


def _keep_what_fits(changes: Plan, wanted: Mapping[str, Allocation]) -> dict[str, int]:
    """Slices that do not change keep their hints, unless a zone would get too many: the hints by zone so far."""
    hinted: dict[str, int] = {}
    for each in list(changes.unchanged):
        found = _hints_of(each, hinted, wanted)
        if found is None:
            _change(changes, each)
            continue
        for zone, count in found.items():
            hinted[zone] = hinted.get(zone, 0) + count
    return hinted


def _hints_of(each: Object, hinted: Mapping[str, int], wanted: Mapping[str, Allocation]) -> dict[str, int] | None:
    found: dict[str, int] = {}
    for endpoint in each.get("endpoints") or ():
        if not _is_ready(endpoint):
            continue
        zones = [zone["name"] for zone in (endpoint.get("hints") or {}).get("forZones") or ()]
        if not zones or any(zone not in wanted for zone in zones):
            return None
        for zone in zones:
            found[zone] = found.get(zone, 0) + 1
    fits = all(count + hinted.get(zone, 0) <= wanted[zone].most for zone, count in found.items())
    return found if fits else None


def _change(changes: Plan, each: Object) -> None:
    changes.unchanged.remove(each)
    changes.update.append({**each, "endpoints": list(each.get("endpoints") or ())})


def _with_hint(endpoint: Object, zone: str) -> Object:
    bare = {key: value for key, value in endpoint.items() if key != "hints"}
    return {**bare, "hints": {"forZones": [{"name": zone}]}} if zone else bare


def _hint_by_own_zone(changes: Plan, hinted: dict[str, int]) -> None:
    for each in [*changes.create, *changes.update]:
        made = []
        for endpoint in each.get("endpoints") or ():
            zone = endpoint["zone"] if _is_ready(endpoint) else ""
            if zone:
                hinted[zone] = hinted.get(zone, 0) + 1
            made.append(_with_hint(endpoint, zone))
        each["endpoints"] = made


def _redistribute(changes: Plan, giving: dict[str, int], receiving: dict[str, int]) -> None:
    for each in [*changes.create, *changes.update]:
        for number, endpoint in enumerate(each["endpoints"]):
            receiver = next((zone for zone, count in receiving.items() if count), None)
            giver = endpoint.get("zone", "")
            if receiver is None or not _is_ready(endpoint) or not giving.get(giver):
                continue
            each["endpoints"][number] = _with_hint(endpoint, receiver)
            giving[giver] -= 1
            receiving[receiver] -= 1
