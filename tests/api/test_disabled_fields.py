"""What is dropped because its feature is off by default (util_test.go of pkg/api/pod and persistentvolumeclaim)."""

from __future__ import annotations

import copy

import pytest

from engine.api.resources import ResourceRegistry
from engine.api.strategies.disabled_fields import drop_disabled_fields
from engine.api.types import GVK, Object
from tests.api.objects import info

POD = GVK("", "v1", "Pod")
_MOUNT = {"name": "v", "mountPath": "/v"}


def of(container: Object) -> Object:
    return {"containers": [{"name": "a", **container}]}


def volumes(*found: Object) -> Object:
    return {"volumes": [{"name": "v", **volume} for volume in found]}


CASES: dict[str, tuple[Object, Object]] = {
    "a signal to stop, and the hooks with it": (of({"lifecycle": {"stopSignal": "SIGTERM"}}), of({})),
    "a signal to stop beside a hook": (
        of({"lifecycle": {"stopSignal": "SIGTERM", "preStop": {"exec": {}}}}),
        of({"lifecycle": {"preStop": {"exec": {}}}}),
    ),
    "groups of Pods": ({"schedulingGroup": {"podGroupName": "a"}, "workloadRef": {"name": "a"}}, {}),
    "those who answer evictions": ({"evictionResponders": [{"name": "a.b/c", "priority": 1}]}, {}),
    "options of a mount": (
        of({"volumeMounts": [{**_MOUNT, "bindMountOptions": ["noexec"]}]}),
        of({"volumeMounts": [_MOUNT]}),
    ),
    "the mode of a directory": (volumes({"emptyDir": {"mode": 448}}), volumes({"emptyDir": {}})),
    "owners of files": (
        volumes(
            {"configMap": {"name": "a", "defaultUser": 1, "items": [{"key": "a", "path": "b", "user": 2}]}},
            {"projected": {"defaultUser": 1, "sources": [{"serviceAccountToken": {"path": "a", "user": 3}}]}},
            {"projected": {"sources": [{"secret": {"items": [{"key": "a", "path": "b", "user": 2}]}}]}},
        ),
        volumes(
            {"configMap": {"name": "a", "items": [{"key": "a", "path": "b"}]}},
            {"projected": {"sources": [{"serviceAccountToken": {"path": "a"}}]}},
            {"projected": {"sources": [{"secret": {"items": [{"key": "a", "path": "b"}]}}]}},
        ),
    ),
    "ways to probe": (
        of(
            {"livenessProbe": {"httpGet": {"port": 80, "protocol": "H2C"}}, "readinessProbe": {"grpc": {"mode": "TLS"}}}
        ),
        of({"livenessProbe": {"httpGet": {"port": 80}}, "readinessProbe": {"grpc": {}}}),
    ),
    "nothing of what is on": (
        {"hostUsers": False, "hostnameOverride": "a", "resources": {"limits": {"cpu": "1"}}, "resourceClaims": [{}]},
        {"hostUsers": False, "hostnameOverride": "a", "resources": {"limits": {"cpu": "1"}}, "resourceClaims": [{}]},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_dropped_of_a_pod(name: str) -> None:
    spec, expected = CASES[name]
    obj = {"spec": copy.deepcopy(spec)}
    drop_disabled_fields(info(POD), obj)
    assert obj["spec"] == expected


@pytest.mark.parametrize("name", CASES)
def test_what_a_pod_has_already_it_keeps(name: str) -> None:
    spec, _ = CASES[name]
    obj = {"spec": copy.deepcopy(spec)}
    drop_disabled_fields(info(POD), obj, {"spec": copy.deepcopy(spec)})
    assert obj["spec"] == spec


OLDER: dict[str, tuple[str, Object, Object]] = {
    "rules of restarts": (
        "1.34",
        {
            "containers": [{"restartPolicy": "Never", "restartPolicyRules": []}],
            "initContainers": [{"restartPolicy": "Always"}, {"restartPolicy": "Never", "restartPolicyRules": []}],
        },
        {"containers": [{}], "initContainers": [{"restartPolicy": "Always"}, {}]},
    ),
    "sidecars": ("1.28", {"initContainers": [{"restartPolicy": "Always"}]}, {"initContainers": [{}]}),
    "images as volumes": ("1.34", volumes({"image": {"reference": "a"}}), volumes({})),
    "variables from files": (
        "1.34",
        of({"env": [{"name": "A", "valueFrom": {"fileKeyRef": {"key": "a"}}}]}),
        of({"env": [{"name": "A", "valueFrom": {}}]}),
    ),
    "resources of Pods": ("1.33", {"resources": {"limits": {"cpu": "1"}}}, {}),
    "claims": (
        "1.33",
        {"resourceClaims": [{"name": "a"}], **of({"resources": {"claims": [{"name": "a"}]}})},
        of({"resources": {}}),
    ),
    "trust bundles and certificates": (
        "1.36",
        volumes({"projected": {"sources": [{"clusterTrustBundle": {}}, {"podCertificate": {}}]}}),
        volumes({"projected": {"sources": [{}, {}]}}),
    ),
    "sleeping": ("1.29", of({"lifecycle": {"preStop": {"sleep": {"seconds": 1}}}}), of({})),
}


@pytest.mark.parametrize("name", OLDER)
def test_what_older_releases_drop(name: str) -> None:
    version, spec, expected = OLDER[name]
    obj = {"spec": copy.deepcopy(spec)}
    older = ResourceRegistry.for_version(version).by_kind(POD)
    assert older is not None
    drop_disabled_fields(older, obj)
    assert obj["spec"] == expected


@pytest.mark.parametrize(("version", "kept"), [("1.37", True), ("1.36", False), ("1.35", False), ("1.34", False)])
def test_how_many_pods_of_a_stateful_set_may_be_unavailable(version: str, kept: bool) -> None:
    kind = ResourceRegistry.for_version(version).by_kind(GVK("apps", "v1", "StatefulSet"))
    assert kind is not None
    with_it: Object = {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1, "maxUnavailable": 2}}}}
    obj = copy.deepcopy(with_it)
    drop_disabled_fields(kind, obj)
    assert ("maxUnavailable" in obj["spec"]["updateStrategy"]["rollingUpdate"]) is kept
    again = copy.deepcopy(with_it)
    drop_disabled_fields(kind, again, with_it)
    assert again == with_it, "one that has it already keeps it"


def test_templates_are_looked_through_too() -> None:
    template = {"template": {"spec": of({"lifecycle": {"stopSignal": "SIGTERM"}})}}
    job: Object = {"spec": {"jobTemplate": {"spec": copy.deepcopy(template)}}}
    drop_disabled_fields(info(GVK("batch", "v1", "CronJob")), job)
    assert job["spec"]["jobTemplate"]["spec"]["template"]["spec"] == of({})
    deployment: Object = {"spec": copy.deepcopy(template)}
    drop_disabled_fields(info(GVK("apps", "v1", "Deployment")), deployment, {"spec": template})
    assert deployment["spec"] == template
