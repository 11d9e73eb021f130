"""Objects that leave out what is never left out are answered as any other: found by random objects of every kind."""

from __future__ import annotations

import copy

import pytest

from engine.api.crd.naming import find_condition, is_true
from engine.api.types import GVK, Object
from engine.api.validation import validate_status_update, validate_update
from tests.api.objects import DEPLOYMENT, JOB, deployment, info, pod, prepared

CONTROLLER = GVK("", "v1", "ReplicationController")
TOO_MANY = "Invalid value: 0: cannot be greater than status.replicas"


def job() -> Object:
    template = {"spec": {**pod()["spec"], "restartPolicy": "Never"}}
    return {"metadata": {"name": "pi", "namespace": "default", "uid": "u"}, "spec": {"template": template}}


def controller() -> Object:
    return {"metadata": {"name": "web", "namespace": "default"}, "spec": {"template": deployment()["spec"]["template"]}}


STATUSES: dict[str, tuple[GVK, Object, Object, list[str]]] = {
    "a negative number of replicas, and none ready": (
        CONTROLLER,
        controller(),
        {"replicas": -3},
        [
            "status.replicas: Invalid value: -3: must be greater than or equal to 0",
            f"status.fullyLabeledReplicas: {TOO_MANY}",
            f"status.readyReplicas: {TOO_MANY}",
            f"status.availableReplicas: {TOO_MANY}",
        ],
    ),
    "the same of a Deployment": (
        DEPLOYMENT,
        deployment(),
        {"replicas": -1},
        [
            "status.replicas: Invalid value: -1: must be greater than or equal to 0",
            *(f"status.{field}Replicas: {TOO_MANY}" for field in ("updated", "ready", "available")),
        ],
    ),
    "a negative number of active Pods, and none ready": (
        JOB,
        job(),
        {"active": -1},
        [
            "status.active: Invalid value: -1: must be greater than or equal to 0",
            "status.ready: Invalid value: 0: cannot set more ready pods than active",
        ],
    ),
}


@pytest.mark.parametrize("row", STATUSES.values(), ids=STATUSES.keys())
def test_a_count_that_is_not_there_is_none(row: tuple[GVK, Object, Object, list[str]]) -> None:
    kind, value, status, expected = row
    old = prepared(kind, value)
    old["metadata"]["resourceVersion"] = "1"
    new = {**copy.deepcopy(old), "status": status}
    assert [str(cause) for cause in validate_status_update(info(kind), new, old)] == expected


def suspended(*conditions: Object) -> Object:
    made = prepared(JOB, job())
    made["metadata"]["resourceVersion"] = "1"
    made["spec"] |= {"suspend": True}
    return {**made, "status": {"startTime": "2026-01-01T00:00:00Z", "conditions": list(conditions)}}


def test_a_condition_without_a_type_says_nothing_of_a_job() -> None:
    old = suspended({"status": "True"}, {"type": "Suspended", "status": "True"})
    new = copy.deepcopy(old)
    new["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    assert validate_update(info(JOB), new, old) == []


def test_a_condition_without_a_type_says_nothing_of_a_definition() -> None:
    definition = {"status": {"conditions": [{"status": "True"}, {"type": "Established"}]}}
    assert find_condition(definition, "NamesAccepted") is None
    assert not is_true(definition, "Established")
