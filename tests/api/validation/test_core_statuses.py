"""What the statuses of Pods, Nodes and claims may say (TestValidatePodStatusUpdate and others of core validation)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.types import GVK, Object
from engine.api.validation import validate_status_update, validate_update
from tests.api.objects import POD, container, info, pod, prepared, problems

NODE = GVK("", "v1", "Node")
CLAIM = GVK("", "v1", "PersistentVolumeClaim")
GPU = {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}


def of_pod(status: Object, before: Object | None = None, made: Object | None = None, **spec: Any) -> list[str]:
    """What is wrong with a Pod's new status."""
    old = prepared(POD, made or pod())
    old["metadata"]["resourceVersion"] = "1"
    old["spec"] |= spec
    old["status"] |= before or {}
    new = {**copy.deepcopy(old), "status": {**old["status"], **status}}
    return [str(cause) for cause in validate_status_update(info(POD), new, old)]


def test_generations_are_not_negative() -> None:
    text = "observedGeneration: Invalid value: -1: must be a non-negative integer"
    conditions = [{"type": "Ready", "status": "True", "observedGeneration": -1}]
    assert of_pod({"observedGeneration": -1, "conditions": conditions}) == [
        f"status.conditions[0].{text}",
        f"status.{text}",
    ]


def test_a_bound_pod_is_nominated_for_no_other_node() -> None:
    assert of_pod({"nominatedNodeName": "b"}) == []
    assert of_pod({"nominatedNodeName": "b"}, {"nominatedNodeName": "b"}, nodeName="a") == []
    assert of_pod({"nominatedNodeName": ""}, {"nominatedNodeName": "b"}, nodeName="a") == []
    assert of_pod({"nominatedNodeName": "b"}, nodeName="a") == [
        "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"
    ]


def test_an_address_that_was_there_may_stay() -> None:
    odd: Object = {"podIP": "010.0.0.1", "podIPs": [{"ip": "010.0.0.1"}]}
    odd |= {"hostIP": "010.0.0.2", "hostIPs": [{"ip": "010.0.0.2"}]}
    assert of_pod(odd, odd) == []
    assert of_pod(odd) == [
        'status.podIPs[0]: Invalid value: "010.0.0.1": must not have leading 0s',
        'status.hostIPs[0]: Invalid value: "010.0.0.2": must not have leading 0s',
    ]


MAPPING = {"containerName": "web", "resourceName": "example.com/gpu", "requestName": "request-0"}
PATH = "status.extendedResourceClaimStatus"
EXTENDED: dict[str, tuple[Object, list[str]]] = {
    "all of it": ({"resourceClaimName": "c", "requestMappings": [MAPPING]}, []),
    "nothing of it": (
        {},
        [
            f"{PATH}.requestMappings: Required value: at least one request mapping is required",
            f"{PATH}.resourceClaimName: Required value",
        ],
    ),
    "what nobody asks for": (
        {
            "resourceClaimName": "C",
            "requestMappings": [
                {**MAPPING, "containerName": "other"},
                {**MAPPING, "resourceName": "cpu"},
            ],
        },
        [
            f'{PATH}.requestMappings[0].containerName: Invalid value: "other": must match the name of an entry in '
            "spec.initContainers.name or spec.containers.name",
            f'{PATH}.requestMappings[1].resourceName: Invalid value: "cpu": must match the extended resource name of '
            "an entry in spec.initContainers.resources.requests or spec.containers.resources.requests",
            f'{PATH}.resourceClaimName: Invalid value: "C": a lowercase RFC 1123 subdomain must consist of lower case '
            "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
            "'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*"
            "[a-z0-9])?)*')",
        ],
    ),
    "twice the same": (
        {"resourceClaimName": "c", "requestMappings": [MAPPING, MAPPING]},
        [f'{PATH}.requestMappings[1].{field}: Duplicate value: "{value}"' for field, value in MAPPING.items()],
    ),
}


@pytest.mark.parametrize("name", EXTENDED)
def test_claims_for_extended_resources(name: str) -> None:
    status, expected = EXTENDED[name]
    assert of_pod({"extendedResourceClaimStatus": status}, made=container(resources=GPU)) == expected


def test_features_of_a_node_are_named_in_their_order() -> None:
    old: Object = {"metadata": {"name": "a", "resourceVersion": "1"}, "spec": {}, "status": {}}
    new = {**old, "status": {"declaredFeatures": ["Zebra", "Alpha/sub", "Alpha/sub", "lower"]}}
    assert [str(cause) for cause in validate_status_update(info(NODE), new, old)] == [
        'status.declaredFeatures[1]: Invalid value: "Alpha/sub": list must be sorted alphabetically',
        'status.declaredFeatures[2]: Duplicate value: "Alpha/sub"',
        'status.declaredFeatures[3]: Invalid value: "lower": invalid feature name "lower": must start with an '
        "UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
        "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
    ]


@pytest.mark.parametrize(("name", "kind"), [(None, "nil"), ("", "empty string")])
def test_a_class_of_attributes_that_was_applied_stays(name: str | None, kind: str) -> None:
    old = prepared(
        CLAIM,
        {
            "metadata": {"name": "c", "namespace": "default"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
                "volumeName": "v",
                "volumeAttributesClassName": "gold",
            },
        },
    )
    old["metadata"]["resourceVersion"] = "1"
    old["status"]["phase"] = "Bound"
    new = copy.deepcopy(old)
    new["spec"]["volumeAttributesClassName"] = name
    if name is None:
        del new["spec"]["volumeAttributesClassName"]
    assert validate_update(info(CLAIM), new, old) == []
    for claim in (old, new):
        claim["status"]["currentVolumeAttributesClassName"] = "gold"
    assert [str(cause) for cause in validate_update(info(CLAIM), new, old)] == [
        f"spec.volumeAttributesClassName: Forbidden: update to {kind} is forbidden when "
        "status.currentVolumeAttributesClassName is not nil"
    ]


def test_how_far_the_growth_of_a_claim_is() -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    old = prepared(CLAIM, {"metadata": {"name": "c", "namespace": "default"}, "spec": spec})
    old["metadata"]["resourceVersion"] = "1"
    new = copy.deepcopy(old)
    new["status"] |= {
        "allocatedResourceStatuses": {"cpu": "NodeResizePending", "example.com/a": "NodeResizePending"},
        "allocatedResources": {"cpu": "1", "storage": "-1"},
    }
    assert [str(cause) for cause in validate_status_update(info(CLAIM), new, old)] == [
        'status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: "storage"',
        'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
        "status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity",
    ]


def test_resources_of_whole_pods() -> None:
    own = {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}
    assert problems(POD, pod(os={"name": "windows"}, resources=own)) == [
        "spec.resources: Forbidden: may not be set for a windows pod"
    ]
    large = {"limits": {"hugepages-2Mi": "2Mi", "cpu": "1"}, "requests": {"hugepages-2Mi": "2Mi", "cpu": "1m"}}
    many = [{"name": name, "image": "i", "resources": large} for name in ("a", "b")]
    whole = {"limits": {"hugepages-2Mi": "2Mi", "cpu": "4"}, "requests": {"hugepages-2Mi": "2Mi", "cpu": "1"}}
    assert problems(POD, pod(containers=many, resources=whole)) == [
        'spec.resources.requests[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate '
        "container requests of 4Mi",
        'spec.resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate '
        "container limits of 4Mi",
    ]
