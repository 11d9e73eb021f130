"""Workloads and their statuses, in the order in which upstream tells of what is wrong (pkg/apis/apps/validation)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.types import GVK, Object
from engine.api.validation import validate_create, validate_status_update, validate_update
from tests.api.objects import DEPLOYMENT, info, pod, prepared, problems

DAEMON_SET = GVK("apps", "v1", "DaemonSet")
REPLICA_SET = GVK("apps", "v1", "ReplicaSet")
STATEFUL_SET = GVK("apps", "v1", "StatefulSet")
CONTROLLER = GVK("", "v1", "ReplicationController")
CRON_JOB = GVK("batch", "v1", "CronJob")

_LABELS = {"app": "web"}
_NEGATIVE = "must be greater than or equal to 0"
_MISMATCH = "Invalid value: {}: `selector` does not match template `labels`"


def workload(**spec: Any) -> Object:
    template = {"metadata": {"labels": _LABELS}, "spec": pod()["spec"]}
    whole = {"selector": {"matchLabels": _LABELS}, "template": template, **spec}
    return {"metadata": {"name": "web", "namespace": "default"}, "spec": whole}


def named(name: str) -> Object:
    return {**workload(), "metadata": {"name": name, "namespace": "default"}}


def without(obj: Object, field: str) -> Object:
    del obj["spec"][field]
    return obj


def templated(**spec: Any) -> Object:
    return workload(template={"metadata": {"labels": _LABELS}, "spec": pod(**spec)["spec"]})


def rolling(**rolling: Any) -> Object:
    return workload(updateStrategy={"type": "RollingUpdate", "rollingUpdate": rolling})


NEW: dict[str, tuple[GVK, Object, list[str]]] = {
    "a DaemonSet without a selector": (
        DAEMON_SET,
        without(workload(), "selector"),
        ['spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'],
    ),
    "a DaemonSet with an empty selector": (
        DAEMON_SET,
        workload(selector={}),
        ["spec.selector: Invalid value: {}: empty selector is invalid for daemonset"],
    ),
    "a Deployment without a selector": (
        DEPLOYMENT,
        without(workload(), "selector"),
        [
            "spec.selector: Required value",
            'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
        ],
    ),
    "labels that do not match, by their keys": (
        DEPLOYMENT,
        workload(template={"metadata": {"labels": {"b": "1", "a": "2"}}, "spec": pod()["spec"]}),
        [
            'spec.template.metadata.labels: Invalid value: {"a":"2","b":"1"}: '
            "`selector` does not match template `labels`"
        ],
    ),
    "a Deployment without a template": (
        DEPLOYMENT,
        without(workload(), "template"),
        [
            "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
            "spec.template.spec.containers: Required value",
        ],
    ),
    "a DaemonSet whose surge and unavailable are too many": (
        DAEMON_SET,
        rolling(maxUnavailable="101%", maxSurge="102%"),
        [
            'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
            'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "102%": must not be greater than 100%',
            'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "102%": may not be set when maxUnavailable is '
            "non-zero",
        ],
    ),
    "a StatefulSet of which none may be unavailable": (
        STATEFUL_SET,
        rolling(partition=0, maxUnavailable=0),
        ["spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0"],
    ),
    "a StatefulSet of which more than all may be unavailable": (
        STATEFUL_SET,
        rolling(partition=-1, maxUnavailable="101%"),
        [
            "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0",
            'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
        ],
    ),
    "a StatefulSet's claims are told of before its replicas": (
        STATEFUL_SET,
        workload(replicas=-1, persistentVolumeClaimRetentionPolicy={"whenDeleted": "Keep", "whenScaled": "Retain"}),
        [
            'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: '
            '"Retain", "Delete"',
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        ],
    ),
    "a StatefulSet whose Pods cannot be named as hosts": (
        STATEFUL_SET,
        named("web.1"),
        ['metadata.name: Invalid value: "web.1": must not contain dots'],
    ),
    "a StatefulSet's name of a Service, and its templates of claims": (
        STATEFUL_SET,
        workload(serviceName="a.b", ordinals={"start": -1}, volumeClaimTemplates=[{"metadata": {"name": "data"}}]),
        [
            "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required",
            "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value",
            f"spec.ordinals.start: Invalid value: -1: {_NEGATIVE}",
            'spec.serviceName: Invalid value: "a.b": must not contain dots',
        ],
    ),
    "a StatefulSet that keeps all revisions": (STATEFUL_SET, workload(revisionHistoryLimit=-1), []),
    "a ReplicaSet whose Pods end": (
        REPLICA_SET,
        templated(restartPolicy="Never", activeDeadlineSeconds=5),
        [
            'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
            "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported",
        ],
    ),
}


@pytest.mark.parametrize("name", NEW)
def test_new_workloads(name: str) -> None:
    gvk, value, expected = NEW[name]
    assert problems(gvk, value) == expected


UPDATES: dict[str, tuple[Object, Object, list[str]]] = {
    "an old name with dots": (named("web.1"), named("web.1"), []),
    "a Service and claims that were wrong before": (
        workload(serviceName="a.b", volumeClaimTemplates=[{"metadata": {"name": "data"}}]),
        workload(serviceName="a.b", volumeClaimTemplates=[{"metadata": {"name": "data"}}], replicas=3),
        [],
    ),
}


@pytest.mark.parametrize("name", UPDATES)
def test_stateful_set_updates(name: str) -> None:
    before, after, expected = UPDATES[name]
    old, new = prepared(STATEFUL_SET, before), prepared(STATEFUL_SET, after)
    for obj in (old, new):
        obj["metadata"]["resourceVersion"] = "1"
    assert [str(cause) for cause in validate_update(info(STATEFUL_SET), new, old)] == expected


STATUSES: dict[str, tuple[GVK, Object, list[str]]] = {
    "a Deployment with more ready than there are": (
        DEPLOYMENT,
        {"replicas": 1, "readyReplicas": 2, "availableReplicas": 3, "collisionCount": 1},
        [
            "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
            "status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas",
            "status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas",
        ],
    ),
    "a Deployment that forgets collisions": (
        DEPLOYMENT,
        {"observedGeneration": -1},
        [
            f"status.observedGeneration: Invalid value: -1: {_NEGATIVE}",
            "status.collisionCount: Invalid value: 0: cannot be decremented",
        ],
    ),
    "a ReplicaSet with more labelled than there are": (
        REPLICA_SET,
        {"replicas": 1, "fullyLabeledReplicas": 2},
        ["status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas"],
    ),
    "a ReplicationController with more available than ready": (
        CONTROLLER,
        {"replicas": 1, "availableReplicas": 1},
        ["status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas"],
    ),
    "a StatefulSet with more available than ready": (
        STATEFUL_SET,
        {"replicas": 1, "availableReplicas": 1, "collisionCount": 1},
        ["status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas"],
    ),
    "a DaemonSet with fewer than none": (
        DAEMON_SET,
        {"currentNumberScheduled": -1, "numberUnavailable": -1, "collisionCount": 1},
        [
            f"status.currentNumberScheduled: Invalid value: -1: {_NEGATIVE}",
            f"status.numberUnavailable: Invalid value: -1: {_NEGATIVE}",
        ],
    ),
}


@pytest.mark.parametrize("name", STATUSES)
def test_statuses(name: str) -> None:
    gvk, status, expected = STATUSES[name]
    old = prepared(gvk, workload(selector=_LABELS) if gvk == CONTROLLER else workload())
    old["metadata"]["resourceVersion"] = "1"
    old["status"] = {"collisionCount": 1} if gvk != CONTROLLER else {}
    new = {**old, "status": status}
    assert [str(cause) for cause in validate_status_update(info(gvk), new, old)] == expected


FEWER = ["status.collisionCount: Invalid value: 0: cannot be decremented"]


@pytest.mark.parametrize("gvk", [DEPLOYMENT, DAEMON_SET, STATEFUL_SET], ids=lambda gvk: gvk.kind)
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, 0, []),
        (None, -1, [f"status.collisionCount: Invalid value: -1: {_NEGATIVE}"]),
        (0, None, FEWER),
        (2, 0, FEWER),
        (2, 3, []),
    ],
)
def test_how_often_a_name_was_taken(gvk: GVK, before: int | None, after: int | None, expected: list[str]) -> None:
    old = prepared(gvk, workload())
    old["metadata"]["resourceVersion"] = "1"
    counted = [{} if count is None else {"collisionCount": count} for count in (before, after)]
    old["status"], new = counted[0], {**old, "status": counted[1]}
    assert [str(cause) for cause in validate_status_update(info(gvk), new, old)] == expected


TERMS = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["-1"]}]}]
LET_THROUGH: dict[str, Object] = {
    "a label of nodes": {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": TERMS}}}
    },
    "a path that leads out": {
        "volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "../a"}}]}}]
    },
    "a setting of the node's network": {
        "hostNetwork": True,
        "securityContext": {"sysctls": [{"name": "net.ipv4.ip_forward", "value": "1"}]},
    },
    "an image of no name as a volume": {"volumes": [{"name": "v", "image": {"reference": ""}}]},
}


@pytest.mark.parametrize("name", LET_THROUGH)
@pytest.mark.parametrize("gvk", [DEPLOYMENT, CRON_JOB], ids=["Deployment", "CronJob"])
def test_what_an_older_release_let_through_in_a_template_stays(gvk: GVK, name: str) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {**pod()["spec"], **LET_THROUGH[name]}}
    spec: Object = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    if gvk == CRON_JOB:
        template["spec"]["restartPolicy"] = "Never"
        spec = {"schedule": "@daily", "jobTemplate": {"spec": {"template": template}}}
    old = prepared(gvk, {"metadata": {"name": "web", "namespace": "default", "resourceVersion": "1"}, "spec": spec})
    assert len(validate_create(info(gvk), old)) == 1
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"touched": "yes"}
    assert validate_update(info(gvk), new, old) == []
    template_of(new)["spec"]["restartPolicy"] = "Sometimes"
    assert {cause.field.rpartition(".")[2] for cause in validate_update(info(gvk), new, old)} == {"restartPolicy"}


def template_of(obj: Object) -> Object:
    spec: Object = obj["spec"]
    template: Object = (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]
    return template


PAGES = {
    "what never came whole": ("hugepages-1Gi", "1.1Gi", []),
    "whole pages": ("hugepages-1Gi", "2Gi", ["hugepages-2Mi"]),
}


@pytest.mark.parametrize("name", PAGES)
def test_huge_pages_that_did_not_come_whole_may_become_others_that_do_not(name: str) -> None:
    resource, amount, expected = PAGES[name]
    old = prepared(DEPLOYMENT, workload())
    old["metadata"]["resourceVersion"] = "1"
    new = copy.deepcopy(old)
    for obj, pages in ((old, {resource: amount}), (new, {"hugepages-2Mi": "3Mi"})):
        amounts = {"cpu": "1", **pages}
        template_of(obj)["spec"]["containers"][0]["resources"] = {"limits": amounts, "requests": amounts}
    found = validate_update(info(DEPLOYMENT), new, old)
    path = "spec.template.spec.containers[0].resources"
    assert [cause.field for cause in found] == [
        f"{path}.{side}[{each}]" for side in ("limits", "requests") for each in expected
    ]
