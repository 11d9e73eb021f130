"""Errors of declarative validation, which 1.37 enforces, after pkg/registry/*/declarative_validation_test.go.

They come last, in the order of the fields, and instead of those of the rules written by hand.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.types import GVK, Object
from engine.api.validation import validate_create, validate_status_update, validate_update
from tests.api.objects import prepared

CLAIM, TEMPLATE, CLASS, SLICE, RULE = (
    GVK("resource.k8s.io", "v1", kind)
    for kind in ("ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice", "DeviceTaintRule")
)
STORAGE_CLASS = GVK("storage.k8s.io", "v1", "StorageClass")
ATTACHMENT = GVK("storage.k8s.io", "v1", "VolumeAttachment")
RUNTIME = GVK("node.k8s.io", "v1", "RuntimeClass")
_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    r"end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_CASELESS = (
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'Example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_KEY = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_IMMUTABLE = "Invalid value: null: field is immutable"


def kind(gvk: GVK, version: str = "1.37") -> ResourceInfo:
    found = ResourceRegistry.for_version(version).by_kind(gvk)
    assert found is not None
    return found


def claim(*requests: Object, **devices: Any) -> Object:
    return {"devices": {"requests": list(requests), **devices}}


def exactly(name: str = "a", **fields: Any) -> Object:
    return {"name": name, "exactly": {"deviceClassName": "gpu", **fields}}


def first(*alternatives: Object) -> Object:
    return {"name": "a", "firstAvailable": [{"deviceClassName": "gpu", **each} for each in alternatives]}


def numbered(many: int) -> list[Object]:
    return [exactly(f"a{index}") for index in range(many)]


def opaque(driver: str) -> Object:
    return {"opaque": {"driver": driver, "parameters": {"a": 1}}}


def published(*devices: Object, **spec: Any) -> Object:
    named = {"devices": [{"name": f"d{index}", **device} for index, device in enumerate(devices)]} if devices else {}
    return {"driver": "a.b", "pool": {"name": "p", "resourceSliceCount": 1}, "allNodes": True, **named, **spec}


SELECTOR = {"cel": {"expression": "true"}}
REQUEST, FIRST = "spec.devices.requests[0]", "spec.devices.requests[0].firstAvailable"
NEW: dict[str, tuple[GVK, Object, list[str]]] = {
    "requests": (CLAIM, claim(*numbered(33)), ["spec.devices.requests: Too many: 33: must have at most 32 items"]),
    "requests of a template": (
        TEMPLATE,
        {"spec": claim(*numbered(33))},
        ["spec.spec.devices.requests: Too many: 33: must have at most 32 items"],
    ),
    "alternatives, with names twice": (
        CLAIM,
        claim(first({"name": "b"}, {"name": "b", "deviceClassName": "Gpu&"}, {"name": "c", "deviceClassName": ""})),
        [
            f'{FIRST}[1]: Duplicate value: {{"name":"b","deviceClassName":"Gpu\\u0026","allocationMode":"ExactCount",'
            '"count":1}',
            f'{FIRST}[1].deviceClassName: Invalid value: "Gpu&": {_SUBDOMAIN}',
            f"{FIRST}[2].deviceClassName: Required value",
        ],
    ),
    "the class of an exact request stays where it was": (
        CLAIM,
        claim(exactly(deviceClassName="", allocationMode="Odd", selectors=[SELECTOR] * 33)),
        [
            f"{REQUEST}.exactly.deviceClassName: Required value",
            f"{REQUEST}.exactly.selectors: Too many: 33: must have at most 32 items",
            f'{REQUEST}.exactly.allocationMode: Unsupported value: "Odd": supported values: "All", "ExactCount"',
        ],
    ),
    "tolerations": (
        CLAIM,
        claim(exactly(tolerations=[{"key": "a!", "operator": "Exists", "effect": "Odd", "value": "x"}])),
        [
            f'{REQUEST}.exactly.tolerations[0].value: Invalid value: "x": must be empty for operator `Exists`',
            f'{REQUEST}.exactly.tolerations[0].key: Invalid value: "a!": {_KEY}',
            f'{REQUEST}.exactly.tolerations[0].effect: Unsupported value: "Odd": supported values: "NoExecute", '
            '"NoSchedule", "None"',
        ],
    ),
    "tolerations without end": (
        CLAIM,
        claim(exactly(tolerations=[{"operator": "Exists", "effect": "NoExecute"}] * 17)),
        [],
    ),
    "constraints": (
        CLAIM,
        claim(
            exactly(),
            constraints=[
                {"requests": ["a", "a"], "matchAttribute": "x/y/z"},
                {"matchAttribute": "/b"},
                {"matchAttribute": "a_b/"},
                {"distinctAttribute": "b"},
                {},
            ],
        ),
        [
            'spec.devices.constraints[3].distinctAttribute: Invalid value: "b": a fully qualified name must be a '
            "domain and a name separated by a slash",
            'spec.devices.constraints[4]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is '
            "required, but multiple fields are set",
            'spec.devices.constraints[0].requests[1]: Duplicate value: "a"',
            'spec.devices.constraints[0].matchAttribute: Invalid value: "x/y/z": must not contain more than one slash',
            'spec.devices.constraints[1].matchAttribute: Invalid value: "": prefix must not be empty',
            f'spec.devices.constraints[2].matchAttribute: Invalid value: "a_b": prefix: {_SUBDOMAIN}',
            'spec.devices.constraints[2].matchAttribute: Invalid value: "": name must not be empty',
        ],
    ),
    "drivers of configurations": (
        CLAIM,
        claim(exactly(), config=[opaque(""), opaque("a" * 64), opaque("A.b"), opaque("a_b")]),
        [
            "spec.devices.config[0].opaque.driver: Required value",
            "spec.devices.config[1].opaque.driver: Too long: may not be more than 63 characters",
            f'spec.devices.config[3].opaque.driver: Invalid value: "a_b": {_CASELESS}',
        ],
    ),
    "a configuration of nothing": (
        CLAIM,
        claim(exactly(), config=[{"opaque": {}}]),
        [
            "spec.devices.config[0].opaque.parameters: Required value",
            "spec.devices.config[0].opaque.driver: Required value",
        ],
    ),
    "a class": (
        CLASS,
        {"config": [opaque("")], "selectors": [SELECTOR] * 33, "extendedResourceName": "requests.a.kubernetes.io/b"},
        [
            "spec.selectors: Too many: 33: must have at most 32 items",
            "spec.config[0].opaque.driver: Required value",
            'spec.extendedResourceName: Invalid value: "requests.a.kubernetes.io/b": must not have "kubernetes.io/" '
            "domain",
            'spec.extendedResourceName: Invalid value: "requests.a.kubernetes.io/b": must not have "requests." prefix',
        ],
    ),
    "counters": (
        SLICE,
        published(sharedCounters=[{"name": "", "counters": {"A": {"value": "1"}}}, {"name": "a", "counters": {}}]),
        [
            "spec.sharedCounters[0].name: Required value",
            f'spec.sharedCounters[0].counters: Invalid value: "A": {_LABEL}',
            "spec.sharedCounters[1].counters: Required value",
        ],
    ),
    "counters twice": (
        SLICE,
        published(sharedCounters=[{"name": "a", "counters": {"b": {"value": "1"}}}] * 2),
        ['spec.sharedCounters[1]: Duplicate value: {"name":"a","counters":{"b":{"value":"1"}}}'],
    ),
    "conditions and taints of a device": (
        SLICE,
        published({"taints": [{"key": "a"}], "bindingConditions": ["a"] * 5, "bindingFailureConditions": ["b"]}),
        [
            *(f'spec.devices[0].bindingConditions[{index}]: Duplicate value: "a"' for index in range(1, 5)),
            "spec.devices[0].taints[0].effect: Required value",
            "spec.devices[0].bindingConditions: Too many: 5: must have at most 4 items",
        ],
    ),
    "a rule of no effect, and no device": (
        RULE,
        {"deviceSelector": {"device": "!"}, "taint": {"key": "a"}},
        [f'spec.deviceSelector.device: Invalid value: "!": {_LABEL}', "spec.taint.effect: Required value"],
    ),
}


def made(gvk: GVK, spec: Object) -> Object:
    return {"metadata": {"name": "a", "namespace": "b" if gvk in (CLAIM, TEMPLATE) else ""}, "spec": spec}


@pytest.mark.parametrize("name", NEW)
def test_new_objects(name: str) -> None:
    gvk, spec, expected = NEW[name]
    assert [str(cause) for cause in validate_create(kind(gvk), prepared(gvk, made(gvk, spec)))] == expected


ROLE, BINDING = (GVK("rbac.authorization.k8s.io", "v1", kind) for kind in ("Role", "RoleBinding"))
NETWORK_POLICY = GVK("networking.k8s.io", "v1", "NetworkPolicy")
CRON_JOB, AUTOSCALER = GVK("batch", "v1", "CronJob"), GVK("autoscaling", "v2", "HorizontalPodAutoscaler")
INGRESS_CLASS, ADDRESS = (GVK("networking.k8s.io", "v1", kind) for kind in ("IngressClass", "IPAddress"))
ENDPOINTS = GVK("discovery.k8s.io", "v1", "EndpointSlice")
POLICY_BINDING = GVK("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding")
LEVEL = GVK("flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration")
NO_GROUP = "Required value: resource rules must supply at least one api group"
OF_ALL_KINDS: dict[str, tuple[GVK, Object, list[str]]] = {
    "a rule without verbs": (
        ROLE,
        {"rules": [{"resources": ["pods"]}]},
        [f"rules[0].apiGroups: {NO_GROUP}", "rules[0].verbs: Required value"],
    ),
    "a binding of nobody to nothing": (
        BINDING,
        {"roleRef": {"kind": "Odd"}, "subjects": [{"kind": "Odd"}]},
        [
            'roleRef.kind: Unsupported value: "Odd": supported values: "Role", "ClusterRole"',
            'subjects[0].kind: Unsupported value: "Odd": supported values: "ServiceAccount", "User", "Group"',
            "subjects[0].name: Required value",
            "roleRef.name: Required value",
        ],
    ),
    "a peer of no addresses": (
        NETWORK_POLICY,
        {"spec": {"egress": [{"to": [{"ipBlock": {"cidr": ""}}]}], "policyTypes": ["Odd"]}},
        [
            'spec.policyTypes[0]: Unsupported value: "Odd": supported values: "Ingress", "Egress"',
            "spec.egress[0].to[0].ipBlock.cidr: Required value",
        ],
    ),
    "never": (
        CRON_JOB,
        {"spec": {"schedule": "", "concurrencyPolicy": "Odd"}},
        [
            'spec.concurrencyPolicy: Unsupported value: "Odd": supported values: "Allow", "Forbid", "Replace"',
            "spec.jobTemplate.spec.template.spec.containers: Required value",
            'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
            "spec.schedule: Required value",
        ],
    ),
    "fewer than none of a bad name": (
        GVK("", "v1", "ReplicationController"),
        {"metadata": {"name": "A", "namespace": "b"}, "spec": {"replicas": -1, "minReadySeconds": -1}},
        [
            "spec.selector: Required value",
            "spec.template: Required value",
            f'metadata.name: Invalid value: "A": {_SUBDOMAIN}',
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
        ],
    ),
    "a class of a bad name": (
        CLASS,
        {"metadata": {"name": "A"}, "spec": {"selectors": [{}]}},
        ["spec.selectors[0].cel: Required value", f'metadata.name: Invalid value: "A": {_SUBDOMAIN}'],
    ),
    "parameters of nothing": (
        INGRESS_CLASS,
        {"spec": {"controller": "", "parameters": {"scope": "Odd"}}},
        [
            "spec.controller: Required value",
            'spec.parameters.scope: Unsupported value: "Odd": supported values: "Cluster", "Namespace"',
            "spec.parameters.kind: Required value",
            "spec.parameters.name: Required value",
        ],
    ),
    "an address of nothing": (
        ADDRESS,
        {"metadata": {"name": "192.168.1.1"}, "spec": {"parentRef": {"group": "A"}}},
        [
            f'spec.parentRef.group: Invalid value: "A": {_SUBDOMAIN}',
            "spec.parentRef.resource: Required value",
            "spec.parentRef.name: Required value",
        ],
    ),
    "endpoints without addresses": (
        ENDPOINTS,
        {
            "addressType": "IPv4",
            "endpoints": [{"addresses": []}, {"addresses": ["10.0.0.1"] * 101, "nodeName": "A"}],
        },
        [
            f'endpoints[1].nodeName: Invalid value: "A": {_SUBDOMAIN}',
            "endpoints[0].addresses: Required value",
            "endpoints[1].addresses: Too many: 101: must have at most 100 items",
        ],
    ),
    "addresses of no kind": (
        ENDPOINTS,
        {"addressType": "Odd", "ports": [{"protocol": "Odd"}]},
        [
            'ports[0].protocol: Unsupported value: "Odd": supported values: "SCTP", "TCP", "UDP"',
            'addressType: Unsupported value: "Odd": supported values: "FQDN", "IPv4", "IPv6"',
        ],
    ),
    "a binding of no policy to no action": (
        POLICY_BINDING,
        {"spec": {"paramRef": {"parameterNotFoundAction": "Deny"}}},
        [
            "spec.paramRef: Required value: one of name or selector must be specified",
            "spec.policyName: Required value",
            "spec.validationActions: Required value",
        ],
    ),
    "a level of no type": (
        LEVEL,
        {"spec": {"limited": {"limitResponse": {"type": "Reject"}}, "exempt": {}}},
        ["spec.exempt: Forbidden", "spec.limited: Forbidden", "spec.type: Required value"],
    ),
    "a level that is limited and exempt": (
        LEVEL,
        {"spec": {"type": "Limited", "exempt": {}, "limited": {"limitResponse": {"type": "Queue"}}}},
        ["spec.exempt: Forbidden", "spec.limited.limitResponse.queuing: Required value"],
    ),
    "queues of what is rejected": (
        LEVEL,
        {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject", "queuing": {}}}}},
        ["spec.limited.limitResponse.queuing: Forbidden"],
    ),
    "a response of no type": (
        LEVEL,
        {"spec": {"type": "Limited", "limited": {"lendablePercent": -1}}},
        [
            "spec.limited.lendablePercent: Invalid value: -1: must be between 0 and 100, inclusive",
            "spec.limited.limitResponse.type: Required value",
        ],
    ),
    "scaled below nothing": (
        AUTOSCALER,
        {"spec": {"minReplicas": -1, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment"}}},
        [
            "spec.scaleTargetRef.name: Required value",
            "spec.minReplicas: Invalid value: -1: must be greater than or equal to 0",
            "spec.maxReplicas: Required value",
        ],
    ),
}


@pytest.mark.parametrize("name", OF_ALL_KINDS)
def test_other_kinds(name: str) -> None:
    gvk, fields, expected = OF_ALL_KINDS[name]
    of = kind(gvk)
    created = prepared(gvk, {"metadata": {"name": "a", "namespace": "b" if of.namespaced else ""}, **fields})
    assert [str(cause) for cause in validate_create(of, created)] == expected


PROVISIONED = {"provisioner": "a.io/b", "reclaimPolicy": "Delete"}


def test_what_no_tag_says_is_still_told() -> None:
    wrong = {"provisioner": "a.io/b/c", "reclaimPolicy": "Delete", "parameters": {"": "v"}}
    created = prepared(STORAGE_CLASS, {"metadata": {"name": "a"}, **wrong})
    assert [cause.field for cause in validate_create(kind(STORAGE_CLASS), created)] == ["provisioner", "parameters"]


PARENT = {"group": "apps", "resource": "deployments", "name": "a"}
ATTACHED = {"attacher": "a.io", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
CHANGED: dict[str, tuple[GVK, Object, Object, list[str]]] = {
    "what is claimed": (CLAIM, {"spec": claim(exactly())}, {"spec": claim(exactly(count=2))}, [f"spec: {_IMMUTABLE}"]),
    "a class of storage": (
        STORAGE_CLASS,
        PROVISIONED,
        {"provisioner": "", "parameters": {"a": "b"}, "reclaimPolicy": "Odd", "volumeBindingMode": "Odd"},
        [
            'reclaimPolicy: Unsupported value: "Odd": supported values: "Delete", "Retain"',
            'volumeBindingMode: Unsupported value: "Odd": supported values: "Immediate", "WaitForFirstConsumer"',
            "provisioner: Required value",
            f"provisioner: {_IMMUTABLE}",
            f"parameters: {_IMMUTABLE}",
            f"reclaimPolicy: {_IMMUTABLE}",
            f"volumeBindingMode: {_IMMUTABLE}",
        ],
    ),
    "an attachment": (
        ATTACHMENT,
        {"spec": ATTACHED},
        {"spec": {**ATTACHED, "attacher": ""}},
        [f"spec: {_IMMUTABLE}"],
    ),
    "a handler": (RUNTIME, {"handler": "a"}, {"handler": "A"}, [f"handler: {_IMMUTABLE}"]),
    "the address of another": (
        ADDRESS,
        {"spec": {"parentRef": PARENT}},
        {"spec": {"parentRef": {**PARENT, "name": ""}}},
        [f"spec.parentRef: {_IMMUTABLE}"],
    ),
    "the address of nothing": (
        ADDRESS,
        {"spec": {"parentRef": PARENT}},
        {"spec": {}},
        ["spec.parentRef: Required value", f"spec.parentRef: {_IMMUTABLE}"],
    ),
    "addresses of another family": (
        ENDPOINTS,
        {"addressType": "IPv4", "endpoints": []},
        {"addressType": "IPv6"},
        [f"addressType: {_IMMUTABLE}"],
    ),
    "a limited level without its limits": (
        LEVEL,
        {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}},
        {"spec": {"type": "Limited"}},
        ["spec.limited: Required value"],
    ),
    "what a slice has wrong already": (
        SLICE,
        {"spec": published(sharedCounters=[{"name": "a_b", "counters": {}}])},
        {"spec": published(sharedCounters=[{"name": "a_b", "counters": {}}, {"name": "c", "counters": {}}])},
        ["spec.sharedCounters[1].counters: Required value"],
    ),
}


def both(gvk: GVK, before: Object, after: Object) -> tuple[Object, Object]:
    name = "192.168.1.1" if gvk == ADDRESS else "a"
    metadata = {"name": name, "namespace": "b" if gvk in (CLAIM, ENDPOINTS) else "", "uid": "u", "resourceVersion": "1"}
    old = prepared(gvk, {"metadata": metadata, **before})
    return {**copy.deepcopy(old), **copy.deepcopy(after)}, old


@pytest.mark.parametrize("name", CHANGED)
def test_changed_objects(name: str) -> None:
    gvk, before, after, expected = CHANGED[name]
    new, old = both(gvk, before, after)
    assert [str(cause) for cause in validate_update(kind(gvk), new, old)] == expected


RESULTS = "status.allocation.devices.results[0]"


def allocated(**result: Any) -> Object:
    whole = {"request": "a", "driver": "a.b", "pool": "p", "device": "d", **result}
    return {"allocation": {"devices": {"results": [whole]}}}


STATUSES: dict[str, tuple[Object, Object, list[str]]] = {
    "an allocation that is another": (
        allocated(),
        allocated(pool="q"),
        ["status.allocation: Invalid value: null: field cannot be modified once set"],
    ),
    "an allocation that goes": (allocated(), {}, []),
    "a result of nothing": (
        {},
        allocated(driver="", pool="a//B", shareID="x", request="b"),
        [
            f'{RESULTS}.request: Invalid value: "b": must be the name of a request in the claim or the name of a '
            "request and a subrequest separated by '/'",
            f"{RESULTS}.driver: Required value",
            f'{RESULTS}.pool: Invalid value: "a//B": segment 1: must not be empty',
            f'{RESULTS}.pool: Invalid value: "B": segment 2: {_SUBDOMAIN}',
            f'{RESULTS}.shareID: Invalid value: "x": must be a lowercase UUID in 8-4-4-4-12 format',
        ],
    ),
    "a consumer twice": (
        allocated(),
        {**allocated(), "reservedFor": [{"name": "p", "resource": "pods", "uid": "u"}] * 2},
        ['status.reservedFor[1]: Duplicate value: {"resource":"pods","name":"p","uid":"u"}'],
    ),
    "a configuration from nowhere": (
        {},
        {"allocation": {"devices": {"config": [{"source": "Odd", **opaque("a.b")}, opaque("a.b")]}}},
        [
            'status.allocation.devices.config[0].source: Unsupported value: "Odd": supported values: "FromClaim", '
            '"FromClass"',
            "status.allocation.devices.config[1].source: Required value",
        ],
    ),
    "an address twice": (
        allocated(),
        {
            **allocated(),
            "devices": [{"driver": "a.b", "pool": "p", "device": "d", "networkData": {"ips": ["10.0.0.1/8"] * 2}}],
        },
        ['status.devices[0].networkData.ips[1]: Duplicate value: "10.0.0.1/8"'],
    ),
}


@pytest.mark.parametrize("name", STATUSES)
def test_what_a_claim_got(name: str) -> None:
    before, after, expected = STATUSES[name]
    new, old = both(CLAIM, {"spec": claim(exactly())}, {"status": after})
    old["status"] = before
    assert [str(cause) for cause in validate_status_update(kind(CLAIM), new, old)] == expected


def test_older_releases_tell_what_is_written_by_hand() -> None:
    new, old = both(STORAGE_CLASS, PROVISIONED, {"provisioner": "a.io/c"})
    assert [str(cause) for cause in validate_update(kind(STORAGE_CLASS, "1.36"), new, old)] == [
        'provisioner: Invalid value: "a.io/c": field is immutable'
    ]
    duplicate = prepared(CLAIM, made(CLAIM, claim(exactly(), exactly())))
    assert [str(cause) for cause in validate_create(kind(CLAIM, "1.36"), duplicate)] == [
        'spec.devices.requests[1]: Duplicate value: "a"'
    ]
