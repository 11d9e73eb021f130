"""The gates of fields about devices (dropDisabledFields of pkg/registry/resource/*/strategy.go).

Places are looked for in whole objects: what a claim asks for and what it got belong to one feature, and an object that
uses it in either keeps all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.api.resource_table import RESOURCE
from engine.api.strategies.field_gates import NEVER, Gate, Place, Places, gate, named
from engine.api.types import Object

_BETA = (1, 36)  # when most of them came to be on
_LISTS = ("bools", "ints", "strings", "versions")
_NODES = ("nodeName", "nodeSelector", "allNodes")
_CONDITIONS = ("bindingConditions", "bindingFailureConditions")


def _claimed(obj: Object) -> Object:
    """What is claimed, in a claim or in a template of claims."""
    spec = obj.get("spec") or {}
    if "spec" in spec:
        spec = spec["spec"] or {}
    return spec.get("devices") or {}


def _requests(obj: Object) -> Iterator[Object]:
    for request in _claimed(obj).get("requests") or ():
        if request.get("exactly"):
            yield request["exactly"]
        yield from request.get("firstAvailable") or ()


def _allocation(obj: Object) -> Object:
    return (obj.get("status") or {}).get("allocation") or {}


def _results(obj: Object) -> Iterator[Object]:
    yield from (_allocation(obj).get("devices") or {}).get("results") or ()


def _tolerations(obj: Object) -> Iterator[Place]:
    yield from named(_requests(obj), "tolerations")
    yield from named(_results(obj), "tolerations")


def _consumed_capacity(obj: Object) -> Iterator[Place]:
    yield from named(_requests(obj), "capacity")
    yield from named(_claimed(obj).get("constraints") or (), "distinctAttribute")
    yield from named(_results(obj), "shareID", "consumedCapacity")
    yield from named((obj.get("status") or {}).get("devices") or (), "shareID")


def _awaited(obj: Object) -> Iterator[Place]:
    yield from named(_results(obj), *_CONDITIONS)
    yield from named((_allocation(obj),), "allocationTimestamp")


def _skipped(obj: Object) -> Iterator[Place]:
    return named(_results(obj), "skipNodeOperations")


def _derived(obj: Object) -> Iterator[Place]:
    return named(_requests(obj), "derivedAttributes")


def _devices(obj: Object) -> Iterator[Object]:
    yield from (obj.get("spec") or {}).get("devices") or ()


def _of_devices(*fields: str) -> Places:
    return lambda obj: named(_devices(obj), *fields)


def _of_specs(*fields: str) -> Places:
    return lambda obj: named((obj.get("spec"),), *fields)


def _partitions(obj: Object) -> Iterator[Place]:
    yield from named((obj.get("spec"),), "sharedCounters", "perDeviceNodeSelection")
    yield from named(_devices(obj), "consumesCounters", *_NODES)


def _shared(obj: Object) -> Iterator[Place]:
    for device in _devices(obj):
        yield from named((device,), "allowMultipleAllocations")
        yield from named((device.get("capacity") or {}).values(), "requestPolicy")


def _lists(obj: Object) -> Iterator[Place]:
    for device in _devices(obj):
        yield from named((device.get("attributes") or {}).values(), *_LISTS)


def _compatibility(obj: Object) -> Iterator[Place]:
    for device in _devices(obj):
        yield from named(device.get("consumesCounters") or (), "compatibilityGroups")


_CLAIM = (
    gate(_BETA, _tolerations, "tolerations"),
    gate(_BETA, _consumed_capacity, "capacity", "distinctAttribute", "shareID", "consumedCapacity"),
    gate(_BETA, _awaited, *_CONDITIONS, "allocationTimestamp"),
    gate(NEVER, _skipped, "skipNodeOperations"),
    gate(NEVER, _derived, "derivedAttributes"),
)
_SLICE = (
    gate(_BETA, _of_devices("taints"), "taints"),
    gate(_BETA, _partitions, "sharedCounters", "perDeviceNodeSelection", "consumesCounters", *_NODES),
    gate(_BETA, _of_devices("bindsToNode", *_CONDITIONS), "bindsToNode", *_CONDITIONS),
    gate(_BETA, _shared, "allowMultipleAllocations", "requestPolicy"),
    gate(NEVER, _of_devices("nodeAllocatableResources"), "nodeAllocatableResources"),
    gate(NEVER, _of_devices("nodeAllocatableResourceMappings"), "nodeAllocatableResourceMappings"),
    gate(NEVER, _lists, *_LISTS),
    gate(NEVER, _compatibility, "compatibilityGroups"),
    gate(NEVER, _of_specs("partitionTypeAttribute"), "partitionTypeAttribute"),
    gate(NEVER, _of_specs("skipNodeOperations"), "skipNodeOperations"),
)
DEVICE_GATES: Mapping[tuple[str, str], tuple[Gate, ...]] = {
    (RESOURCE, "DeviceClass"): (gate(_BETA, _of_specs("extendedResourceName"), "extendedResourceName"),),
    (RESOURCE, "ResourceClaim"): _CLAIM,
    (RESOURCE, "ResourceClaimTemplate"): _CLAIM,
    (RESOURCE, "ResourceSlice"): _SLICE,
}
