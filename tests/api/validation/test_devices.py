"""Claims to devices and slices of them, after upstream's tables (pkg/apis/resource/validation)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.types import GVK, Object
from engine.api.validation import validate_status_update, validate_update
from tests.api.objects import info, prepared, problems

CLAIM, TEMPLATE, CLASS, SLICE = (
    GVK("resource.k8s.io", "v1", kind)
    for kind in ("ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice")
)


def claim(*requests: Object, **devices: Any) -> Object:
    return {
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"devices": {"requests": list(requests), **devices}},
    }


def exactly(name: str = "one", **fields: Any) -> Object:
    return {"name": name, "exactly": {"deviceClassName": "gpu", **fields}}


def published(**spec: Any) -> Object:
    whole = {"driver": "gpu.example.com", "pool": {"name": "a", "resourceSliceCount": 1}, **spec}
    return {"metadata": {"name": "a"}, "spec": whole}


_REQUEST = "spec.devices.requests[0]"
_REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_PLACES = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_QUALIFIED = "a fully qualified name must be a domain and a name separated by a slash"
CASES: dict[str, tuple[GVK, Object, list[str]]] = {
    "a claim": (CLAIM, claim(exactly()), []),
    "a request for nothing": (
        CLAIM,
        claim({"name": "one"}),
        [f"{_REQUEST}: Required value: exactly one of `exactly` or `firstAvailable` is required"],
    ),
    "a request of no class": (
        CLAIM,
        claim(exactly(deviceClassName="")),
        [f"{_REQUEST}.exactly.deviceClassName: Required value"],
    ),
    "all, and how many": (
        CLAIM,
        claim(exactly(allocationMode="All", count=2)),
        [f"{_REQUEST}.exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'"],
    ),
    "fewer than none": (
        CLAIM,
        claim(exactly(count=-1)),
        [f"{_REQUEST}.exactly.count: Invalid value: -1: must be greater than zero"],
    ),
    "a way to allocate that there is not": (
        CLAIM,
        claim(exactly(allocationMode="Some")),
        [f'{_REQUEST}.exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"'],
    ),
    "a name twice": (
        CLAIM,
        claim(exactly(), exactly()),
        [
            'spec.devices.requests[1]: Duplicate value: {"name":"one","exactly":{"deviceClassName":"gpu",'
            '"allocationMode":"ExactCount","count":1}}'
        ],
    ),
    "a constraint on what is not requested": (
        CLAIM,
        claim(exactly(), constraints=[{"requests": ["two"], "matchAttribute": "gpu.example.com/model"}]),
        [f'spec.devices.constraints[0].requests[0]: Invalid value: "two": {_REFERENCE}'],
    ),
    "a constraint on an attribute of nobody": (
        CLAIM,
        claim(exactly(), constraints=[{"matchAttribute": "model"}]),
        [f'spec.devices.constraints[0].matchAttribute: Invalid value: "model": {_QUALIFIED}'],
    ),
    "a configuration of nothing": (
        CLAIM,
        claim(exactly(), config=[{"requests": ["one"]}]),
        ["spec.devices.config[0].opaque: Required value"],
    ),
    "a configuration for no driver": (
        CLAIM,
        claim(exactly(), config=[{"opaque": {"driver": "", "parameters": {"a": 1}}}]),
        ["spec.devices.config[0].opaque.driver: Required value"],
    ),
    "a template": (
        TEMPLATE,
        {"metadata": {"name": "a", "namespace": "default"}, "spec": {"spec": claim({"name": "one"})["spec"]}},
        ["spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"],
    ),
    "a template that names the claims": (
        TEMPLATE,
        {
            "metadata": {"name": "a", "namespace": "default"},
            "spec": {"metadata": {"name": "b", "labels": {"c": "d"}}, "spec": claim(exactly())["spec"]},
        },
        ["spec.metadata.name: Forbidden: cannot be set"],
    ),
    "a class that selects by nothing": (
        CLASS,
        {"metadata": {"name": "a"}, "spec": {"selectors": [{}]}},
        ["spec.selectors[0].cel: Required value"],
    ),
    "a class that asks for attributes by a number": (
        CLASS,
        {"metadata": {"name": "a"}, "spec": {"selectors": [{"cel": {"expression": "device.attributes[1].b"}}]}},
        [
            'spec.selectors[0].cel.expression: Invalid value: "device.attributes[1].b": compilation failed: ERROR: '
            "<input>:1:18: found no matching overload for '_[_]' applied to '(map(string, map(string, any)), int)'\n"
            " | device.attributes[1].b\n | .................^"
        ],
    ),
    "a class that asks for something of any type": (
        CLASS,
        {
            "metadata": {"name": "a"},
            "spec": {
                "selectors": [{"cel": {"expression": each}} for each in ("device.attributes['b'].c", "dyn(true)")]
            },
        },
        [
            'spec.selectors[1].cel.expression: Invalid value: "dyn(true)": '
            "must evaluate to bool or the unknown type, not dyn"
        ],
    ),
    "a slice": (SLICE, published(nodeName="node-1"), []),
    "a slice of nowhere": (SLICE, published(), [f"spec: Required value: {_PLACES}"]),
    "a slice of one node and of all": (
        SLICE,
        published(nodeName="node-1", allNodes=True),
        [f'spec: Invalid value: "{{`nodeName`, `allNodes`}}": {_PLACES}, but multiple fields are set'],
    ),
    "a pool of no slices": (
        SLICE,
        published(allNodes=True, pool={"name": "", "generation": -1}),
        [
            "spec.pool.name: Required value",
            "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
            "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_new_objects(name: str) -> None:
    gvk, value, expected = CASES[name]
    assert problems(gvk, value) == expected


def stored(gvk: GVK, value: Object) -> Object:
    obj = prepared(gvk, value)
    obj["metadata"]["resourceVersion"] = "1"
    return obj


def test_a_claim_stays_as_it_was_made() -> None:
    old = stored(CLAIM, claim(exactly()))
    new = copy.deepcopy(old)
    new["spec"]["devices"]["requests"][0]["exactly"]["count"] = 2
    causes = [str(cause) for cause in validate_update(info(CLAIM), new, old)]
    assert [
        cause.startswith("spec: Invalid value: ") and cause.endswith(": field is immutable") for cause in causes
    ] == [True]


def test_a_claim_is_reserved_once_it_is_allocated() -> None:
    old = stored(CLAIM, claim(exactly()))
    new = {**old, "status": {"reservedFor": [{"resource": "pods", "name": "web", "uid": ""}]}}
    assert [str(cause) for cause in validate_status_update(info(CLAIM), new, old)] == [
        "status.reservedFor[0].uid: Required value",
        "status.reservedFor: Forbidden: may not be specified when `allocated` is not set",
    ]


def test_a_slice_stays_with_its_driver() -> None:
    old = stored(SLICE, published(nodeName="node-1"))
    new = {**old, "spec": {**old["spec"], "driver": "other.example.com"}}
    assert [str(cause) for cause in validate_update(info(SLICE), new, old)] == [
        'spec.driver: Invalid value: "other.example.com": field is immutable'
    ]


UID = "b7c1a9c4-92d1-4f2e-9f8f-2b8c8f7f2b11"
ALLOCATED = {"request": "one", "driver": "gpu.example.com", "pool": "a", "device": "gpu-0"}
_UUID = "must be a lowercase UUID in 8-4-4-4-12 format"
_RESULT, _STATUS = "status.allocation.devices.results[0]", "status.devices[0]"
_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


def allocated(*statuses: Object, **result: Any) -> Object:
    devices = [{"driver": "gpu.example.com", "pool": "a", "device": "gpu-0", **each} for each in statuses]
    return {"allocation": {"devices": {"results": [{**ALLOCATED, **result}]}}, "devices": devices}


STATUSES: dict[str, tuple[Object, list[str]]] = {
    "allocated": (allocated({}), []),
    "a device of a name that is none": (
        allocated(device="!"),
        [f'{_RESULT}.device: Invalid value: "!": {_LABEL}'],
    ),
    "of a request that is none": (allocated(request="two"), [f'{_RESULT}.request: Invalid value: "two": {_REFERENCE}']),
    "a share's id in capitals": (
        allocated(shareID=UID.upper()),
        [f'{_RESULT}.shareID: Invalid value: "{UID.upper()}": {_UUID}'],
    ),
    "a share's id that is none": (
        allocated(shareID="x"),
        [f'{_RESULT}.shareID: Invalid value: "x": {_UUID}'],
    ),
    "a toleration of an odd operator": (
        allocated(tolerations=[{"operator": "Odd"}, {"operator": "Exists", "value": "a"}]),
        [
            f'{_RESULT}.tolerations[1].value: Invalid value: "a": must be empty for operator `Exists`',
            f'{_RESULT}.tolerations[0].operator: Unsupported value: "Odd": supported values: "Equal", "Exists"',
        ],
    ),
    "the status of another device": (
        allocated({"device": "gpu-1"}),
        [f"{_STATUS}: Invalid value: gpu.example.com/a/gpu-1: must be an allocated device in the claim"],
    ),
    "a status twice": (
        allocated({}, {}),
        [
            'status.devices[1]: Duplicate value: {"driver":"gpu.example.com","pool":"a","device":"gpu-0",'
            '"conditions":null}'
        ],
    ),
    "data that is no object": (
        allocated({"data": {"a": "x" * 10240}}),
        [f"{_STATUS}.data: Too long: may not be more than 10240 bytes"],
    ),
    "addresses": (
        allocated(
            {"networkData": {"interfaceName": "x" * 257, "ips": ["300.9.8.0/24", "2001:0db8::1/64", "10.9.8.7"]}}
        ),
        [
            f'{_STATUS}.networkData.ips[0]: Invalid value: "300.9.8.0/24": must be a valid address in CIDR form, (e.g. '
            "10.9.8.7/24 or 2001:db8::1/64)",
            f'{_STATUS}.networkData.ips[1]: Invalid value: "2001:0db8::1/64": must be in canonical form '
            '("2001:db8::1/64")',
            f'{_STATUS}.networkData.ips[2]: Invalid value: "10.9.8.7": must be a valid address in CIDR form, (e.g. '
            "10.9.8.7/24 or 2001:db8::1/64)",
            f"{_STATUS}.networkData.interfaceName: Too long: may not be more than 256 bytes",
        ],
    ),
}


@pytest.mark.parametrize("name", STATUSES)
def test_what_a_claim_got(name: str) -> None:
    status, expected = STATUSES[name]
    old = stored(CLAIM, claim(exactly()))
    assert [str(cause) for cause in validate_status_update(info(CLAIM), {**old, "status": status}, old)] == expected


def test_what_a_template_claims_stays_and_is_told_in_gos_names() -> None:
    opaque = {"opaque": {"driver": "a.b", "parameters": {"c": 1}}}
    spec = {"metadata": {"labels": {"a": "b"}}, "spec": {"devices": {"requests": [], "config": [opaque]}}}
    old = stored(TEMPLATE, {"metadata": {"name": "a", "namespace": "default"}, "spec": spec})
    asked = claim(exactly(selectors=[{"cel": {"expression": "true"}}]), config=[opaque])["spec"]
    new = prepared(TEMPLATE, {**old, "spec": {**spec, "spec": asked}})
    new["metadata"] = old["metadata"]
    assert [str(cause) for cause in validate_update(info(TEMPLATE), new, old)] == [
        'spec: Invalid value: {"labels":{"a":"b"},"Spec":{"Devices":{"Requests":[{"Name":"one","Exactly":'
        '{"DeviceClassName":"gpu","Selectors":[{"CEL":{"Expression":"true"}}],"AllocationMode":"ExactCount","Count":1,'
        '"AdminAccess":null,"Tolerations":null,"Capacity":null,"DerivedAttributes":null},"FirstAvailable":null}],'
        '"Constraints":null,"Config":[{"Requests":null,"Opaque":{"Driver":"a.b","Parameters":{"c":1}}}]}}}: '
        "field is immutable"
    ]


def test_what_a_class_had_before_is_not_compiled_again() -> None:
    old = stored(CLASS, {"metadata": {"name": "a"}, "spec": {"selectors": [{"cel": {"expression": "nonsense"}}]}})
    assert validate_update(info(CLASS), copy.deepcopy(old), old) == []
    new = copy.deepcopy(old)
    new["spec"]["extendedResourceName"] = "cpu"
    assert [str(cause) for cause in validate_update(info(CLASS), new, old)] == [
        'spec.extendedResourceName: Invalid value: "cpu": a name must be a domain-prefixed path, such as '
        "'example.com/my-prop'"
    ]
