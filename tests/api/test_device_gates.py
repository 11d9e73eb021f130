"""What is dropped of claims and slices because its feature is off (strategy_test.go of pkg/registry/resource/*)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.strategies.strategy import prepare_for_create, prepare_for_status_update, prepare_for_update
from engine.api.types import GVK, Object

CLAIM, TEMPLATE, CLASS, SLICE = "ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"


def kind(name: str, version: str = "1.37") -> ResourceInfo:
    found = ResourceRegistry.for_version(version).by_kind(GVK("resource.k8s.io", "v1", name))
    assert found is not None
    return found


def claim(**request: Any) -> Object:
    requests = [{"name": "a", "exactly": dict(request)}, {"name": "b", "firstAvailable": [{"name": "c", **request}]}]
    return {"devices": {"requests": requests}}


def devices(*found: Object, **spec: Any) -> Object:
    return {"devices": [{"name": "a", **device} for device in found], **spec}


DERIVED = [{"name": "derived/numa", "expression": "1"}]
TOLERATED = [{"operator": "Exists"}]
SHARED = {"allowMultipleAllocations": True, "capacity": {"a": {"value": "1", "requestPolicy": {"default": "1"}}}}
CONSUMED = {"counterSet": "a", "counters": {"b": {"value": "1"}}}
SPECS: dict[str, tuple[str, str, Object, Object]] = {
    "derived attributes": (CLAIM, "1.37", claim(derivedAttributes=DERIVED), claim()),
    "derived attributes of a template": (
        TEMPLATE,
        "1.37",
        {"spec": claim(derivedAttributes=DERIVED)},
        {"spec": claim()},
    ),
    "nothing that is on": (
        CLAIM,
        "1.36",
        claim(tolerations=TOLERATED, capacity={"requests": {"a": "1"}}, adminAccess=True),
        claim(tolerations=TOLERATED, capacity={"requests": {"a": "1"}}, adminAccess=True),
    ),
    "tolerations": (CLAIM, "1.35", claim(tolerations=TOLERATED), claim()),
    "shares": (
        CLAIM,
        "1.35",
        {"devices": {"constraints": [{"distinctAttribute": "a/b"}], **claim(capacity={"requests": {}})["devices"]}},
        {"devices": {"constraints": [{}], **claim()["devices"]}},
    ),
    "an extended resource": (CLASS, "1.35", {"extendedResourceName": "a.b/c"}, {}),
    "an extended resource that may be": (
        CLASS,
        "1.36",
        {"extendedResourceName": "a.b/c"},
        {"extendedResourceName": "a.b/c"},
    ),
    "lists of values": (
        SLICE,
        "1.37",
        devices({"attributes": {"a": {"ints": [1]}, "b": {"int": 1, "strings": []}}}),
        devices({"attributes": {"a": {}, "b": {"int": 1}}}),
    ),
    "what a device takes of its node": (
        SLICE,
        "1.37",
        devices({"nodeAllocatableResources": {"cpu": {}}}),
        devices({}),
    ),
    "compatibility and kinds of partitions": (
        SLICE,
        "1.37",
        devices({"consumesCounters": [{**CONSUMED, "compatibilityGroups": ["g"]}]}, partitionTypeAttribute="a/b"),
        devices({"consumesCounters": [CONSUMED]}),
    ),
    "operations left out": (SLICE, "1.37", devices({}, skipNodeOperations=["*"]), devices({})),
    "partitions": (
        SLICE,
        "1.35",
        devices({"consumesCounters": [CONSUMED], "allNodes": True}, perDeviceNodeSelection=True, nodeName="n"),
        devices({}, nodeName="n"),
    ),
    "taints and conditions": (
        SLICE,
        "1.35",
        devices({"taints": [{"key": "a", "effect": "None"}], "bindsToNode": True, "bindingConditions": ["a"]}),
        devices({}),
    ),
    "devices for several": (SLICE, "1.35", devices(SHARED), devices({"capacity": {"a": {"value": "1"}}})),
}


def named(spec: Object, **fields: Any) -> Object:
    return {"metadata": {"name": "a", "namespace": "b"}, "spec": copy.deepcopy(spec), **copy.deepcopy(fields)}


@pytest.mark.parametrize("name", SPECS)
def test_what_is_dropped_of_a_spec(name: str) -> None:
    which, version, spec, expected = SPECS[name]
    made = named(spec)
    prepare_for_create(kind(which, version), made)
    assert made["spec"] == expected
    changed = named(spec)
    prepare_for_update(kind(which, version), changed, named(expected))
    assert changed["spec"] == expected
    kept = named(spec)
    prepare_for_update(kind(which, version), kept, named(spec))
    assert kept["spec"] == spec


def test_a_slice_counts_what_is_dropped_of_it_as_a_change() -> None:
    before = named(devices({}))
    before["metadata"]["generation"] = 3
    changed = named(devices({"nodeAllocatableResources": {"cpu": {}}}))
    prepare_for_update(kind(SLICE), changed, before)
    assert (changed["spec"], changed["metadata"]["generation"]) == (before["spec"], 4)


def allocated(told: Object | None = None, **result: Any) -> Object:
    status = {"allocation": {"devices": {"results": [{"request": "a", "device": "x", **result}]}}}
    return status if told is None else {**status, "devices": [{"device": "x", **told}]}


STATUSES: dict[str, tuple[str, Object, Object, Object]] = {
    "operations left out": ("1.37", claim(), allocated(skipNodeOperations=["*"]), allocated()),
    "tolerations": ("1.35", claim(), allocated(tolerations=TOLERATED), allocated()),
    "tolerations that were asked for": (
        "1.35",
        claim(tolerations=TOLERATED),
        allocated(tolerations=TOLERATED),
        allocated(tolerations=TOLERATED),
    ),
    "conditions": ("1.35", claim(), allocated(bindingConditions=["a"], bindingFailureConditions=["b"]), allocated()),
    "shares": (
        "1.35",
        claim(),
        allocated({"shareID": "s"}, shareID="s", consumedCapacity={"a": "1"}),
        allocated({}),
    ),
    "shares that may be": ("1.36", claim(), allocated({"shareID": "s"}), allocated({"shareID": "s"})),
}


@pytest.mark.parametrize("name", STATUSES)
def test_what_is_dropped_of_a_status(name: str) -> None:
    version, spec, status, expected = STATUSES[name]
    changed = named(spec, status=status)
    prepare_for_status_update(kind(CLAIM, version), changed, named(spec), now="2026-01-01T00:00:00Z")
    assert (changed["spec"], changed["status"]) == (spec, expected)
