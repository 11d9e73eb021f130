"""What a kubelet may say of a Pod, and what may change of one that waits, after upstream's tables of Pod updates."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.types import Object
from engine.api.validation import text, validate_status_update, validate_update
from tests.api.objects import POD, info, pod, prepared


def status_causes(spec: Object, before: Object, after: Object) -> list[str]:
    old = prepared(POD, pod(**spec))
    old["metadata"]["resourceVersion"] = "1"
    first = {**old, "status": {**old["status"], **before}}
    new = {**old, "status": {**old["status"], **after}}
    return [str(cause) for cause in validate_status_update(info(POD), new, first)]


def container(**fields: Any) -> Object:
    return {"name": "web", **fields}


def ips(*addresses: str) -> list[Object]:
    return [{"ip": address} for address in addresses]


_FAMILIES = "may specify no more than one IP for each IP family"
_ENDED = {"containerStatuses": [container(state={"terminated": {"exitCode": 1}})]}
_RUNS = {"containerStatuses": [container(state={"running": {}})]}
_WEB = {"name": "web", "image": "nginx:1.27"}
_RESTARTS_ALL = {
    "restartPolicy": "Never",
    "restartPolicyRules": [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}],
}
_SUBDOMAIN = text.dns_subdomain("")[0]
_SICK = [
    {"resourceID": identifier, "health": "Unknown", "message": "m" * size}
    for identifier, size in (("a", 0), ("b", 1025))
]
_TAKEN = "status.nodeAllocatableResourceClaimStatuses"
_DEVICES = "status.containerStatuses[0].allocatedResourcesStatus[0].resources"
_MOUNTS, _IMAGE = "status.containerStatuses[0].volumeMounts", "volumeStatus.imageVolumeStatus.imageRef"


def _mounted(image: str) -> Object:
    return {"name": "v", "mountPath": "/v", "volumeStatus": {"image": {"imageRef": image}}}


STATUSES: dict[str, tuple[Object, Object, Object, list[str]]] = {
    "one address of each family": ({}, {}, {"podIPs": ips("10.0.0.1", "2001:db8::1")}, []),
    "two addresses of one family": (
        {},
        {},
        {"podIPs": ips("10.0.0.1", "10.0.0.2")},
        [f'status.podIPs: Invalid value: [{{"IP":"10.0.0.1"}},{{"IP":"10.0.0.2"}}]: {_FAMILIES}'],
    ),
    "one address twice": (
        {},
        {},
        {"podIPs": ips("10.0.0.1", "10.0.0.1")},
        [
            f'status.podIPs: Invalid value: [{{"IP":"10.0.0.1"}},{{"IP":"10.0.0.1"}}]: {_FAMILIES}',
        ],
    ),
    "several, of which one is none": (
        {},
        {"hostIPs": ips("10.0.0.1", "fd00::1")},
        {"hostIP": "10.0.0.1", "hostIPs": ips("10.0.0.1", "nowhere")},
        [
            'status.hostIPs[1]: Invalid value: "nowhere": must be a valid IP address, (e.g. 10.9.8.7 or '
            "2001:db8::ffff)",
            "status.hostIPs: Internal error: failed to check for dual stack with error:invalid IP[1]: <nil>",
            f'status.hostIPs: Invalid value: [{{"IP":"10.0.0.1"}},{{"IP":"nowhere"}}]: {_FAMILIES}',
        ],
    ),
    "another address of the host": (
        {},
        {},
        {"hostIP": "10.0.0.1", "hostIPs": ips("10.0.0.2")},
        ['status.hostIPs[0].ip: Invalid value: "10.0.0.2": must be equal to `hostIP`'],
    ),
    "a claim that it does not have": (
        {},
        {},
        {"resourceClaimStatuses": [{"name": "a"}]},
        [
            'status.resourceClaimStatuses[0].name: Invalid value: "a": must match the name of an entry in '
            "`spec.resourceClaims`"
        ],
    ),
    "a node of no name": (
        {},
        {},
        {"nominatedNodeName": "a b"},
        [
            'status.nominatedNodeName: Invalid value: "a b": a lowercase RFC 1123 subdomain must consist of lower case '
            "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
            "'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ],
    ),
    "what ended for good runs again": (
        {"restartPolicy": "Never"},
        _ENDED,
        _RUNS,
        ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"],
    ),
    "what failed runs again": ({"restartPolicy": "OnFailure"}, _ENDED, _RUNS, []),
    "what is no container of the Pod runs again": (
        {},
        {"initContainerStatuses": _ENDED["containerStatuses"]},
        {"initContainerStatuses": _RUNS["containerStatuses"]},
        ["status.initContainerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"],
    ),
    "all run again as one container of them may ask": (
        {"restartPolicy": "Never", "containers": [_WEB, {**_WEB, "name": "other", **_RESTARTS_ALL}]},
        _ENDED,
        _RUNS,
        [],
    ),
    "a claim of no name for an object": (
        {"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "t"}]},
        {},
        {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": ""}]},
        [f'status.resourceClaimStatuses[0].resourceClaimName: Invalid value: "": {_SUBDOMAIN}'],
    ),
    "what a claim takes of the node": (
        {"resourceClaims": [{"name": "a", "resourceClaimName": "mine"}]},
        {},
        {
            "nodeAllocatableResourceClaimStatuses": [
                {"resourceClaimName": "mine", "containers": ["web"], "resources": {"cpu": "1"}},
                {"resourceClaimName": "", "resources": {"example.com/gpu": "-1"}},
                {"resourceClaimName": "mine", "containers": ["web"]},
            ]
        },
        [
            f"{_TAKEN}[1].resourceClaimName: Required value: must not be empty",
            f'{_TAKEN}[1].resourceClaimName: Invalid value: "": no mapping found in pod reference',
            f"{_TAKEN}[1].containers: Required value: must not be empty",
            f'{_TAKEN}[1].resources[example.com/gpu]: Invalid value: "example.com/gpu": must be a node allocatable '
            "resource name",
            f'{_TAKEN}[1].resources[example.com/gpu]: Invalid value: "-1": must be non-negative',
            f"{_TAKEN}[2].resources: Required value: must not be empty",
        ],
    ),
    "of the health of a device nothing, or too much": (
        {},
        {},
        {"containerStatuses": [{"name": "gone", "allocatedResourcesStatus": [{"name": "e.io/d", "resources": _SICK}]}]},
        [
            f"{_DEVICES}[0].message: Required value: must be non-empty if specified",
            f"{_DEVICES}[1].message: Too long: may not be more than 1024 bytes",
        ],
    ),
    "image volumes of no image, and of one with too long a name": (
        {},
        {},
        {"containerStatuses": [container(volumeMounts=[_mounted(""), _mounted("a" * 256), _mounted("a" * 257)])]},
        [
            f"{_MOUNTS}[0].{_IMAGE}: Required value: imageRef must not be empty",
            f"{_MOUNTS}[2].{_IMAGE}: Too long: may not be more than 256 bytes",
        ],
    ),
    "a user of no number": (
        {},
        {},
        {"containerStatuses": [container(state={}, user={"linux": {"uid": -1, "gid": 1}})]},
        ["status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 4294967295, inclusive"],
    ),
    "another class": (
        {},
        {"qosClass": "Burstable"},
        {"qosClass": "Guaranteed"},
        ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
    ),
}


@pytest.mark.parametrize("name", STATUSES)
def test_statuses(name: str) -> None:
    spec, before, after, expected = STATUSES[name]
    assert status_causes(spec, before, after) == expected


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_TERMS = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"


def term(*keys: str) -> Object:
    return {"matchExpressions": [{"key": key, "operator": "Exists"} for key in keys]}


def affinity(*terms: Object) -> Object:
    return {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": list(terms)}}}


_NEAR: Object = {"podAffinity": {_REQUIRED: [{"topologyKey": "zone", "labelSelector": {}}]}}
NARROWED: dict[str, tuple[Object | None, Object, list[str]]] = {
    "what had none may get some": (None, affinity(term("a")), []),
    "a term may demand more": (affinity(term("a")), affinity(term("a", "b")), []),
    "a term may not demand less": (
        affinity(term("a", "b")),
        affinity(term("a")),
        [f"{_TERMS}[0]: Invalid value"],
    ),
    "no more terms": (affinity(term("a")), affinity(term("a"), term("b")), [f"{_TERMS}: Invalid value"]),
    "none of all": (affinity(term("a")), {"nodeAffinity": {}}, [f"{_TERMS}: Invalid value: null"]),
    "what it says of other Pods stays": (
        {**_NEAR, **affinity(term("a"))},
        affinity(term("a", "b")),
        ["spec: Forbidden: pod updates may not change fields other than"],
    ),
    "beside that, too, a term may demand more": (
        {**_NEAR, **affinity(term("a"))},
        {**_NEAR, **affinity(term("a", "b"))},
        [],
    ),
    "and stays if there was nothing else": (
        _NEAR,
        affinity(term("a")),
        ["spec: Forbidden: pod updates may not change fields other than"],
    ),
}


@pytest.mark.parametrize("name", NARROWED)
def test_where_a_gated_pod_may_go_is_only_narrowed(name: str) -> None:
    before, after, expected = NARROWED[name]
    old = prepared(POD, pod(schedulingGates=[{"name": "example.com/wait"}]))
    old["metadata"]["resourceVersion"] = "1"
    if before is not None:
        old["spec"]["affinity"] = before
    new = copy.deepcopy(old)
    new["spec"]["affinity"] = after
    causes = [str(cause) for cause in validate_update(info(POD), new, old)]
    assert [cause[: len(wanted)] for cause, wanted in zip(causes, expected, strict=True)] == expected
