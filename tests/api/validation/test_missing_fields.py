"""Objects that no client means to send are answered as any other: with fields missing, or with endless digits."""

from __future__ import annotations

import copy

import pytest

from engine.api.crd.naming import find_condition, is_true
from engine.api.types import GVK, Object
from engine.api.validation import validate_status_update, validate_update
from engine.api.validation.text import interface_address
from tests.api.objects import DEPLOYMENT, JOB, POD, deployment, info, pod, prepared, problems

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


DIGITS = "9" * 5000  # more than Python converts
BUDGET, CRON_JOB = GVK("policy", "v1", "PodDisruptionBudget"), GVK("batch", "v1", "CronJob")
INDEXED: Object = {"completionMode": "Indexed", "completions": 3}
COST = "controller.kubernetes.io/pod-deletion-cost"
NOT_ALL = f'"{DIGITS}%": must not be greater than 100%'


def named(**fields: object) -> Object:
    return {"metadata": {"name": "a", "namespace": "default"}, **fields}


ENDLESS: dict[str, tuple[GVK, Object, list[str]]] = {
    "a percentage of a Deployment": (
        DEPLOYMENT,
        deployment(strategy={"rollingUpdate": {"maxUnavailable": f"{DIGITS}%"}}),
        [f"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: {NOT_ALL}"],
    ),
    "a percentage of a disruption budget": (
        BUDGET,
        named(spec={"minAvailable": f"{DIGITS}%"}),
        [f"spec.minAvailable: Invalid value: {NOT_ALL}"],
    ),
    "a minute of a schedule": (
        CRON_JOB,
        named(spec={"schedule": f"{DIGITS} * * * *", "jobTemplate": {"spec": job()["spec"]}}),
        [
            f'spec.schedule: Invalid value: "{DIGITS} * * * *": failed to parse int from {DIGITS}: strconv.Atoi: '
            f'parsing "{DIGITS}": value out of range'
        ],
    ),
    "an index that is to succeed": (
        JOB,
        {
            **job(),
            "spec": {**job()["spec"], **INDEXED, "successPolicy": {"rules": [{"succeededIndexes": f"0,{DIGITS}"}]}},
        },
        [
            f'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0,{DIGITS}": error parsing '
            f'succeededIndexes: cannot convert string to integer for index: "{DIGITS}"'
        ],
    ),
    "the cost of a deletion": (
        POD,
        {**pod(), "metadata": {"name": "a", "namespace": "default", "annotations": {COST: DIGITS}}},
        [f'metadata.annotations[{COST}]: Invalid value: "{DIGITS}": must be a 32bit integer'],
    ),
}


@pytest.mark.parametrize("row", ENDLESS.values(), ids=ENDLESS.keys())
def test_a_number_may_have_any_number_of_digits(row: tuple[GVK, Object, list[str]]) -> None:
    kind, value, expected = row
    assert problems(kind, value) == expected


def test_a_prefix_may_have_any_number_of_digits() -> None:
    for length in (DIGITS, "\u0662\u0664", "0" * 5000):
        assert interface_address(f"10.0.0.1/{length}") == (
            "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)",
        )
    assert interface_address("10.0.0.1/024") == ('must be in canonical form ("10.0.0.1/24")',)


def test_a_literal_of_an_expression_may_have_any_number_of_digits() -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": f"{DIGITS} == 1"}]}
    policy = {"metadata": {"name": "a"}, "spec": spec}
    (found,) = problems(GVK("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy"), policy)
    assert "compilation failed: ERROR: <input>:1:1: invalid int literal" in found
