"""Flow schemas and priority levels, after upstream's tables (pkg/apis/flowcontrol/validation)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import GVK, Object
from engine.apiserver.fairness.flow_control import objects
from tests.api.objects import problems

SCHEMA = GVK("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema")
LEVEL = GVK("flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration")

_USER = {"kind": "User", "user": {"name": "jane"}}
_RESOURCES = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}


_REJECT = {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Reject"}}
_ZERO = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"


def schema(**spec: Any) -> Object:
    whole = {"matchingPrecedence": 50, "priorityLevelConfiguration": {"name": "low"}, **spec}
    return {"metadata": {"name": "mine"}, "spec": whole}


def ruled(**rule: Any) -> Object:
    return schema(rules=[{"subjects": [_USER], "resourceRules": [_RESOURCES], **rule}])


def urls(*found: str, verbs: tuple[str, ...] = ("get",)) -> Object:
    return ruled(resourceRules=[], nonResourceRules=[{"verbs": list(verbs), "nonResourceURLs": list(found)}])


def level(**spec: Any) -> Object:
    return {"metadata": {"name": "mine"}, "spec": {"type": "Limited", **spec}}


def queued(**queuing: int) -> Object:
    return level(limited={"nominalConcurrencyShares": 5, "limitResponse": {"type": "Queue", "queuing": queuing}})


_RULE = "spec.rules[0]"
_URLS = f"{_RULE}.nonResourceRules[0].nonResourceURLs"
_QUEUING = "spec.limited.limitResponse.queuing"
CASES: dict[str, tuple[GVK, Object, list[str]]] = {
    "a schema": (SCHEMA, ruled(), []),
    "first of all": (
        SCHEMA,
        schema(matchingPrecedence=1),
        ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"],
    ),
    "no subject and no rule": (
        SCHEMA,
        schema(rules=[{}]),
        [
            f"{_RULE}.subjects: Required value: subjects must contain at least one value",
            f"{_RULE}: Required value: at least one of resourceRules and nonResourceRules has to be non-empty",
        ],
    ),
    "a subject of another kind": (
        SCHEMA,
        ruled(subjects=[{"kind": "User", "group": {"name": "a"}}]),
        [
            f"{_RULE}.subjects[0].user: Required value: user is required when subject kind is 'User'",
            f"{_RULE}.subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
        ],
    ),
    "an account of no namespace": (
        SCHEMA,
        ruled(subjects=[{"kind": "ServiceAccount", "serviceAccount": {"name": "*"}}]),
        [f"{_RULE}.subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account"],
    ),
    "all verbs and one more": (
        SCHEMA,
        ruled(resourceRules=[{**_RESOURCES, "verbs": ["*", "get"]}]),
        [
            f'{_RULE}.resourceRules[0].verbs: Invalid value: ["*","get"]: if \'*\' is present, must not specify other '
            "verbs"
        ],
    ),
    "a verb that is none": (
        SCHEMA,
        ruled(resourceRules=[{**_RESOURCES, "verbs": ["feed"]}]),
        [
            f'{_RULE}.resourceRules[0].verbs: Unsupported value: ["feed"]: supported values: "create", "delete", '
            '"deletecollection", "get", "list", "patch", "proxy", "update", "watch"'
        ],
    ),
    "a rule for no namespace": (
        SCHEMA,
        ruled(resourceRules=[{**_RESOURCES, "namespaces": []}]),
        [
            f"{_RULE}.resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must "
            "supply at least one namespace"
        ],
    ),
    "URLs": (
        SCHEMA,
        urls("/", "healthz", "/a b", "//a", "/a*", "/a/*"),
        [
            f'{_URLS}[1]: Invalid value: "healthz": must start with slash',
            f'{_URLS}[2]: Invalid value: "/a b": must not contain white-space',
            f'{_URLS}[3]: Invalid value: "//a": must not contain double slash',
            f'{_URLS}[4]: Invalid value: "/a*": wildcard can only do suffix matching',
        ],
    ),
    "an exempt level of another name": (
        LEVEL,
        level(type="Exempt"),
        ["spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"],
    ),
    "a level and a response of no type": (
        LEVEL,
        {"metadata": {"name": "mine"}, "spec": {}},
        ["spec.type: Required value"],
    ),
    "a response of no type": (
        LEVEL,
        level(limited={}),
        ["spec.limited.limitResponse.type: Required value"],
    ),
    "the level that v1beta3 marks": (
        LEVEL,
        {**level(limited=_REJECT), "metadata": {"name": "mine", "annotations": {_ZERO: ""}}},
        [f"metadata.annotations: Forbidden: annotation '{_ZERO}' is forbidden"],
    ),
    "the exempt level lends": (
        LEVEL,
        {"metadata": {"name": "exempt"}, "spec": {"type": "Exempt", "exempt": {"lendablePercent": 50}}},
        [],
    ),
    "the level for all that is left": (
        LEVEL,
        {"metadata": {"name": "catch-all"}, "spec": {"type": "Limited", "limited": {**_REJECT, "lendablePercent": 1}}},
        [
            'spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":5,"LimitResponse":'
            '{"Type":"Reject","Queuing":null},"LendablePercent":1,"BorrowingLimitPercent":null},"Exempt":null}: '
            "spec of 'catch-all' must equal the fixed value"
        ],
    ),
    "the schema for all that is left": (
        SCHEMA,
        {**schema(), "metadata": {"name": "catch-all"}},
        [
            'spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"low"},"MatchingPrecedence":50,'
            '"DistinguisherMethod":null,"Rules":null}: spec of \'catch-all\' must equal the fixed value'
        ],
    ),
    "a limited level without limits": (
        LEVEL,
        level(),
        ["spec.limited: Required value"],
    ),
    "a response that is none": (
        LEVEL,
        level(limited={"limitResponse": {"type": "Shrug"}}),
        ['spec.limited.limitResponse.type: Unsupported value: "Shrug": supported values: "Queue", "Reject"'],
    ),
    "a hand of more than the queues": (
        LEVEL,
        queued(queues=4, handSize=5, queueLengthLimit=50),
        [f"{_QUEUING}.handSize: Invalid value: 5: should not be greater than queues (4)"],
    ),
    "more choices than a hash has": (
        LEVEL,
        queued(queues=512, handSize=8, queueLengthLimit=50),
        [
            f"{_QUEUING}.handSize: Invalid value: 8: required entropy bits of deckSize 512 and handSize 8 should not "
            "be greater than 60"
        ],
    ),
    "shares of less than nothing": (
        LEVEL,
        level(limited={"nominalConcurrencyShares": -1, "lendablePercent": 101, "limitResponse": {"type": "Reject"}}),
        [
            "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
            "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_flow_control(name: str) -> None:
    gvk, value, expected = CASES[name]
    assert problems(gvk, value) == expected


def test_what_a_cluster_is_born_with_is_right() -> None:
    for obj in objects("2026-01-01T00:00:00Z"):
        gvk = SCHEMA if obj["kind"] == "FlowSchema" else LEVEL
        assert problems(gvk, obj) == []
