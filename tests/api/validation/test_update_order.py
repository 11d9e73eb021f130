"""What an update of a whole object is checked for, after upstream's strategies: how often, and in which order."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.types import GVK, Object
from engine.api.validation import validate_create, validate_update
from tests.api.objects import JOB, defaulted, deployment, info, prepared, problems

STORAGE, RBAC = "storage.k8s.io", "rbac.authorization.k8s.io"
CLASS = GVK(STORAGE, "v1", "StorageClass")
ATTRIBUTES = GVK(STORAGE, "v1", "VolumeAttributesClass")
DRIVER, CSI_NODE = GVK(STORAGE, "v1", "CSIDriver"), GVK(STORAGE, "v1", "CSINode")
ATTACHMENT = GVK(STORAGE, "v1", "VolumeAttachment")
CAPACITY = GVK(STORAGE, "v1", "CSIStorageCapacity")
RUNTIME = GVK("node.k8s.io", "v1", "RuntimeClass")
ROLE, BINDING = GVK(RBAC, "v1", "Role"), GVK(RBAC, "v1", "RoleBinding")
REPLICA_SET, DAEMON_SET = GVK("apps", "v1", "ReplicaSet"), GVK("apps", "v1", "DaemonSet")
ADDRESS = GVK("networking.k8s.io", "v1", "IPAddress")
INGRESS, INGRESS_CLASS = GVK("networking.k8s.io", "v1", "Ingress"), GVK("networking.k8s.io", "v1", "IngressClass")
REVISION = GVK("apps", "v1", "ControllerRevision")
BUDGET, EVENT = GVK("policy", "v1", "PodDisruptionBudget"), GVK("", "v1", "Event")
_SUBDOMAIN = "a lowercase RFC 1123 subdomain must consist of"
_TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
}
_ATTACHED = {"attacher": "a.io", "nodeName": "n", "source": {"persistentVolumeName": "v"}}

UPDATES: dict[str, tuple[GVK, Object, Object, list[str]]] = {
    "a class that loses its mode": (
        CLASS,
        {"provisioner": "a.io/b", "volumeBindingMode": "Immediate"},
        {"volumeBindingMode": None},
        ["volumeBindingMode: Required value", "volumeBindingMode: Invalid value: null: field is immutable"],
    ),
    "a class that gets topologies that cannot be": (
        CLASS,
        {"provisioner": "a.io/b"},
        {"allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": []}]}]},
        ["allowedTopologies[0].matchLabelExpressions[0].values: Required value"],
    ),
    "attributes that go": (
        ATTRIBUTES,
        {"driverName": "a.io", "parameters": {"a": "b"}},
        {"parameters": None},
        [
            "parameters: Forbidden: updates to parameters are forbidden.",
            "parameters: Required value: must contain at least one key/value pair",
        ],
    ),
    "a driver of a policy that there is not": (
        DRIVER,
        {"spec": {}},
        {"spec.fsGroupPolicy": "Foo"},
        ['spec.fsGroupPolicy: Unsupported value: "Foo": supported values: "File", "None", "ReadWriteOnceWithFSType"']
        * 2,
    ),
    "a driver that gets no identity": (
        CSI_NODE,
        {"spec": {"drivers": []}},
        {"spec.drivers": [{"name": "a.io", "nodeID": ""}]},
        ["spec.drivers[0].nodeID: Required value"] * 2,
    ),
    "a capacity below nothing": (
        CAPACITY,
        {"storageClassName": "a", "capacity": "1Gi"},
        {"capacity": "-1"},
        ['capacity: Invalid value: "-1": must be greater than or equal to 0'],
    ),
    "an attachment to another node": (
        ATTACHMENT,
        {"spec": _ATTACHED},
        {"spec.nodeName": ""},
        [
            f'spec.nodeName: Invalid value: "": {_SUBDOMAIN}',
            "spec: Invalid value: null: field is immutable",
        ],
    ),
    "an attachment of before v1": (
        ATTACHMENT,
        {"spec": {**_ATTACHED, "attacher": "A_B"}},
        {"metadata.labels": {"a": "b"}},
        [],
    ),
    "a runtime that gets an overhead that cannot be": (
        RUNTIME,
        {"handler": "runc"},
        {"overhead": {"podFixed": {"cpu": "-1"}}},
        ['overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
    ),
    "a runtime without a handler": (
        RUNTIME,
        {"handler": "runc"},
        {"handler": ""},
        [
            "handler: Invalid value: null: field is immutable",
            "handler: Required value",
        ],
    ),
    "a role without verbs": (
        ROLE,
        {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
        {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": []}]},
        ["rules[0].verbs: Required value"],
    ),
    "a binding that loses its role": (
        BINDING,
        {"roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "a"}},
        {"roleRef": {}},
        [
            'roleRef.apiGroup: Unsupported value: "": supported values: "rbac.authorization.k8s.io"',
            'roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"',
            'roleRef: Invalid value: {"APIGroup":"","Kind":"","Name":""}: field is immutable',
            "roleRef.name: Required value",
        ],
    ),
    "an address that loses its parent": (
        ADDRESS,
        {"spec": {"parentRef": {"resource": "services", "name": "web"}}},
        {"spec.parentRef": None},
        [
            "spec.parentRef: Required value",
            "spec.parentRef: Invalid value: null: field is immutable",
        ],
    ),
    "a revision of before, which was text": (REVISION, {"data": "text", "revision": 1}, {"revision": 2}, []),
    "fewer replicas than none": (
        REPLICA_SET,
        {"spec": deployment()["spec"]},
        {"spec.replicas": -1},
        ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"],
    ),
    "a Job of a name that nobody draws": (
        JOB,
        {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": _TEMPLATE, "manualSelector": True}},
        {"metadata.generateName": "Bad_", "spec.parallelism": -1},
        [
            f'metadata.generateName: Invalid value: "Bad_": {_SUBDOMAIN}',
            *["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"] * 2,
        ],
    ),
    "an Ingress of such a name": (
        INGRESS,
        {"spec": {"rules": [{"host": "a.io"}]}},
        {"metadata.generateName": "Bad_", "spec.rules": []},
        [f'metadata.generateName: Invalid value: "Bad_": {_SUBDOMAIN}', "spec: Invalid value: []: either"],
    ),
    "a class of such a name": (
        INGRESS_CLASS,
        {"spec": {"controller": "a.io/b"}},
        {"metadata.generateName": "Bad_", "spec.controller": "a.io/c"},
        ["spec.controller: Invalid value: ", f'metadata.generateName: Invalid value: "Bad_": {_SUBDOMAIN}'],
    ),
    "a daemon ready before its time": (
        DAEMON_SET,
        {"spec": deployment()["spec"]},
        {"spec.minReadySeconds": -1},
        ["spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"],
    ),
}


def _stored(gvk: GVK, value: Object, name: str = "web") -> Object:
    metadata: Object = {"name": name, "uid": "u", "resourceVersion": "1"}
    if info(gvk).namespaced:
        metadata["namespace"] = "default"
    return defaulted(gvk, {"metadata": metadata, **value})


def _put(obj: Any, path: str, value: Any) -> None:
    *holders, field = path.split(".")
    for name in holders:
        obj = obj[name]
    obj[field] = value
    if value is None:
        del obj[field]


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_is_checked_as_its_strategy_does(name: str) -> None:
    gvk, value, change, expected = UPDATES[name]
    old = _stored(gvk, value, "10.0.0.1" if gvk == ADDRESS else "web")
    new = copy.deepcopy(old)
    for path, field in change.items():
        _put(new, path, field)
    found = [str(cause) for cause in validate_update(info(gvk), new, old)]
    assert [cause[: len(wanted)] for cause, wanted in zip(found, expected, strict=True)] == expected


@pytest.mark.parametrize("gvk", [BUDGET, EVENT], ids=lambda gvk: gvk.kind)
def test_what_no_strategy_asks_of_metadata(gvk: GVK) -> None:
    """Budgets and events of the core group are taken with any name that fits into a path, and any finalizers."""
    obj: Object = {"metadata": {"name": "system:Foo_Bar", "namespace": "default", "finalizers": ["abc"]}}
    if gvk == EVENT:
        obj["involvedObject"] = {"kind": "Pod", "name": "web", "namespace": "default"}
    assert problems(gvk, obj) == []
    named = prepared(gvk, {**obj, "metadata": {**obj["metadata"], "name": "a/b"}})
    assert [cause.field for cause in validate_create(info(gvk), named)] == ["metadata.name"]


@pytest.mark.parametrize("data", ["text", True, 0.5, []], ids=repr)
def test_a_new_revision_is_of_an_object(data: object) -> None:
    obj = {"metadata": {"name": "web", "namespace": "default"}, "data": data, "revision": 1}
    assert problems(REVISION, obj) == ['data: Invalid value: "<value omitted>": data must be a valid JSON object']


_NO_VALUE: Object = {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["bad value"]}]}
SELECTORS: dict[str, tuple[GVK, Object, Object]] = {
    "a budget": (
        GVK("policy", "v1", "PodDisruptionBudget"),
        {"minAvailable": 1, "selector": {}},
        {"minAvailable": 1, "selector": _NO_VALUE},
    ),
    "a network policy, and in all its peers then": (
        GVK("networking.k8s.io", "v1", "NetworkPolicy"),
        {"podSelector": {}, "egress": [{"to": [{"podSelector": _NO_VALUE}]}]},
        {"podSelector": _NO_VALUE, "egress": [{"to": [{"namespaceSelector": _NO_VALUE}]}]},
    ),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_a_value_that_no_label_has_may_stay_in_a_selector(name: str) -> None:
    gvk, other, spec = SELECTORS[name]
    before, wrong = (
        defaulted(gvk, {"metadata": {"name": "a", "namespace": "default", "resourceVersion": "1"}, "spec": each})
        for each in (other, spec)
    )
    assert {cause.field.rpartition(".")[2] for cause in validate_update(info(gvk), wrong, before)} == {"values[0]"}
    assert validate_update(info(gvk), {**wrong, "metadata": {**wrong["metadata"], "labels": {"a": "b"}}}, wrong) == []
