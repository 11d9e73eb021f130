"""Slices of devices and taint rules, after upstream's tables (validation_resourceslice_test, _devicetaintrule_test)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.types import GVK, Object
from engine.api.validation import validate_create, validate_status_update, validate_update
from tests.api.objects import defaulted, info, prepared, problems

SLICE, RULE = (GVK("resource.k8s.io", "v1", kind) for kind in ("ResourceSlice", "DeviceTaintRule"))
DEVICE = "spec.devices[0]"
_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_IDENTIFIER = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
)
_VERSION = "must be a string compatible with semver.org spec 2.0.0"
_VALUES = "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
_DEVICE_PLACES = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)


def published(*devices: Object, **spec: Any) -> Object:
    named = [{"name": f"device-{index}", **device} for index, device in enumerate(devices)]
    whole = {"driver": "gpu.example.com", "pool": {"name": "a", "resourceSliceCount": 1}, "nodeName": "node-1"}
    return {"metadata": {"name": "a"}, "spec": {**whole, **({"devices": named} if devices else {}), **spec}}


def attributes(**found: Object) -> Object:
    return published({"attributes": found})


def shared(value: str = "100", **policy: Any) -> Object:
    return published({"allowMultipleAllocations": True, "capacity": {"a": {"value": value, "requestPolicy": policy}}})


def consuming(*sets: str, **fields: Any) -> Object:
    counters = {"memory": {"value": "1Gi"}}
    return {"consumesCounters": [{"counterSet": each, "counters": counters} for each in sets], **fields}


def bound(ready: list[str], failed: list[str]) -> Object:
    return published({"bindingConditions": ready, "bindingFailureConditions": failed})


def of_node(**resource: Any) -> Object:
    capacity = {"cores": {"value": "8"}}
    return published({"capacity": capacity, "nodeAllocatableResources": {"cpu": resource}})


def everywhere(**device: Any) -> Object:
    return published(device, nodeName=None, perDeviceNodeSelection=True)


POLICY = f"{DEVICE}.capacity[a].requestPolicy"
RANGE, VALUES = f"{POLICY}.validRange", f"{POLICY}.validValues"
CASES: dict[str, tuple[Object, list[str]]] = {
    "as many as there may be": (published(*[{}] * 128), []),
    "too many": (published(*[{}] * 129), ["spec.devices: Too many: 129: must have at most 128 items"]),
    "too many with a taint": (
        published(*[{"taints": [{"key": "a", "effect": "NoExecute"}]}] * 65),
        ["spec.devices: Too many: 65: must have at most 64 items"],
    ),
    "too many with a list": (
        published(*[{"attributes": {"a": {"ints": [1]}}}] * 65),
        ["spec.devices: Too many: 65: must have at most 64 items"],
    ),
    "a name that is none, and one twice": (
        published({"name": "!"}, {"name": "b"}, {"name": "b"}),
        [f'{DEVICE}.name: Invalid value: "!": {_LABEL}', 'spec.devices[2]: Duplicate value: "b"'],
    ),
    "an attribute of no value": (
        attributes(a={}),
        [f'{DEVICE}.attributes[a]: Invalid value: "": must specify one of: {_VALUES}'],
    ),
    "an attribute of two": (
        attributes(a={"int": 1, "bool": True}),
        [
            f'{DEVICE}.attributes[a]: Invalid value: "{{int, bool}}": must specify exactly one of: {_VALUES}',
        ],
    ),
    "a version that is none and too long": (
        attributes(a={"version": "x" * 65}, b={"versions": ["1.2.3", "01.2.3"]}),
        [
            f'{DEVICE}.attributes[a].version: Invalid value: "{"x" * 65}": {_VERSION}',
            f"{DEVICE}.attributes[a].version: Too long: may not be more than 64 bytes",
            f'{DEVICE}.attributes[b].versions[1]: Invalid value: "01.2.3": {_VERSION}',
        ],
    ),
    "names of attributes": (
        published({"attributes": {"a-b": {"int": 1}, "/": {"int": 1}, "x/y/z": {"int": 1}, "y" * 33: {"int": 1}}}),
        [
            f'{DEVICE}.attributes: Invalid value: "a-b": {_IDENTIFIER}',
            f'{DEVICE}.attributes: Invalid value: "": the domain must not be empty',
            f'{DEVICE}.attributes: Invalid value: "": the name must not be empty',
            f'{DEVICE}.attributes: Invalid value: "x/y/z": must not contain more than one slash',
            f"{DEVICE}.attributes: Too long: may not be more than 32 bytes",
        ],
    ),
    "more than 32 attributes and capacities": (
        published({"attributes": {f"a{index}": {"int": 1} for index in range(32)}, "capacity": {"b": {"value": "1"}}}),
        [f"{DEVICE}: Invalid value: 33: the total number of attributes and capacities must not exceed 32"],
    ),
    "a policy of a device for one": (
        published({"capacity": {"a": {"value": "1", "requestPolicy": {"default": "1"}}}}),
        [f"{POLICY}: Forbidden: allowMultipleAllocations must be true"],
    ),
    "two policies": (
        shared(default="1", validValues=["1"], validRange={"min": "1"}),
        [
            f'{POLICY}: Forbidden: exactly one policy can be specified, cannot specify "validValues" and "validRange" '
            "at the same time"
        ],
    ),
    "no default": (
        shared(validValues=["1"]),
        [f"{POLICY}.default: Required value: required when validValues is defined"],
    ),
    "values in disorder, and above what there is": (
        shared(default="10", validValues=["5", "1", "101"]),
        [
            f'{VALUES}[1]: Invalid value: "1": values must be sorted in ascending order',
            f'{VALUES}[2]: Invalid value: "101": option is larger than capacity value: 100',
            f'{VALUES}: Invalid value: "10": default value is not valid according to the requestPolicy',
        ],
    ),
    "one value in two ways": (
        shared(default="5", validValues=["5", "5.0"]),
        [f'{VALUES}[1]: Duplicate value: "5"'],
    ),
    "a range of no least": (
        shared(default="1", validRange={}),
        [f"{RANGE}.min: Required value: required when validRange is defined"],
    ),
    "a range beyond what there is": (
        shared(default="1", validRange={"min": "101", "max": "102"}),
        [
            f'{RANGE}.min: Invalid value: "101": min is larger than capacity value: 100',
            f'{RANGE}.default: Invalid value: "1": default is less than min: 101',
            f'{RANGE}.max: Invalid value: "102": max is larger than capacity value: 100',
        ],
    ),
    "steps": (
        shared(default="5", validRange={"min": "2", "max": "10", "step": "4"}),
        [f'{RANGE}.step: Invalid value: "5": value is not a multiple of a given step (4) from (2)'],
    ),
    "a step of nothing": (
        shared(default="2", validRange={"min": "2", "step": "0"}),
        [f'{RANGE}.step: Invalid value: "0": must be greater than zero'],
    ),
    "counters of no set, and too many sets": (
        published(consuming("", "b", "b"), consuming("", "b")),
        [
            f"{DEVICE}.consumesCounters: Too many: 3: must have at most 2 items",
            "spec.devices[1].consumesCounters[0].counterSet: Required value",
        ],
    ),
    "sets of counters": (
        published(sharedCounters=[{"name": "a", "counters": {"A": {"value": "1"}}}, {"name": "", "counters": {}}]),
        [
            f'spec.sharedCounters[0].counters: Invalid value: "A": {_LABEL}',
            "spec.sharedCounters[1].name: Required value",
            "spec.sharedCounters[1].counters: Required value",
        ],
    ),
    "taints": (
        published({"taints": [{"key": "a"}, {"key": "a", "effect": "Odd"}]}),
        [
            f"{DEVICE}.taints[0].effect: Required value",
            f'{DEVICE}.taints[1].effect: Unsupported value: "Odd": supported values: "NoExecute", "NoSchedule", "None"',
        ],
    ),
    "a device that says where it is, and may not": (
        published({"nodeName": "node-1"}),
        [
            f"{DEVICE}: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if "
            "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
        ],
    ),
    "a device that does not say where it is": (everywhere(), [f"{DEVICE}: Required value: {_DEVICE_PLACES}"]),
    "a device of one node and of all": (
        everywhere(nodeName="node-1", allNodes=True),
        [f'{DEVICE}: Invalid value: "{{`nodeName`, `allNodes`}}": {_DEVICE_PLACES}'],
    ),
    "a device of not all nodes": (
        everywhere(nodeName="node-1", allNodes=False),
        [f"{DEVICE}.allNodes: Invalid value: false: must be either unset or set to true"],
    ),
    "too many conditions": (
        bound([f"c{index}" for index in range(5)], ["failed"]),
        [f"{DEVICE}.bindingConditions: Too many: 5: must have at most 4 items"],
    ),
    "conditions twice": (
        bound(["a", "a"], ["a", "b"]),
        [
            f'{DEVICE}.bindingConditions[1]: Duplicate value: "a"',
            f'{DEVICE}.bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with '
            "bindingConditions",
        ],
    ),
    "conditions without failures": (
        bound(["a"], []),
        [
            f"{DEVICE}.bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use "
            "bindingConditions"
        ],
    ),
    "what a device takes of its node": (
        of_node(mapping={"capacityKey": "other"}, overhead={"perPod": "-1"}),
        [
            f'{DEVICE}.nodeAllocatableResources[cpu].mapping.capacityKey: Not found: "other"',
            f"{DEVICE}.nodeAllocatableResources[cpu].mapping.capacityMultiplier: Required value: capacityMultiplier is "
            "required when capacityKey is set",
            f'{DEVICE}.nodeAllocatableResources[cpu].overhead.perPod: Invalid value: "-1": must be non-negative',
        ],
    ),
    "a device that takes nothing": (
        of_node(),
        [f"{DEVICE}.nodeAllocatableResources[cpu]: Required value: at least one of mapping or overhead must be set"],
    ),
    "partitions of what consumes no counters": (
        published({}, partitionTypeAttribute="gpu.example.com/profile"),
        [
            'spec.partitionTypeAttribute: Invalid value: "gpu.example.com/profile": may only be set on a slice which '
            "declares devices that consume counters"
        ],
    ),
    "partitions by the driver's own attribute": (
        published(
            consuming("a", attributes={"profile": {"string": "x"}}), partitionTypeAttribute="gpu.example.com/profile"
        ),
        [],
    ),
    "partitions by an attribute that is not there": (
        published(consuming("a"), partitionTypeAttribute="gpu.example.com/profile"),
        [
            f"{DEVICE}.attributes[gpu.example.com/profile]: Required value: device consumes counters and "
            "`partitionTypeAttribute` names this attribute, so it must be set"
        ],
    ),
    "preparation left out alone": (
        published(skipNodeOperations=["NodePrepareResources"]),
        [
            'spec.skipNodeOperations: Invalid value: ["NodePrepareResources"]: NodePrepareResources cannot be skipped '
            "unless NodeUnprepareResources is also skipped"
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_slices(name: str) -> None:
    """As they come, with fields that the server drops by default before it looks."""
    value, expected = CASES[name]
    assert [str(cause) for cause in validate_create(info(SLICE), defaulted(SLICE, value))] == expected


def test_what_a_slice_had_before_is_not_looked_at_again() -> None:
    old = prepared(SLICE, published({"taints": [{"key": "a", "effect": "Odd"}]}))
    old["metadata"]["resourceVersion"] = "1"
    new = copy.deepcopy(old)
    assert validate_update(info(SLICE), new, old) == []
    new["spec"]["devices"][0]["taints"].append({"key": "b", "effect": "NoExecute"})
    assert [cause.field for cause in validate_update(info(SLICE), new, old)] == [f"{DEVICE}.taints[0].effect"]


def rule(taint: Object, **selector: str) -> Object:
    return {"metadata": {"name": "a"}, "spec": {"deviceSelector": selector, "taint": taint}}


def test_a_taint_rule_names_devices_and_a_taint() -> None:
    assert problems(RULE, rule({"key": "a", "effect": "NoExecute"}, driver="gpu.example.com")) == []
    assert problems(RULE, rule({"key": "a", "effect": "Odd"}, pool="", device="!")) == [
        "spec.deviceSelector.pool: Required value",
        f'spec.deviceSelector.device: Invalid value: "!": {_LABEL}',
        'spec.taint.effect: Unsupported value: "Odd": supported values: "NoExecute", "NoSchedule", "None"',
    ]


def test_a_taint_rule_tells_in_conditions_how_far_it_is() -> None:
    old = prepared(RULE, rule({"key": "a", "effect": "NoExecute"}))
    old["metadata"]["resourceVersion"] = "1"
    moment = {"lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "Asked", "status": "True"}
    new = {**old, "status": {"conditions": [{"type": f"c{index}", **moment} for index in range(9)]}}
    assert [str(cause) for cause in validate_status_update(info(RULE), new, old)] == [
        "status.conditions: Too many: 9: must have at most 8 items"
    ]
