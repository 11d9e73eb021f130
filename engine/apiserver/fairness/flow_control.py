"""The FlowSchemas and PriorityLevelConfigurations that a cluster is born with (API Priority and Fairness).

Source: apiserver pkg/apis/flowcontrol/bootstrap/default.go. `engine.apiserver.fairness` goes by them, as they are at
the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from engine.api.types import Object

_API_VERSION = "flowcontrol.apiserver.k8s.io/v1"
_ANNOTATIONS = {"apf.kubernetes.io/autoupdate-spec": "true"}
_ALL_RESOURCES = {
    "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True
}  # fmt: skip
_ALL_PATHS = {"verbs": ["*"], "nonResourceURLs": ["*"]}
_EVERYBODY = ("Group:system:unauthenticated", "Group:system:authenticated")
_SYSTEM_ACCOUNTS = "ServiceAccount:*"
_LEADERS = (["get", "create", "update"], "coordination.k8s.io", ["leases"], ["*"], False)


class _Level(NamedTuple):
    """Shares of the concurrency, how much of it is lent, and the queues: number, hand size, length."""

    shares: int
    lendable: int
    queues: tuple[int, int, int] | None


_LEVELS = {
    "catch-all": _Level(5, 0, None),
    "system": _Level(30, 33, (64, 6, 50)),
    "node-high": _Level(40, 25, (64, 6, 50)),
    "leader-election": _Level(10, 0, (16, 4, 50)),
    "workload-high": _Level(40, 50, (128, 6, 50)),
    "workload-low": _Level(100, 90, (128, 6, 50)),
    "global-default": _Level(20, 50, (128, 6, 50)),
}


def objects(now: str) -> Iterator[Object]:
    """All of them; `now` is when their conditions became so."""
    yield _configuration("exempt", {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}})
    for name, level in _LEVELS.items():
        yield _configuration(name, {"type": "Limited", "limited": _limited(level)})
    yield from _schemas(now)


def _limited(level: _Level) -> Object:
    response: Object = {"type": "Reject"}
    if level.queues is not None:
        queues, hand, length = level.queues
        queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": length}
        response = {"type": "Queue", "queuing": queuing}
    return {
        "nominalConcurrencyShares": level.shares,
        "lendablePercent": level.lendable,
        "limitResponse": response,
    }


def _configuration(name: str, spec: Object) -> Object:
    return {
        "apiVersion": _API_VERSION,
        "kind": "PriorityLevelConfiguration",
        "metadata": {"name": name, "annotations": dict(_ANNOTATIONS)},
        "spec": spec,
    }


def _schemas(now: str) -> Iterator[Object]:
    probes: Object = {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}
    yield _schema("exempt", "exempt", 1, "", _all(["Group:system:masters"]), now=now)
    yield _schema("probes", "exempt", 2, "", _rules(_EVERYBODY, paths=[probes]), now=now)
    leaders = ["User:system:kube-controller-manager", "User:system:kube-scheduler", _SYSTEM_ACCOUNTS]
    yield _schema("system-leader-election", "leader-election", 100, "ByUser", _rules(leaders, [_LEADERS]), now=now)
    endpoints = (["get", "create", "update"], "", ["endpoints"], ["*"], False)
    yield _schema(
        "endpoint-controller", "workload-high", 150, "ByUser",
        _rules(
            ["User:system:kube-controller-manager", "ServiceAccount:endpoint-controller",
             "ServiceAccount:endpointslicemirroring-controller"], [endpoints],
        ),
        now=now,
    )  # fmt: skip
    yield _schema(
        "workload-leader-election", "leader-election", 200, "ByUser", _rules([_SYSTEM_ACCOUNTS], [_LEADERS]), now=now
    )
    node = (["*"], "", ["nodes", "nodes/status"], ["*"], True)
    lease = (["*"], "coordination.k8s.io", ["leases"], ["*"], False)
    nodes = ["Group:system:nodes"]
    yield _schema("system-node-high", "node-high", 400, "ByUser", _rules(nodes, [node, lease]), now=now)
    yield _schema("system-nodes", "system", 500, "ByUser", _all(nodes), now=now)
    for name in ("kube-controller-manager", "kube-scheduler"):
        yield _schema(name, "workload-high", 800, "ByNamespace", _all([f"User:system:{name}"]), now=now)
    yield _schema(
        "kube-system-service-accounts", "workload-high", 900, "ByNamespace", _all([_SYSTEM_ACCOUNTS]), now=now
    )
    accounts = _all(["Group:system:serviceaccounts"])
    yield _schema("service-accounts", "workload-low", 9000, "ByUser", accounts, now=now)
    yield _schema("global-default", "global-default", 9900, "ByUser", _all(_EVERYBODY), now=now)
    yield _schema("catch-all", "catch-all", 10000, "ByUser", _all(_EVERYBODY), now=now)


def _schema(name: str, level: str, precedence: int, distinguisher: str, rules: Object, *, now: str) -> Object:
    spec: Object = {
        "priorityLevelConfiguration": {"name": level},
        "matchingPrecedence": precedence,
        "rules": [rules],
    }
    if distinguisher:
        spec["distinguisherMethod"] = {"type": distinguisher}
    condition = {
        "type": "Dangling",
        "status": "False",
        "lastTransitionTime": now,
        "reason": "Found",
        "message": f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" and it exists',
    }
    return {
        "apiVersion": _API_VERSION,
        "kind": "FlowSchema",
        "metadata": {"name": name, "annotations": dict(_ANNOTATIONS)},
        "spec": spec,
        "status": {"conditions": [condition]},
    }


_Resources = tuple[list[str], str, list[str], list[str], bool]


def _all(subjects: list[str] | tuple[str, ...]) -> Object:
    return {
        "subjects": [_subject(text) for text in subjects],
        "resourceRules": [dict(_ALL_RESOURCES)],
        "nonResourceRules": [dict(_ALL_PATHS)],
    }


def _rules(
    subjects: list[str] | tuple[str, ...], resources: list[_Resources] | None = None, paths: list[Object] | None = None
) -> Object:
    made: Object = {"subjects": [_subject(text) for text in subjects]}
    if resources:
        made["resourceRules"] = [_resource_rule(rule) for rule in resources]
    if paths:
        made["nonResourceRules"] = paths
    return made


def _resource_rule(rule: _Resources) -> Object:
    verbs, group, resources, namespaces, cluster = rule
    made: Object = {"verbs": verbs, "apiGroups": [group], "resources": resources, "namespaces": namespaces}
    return {**made, "clusterScope": True} if cluster else made


def _subject(text: str) -> Object:
    """Of `Kind:name`; the ServiceAccounts are those of kube-system."""
    kind, _, name = text.partition(":")
    if kind == "ServiceAccount":
        return {"kind": kind, "serviceAccount": {"namespace": "kube-system", "name": name}}
    return {"kind": kind, kind.lower(): {"name": name}}
