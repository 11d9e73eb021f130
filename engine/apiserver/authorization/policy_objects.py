"""The bootstrap policy's table as RBAC objects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.api.types import Object
from engine.apiserver.authorization.controller_policy import CONTROLLERS
from engine.apiserver.authorization.policy import BINDINGS, LOCAL_ROLES, RBAC, ROLES

_API_VERSION = f"{RBAC}/v1"
_LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_ANNOTATIONS = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
_AGGREGATE = f"{RBAC}/aggregate-to-"
_NAMED = re.compile(r"(.+)\((.+)\)")


def rule(text: str) -> Object:
    """A PolicyRule of `groups: resources: verbs`."""
    groups, targets, verbs = text.split(": ")
    made: Object = {"verbs": verbs.split(",")}
    if groups == "url":
        return {"nonResourceURLs": targets.split(","), **made}
    named = _NAMED.fullmatch(targets)
    if named is not None:
        targets = named[1]
        made["resourceNames"] = named[2].split(",")
    made["apiGroups"] = ["" if group == "core" else group for group in groups.split(",")]
    made["resources"] = targets.split(",")
    return made


def _metadata(name: str, namespace: str = "", labels: dict[str, str] | None = None) -> Object:
    metadata: Object = {"name": name, "labels": {**_LABELS, **(labels or {})}, "annotations": dict(_ANNOTATIONS)}
    if namespace:
        metadata["namespace"] = namespace
    return metadata


def _subject(kind: str, name: str) -> Object:
    if kind == "ServiceAccount":
        namespace, _, account = name.partition("/")
        return {"kind": kind, "name": account, "namespace": namespace}
    return {"kind": kind, "apiGroup": RBAC, "name": name}


def cluster_roles() -> Iterator[Object]:
    for name, role in ROLES.items():
        labels = {f"{_AGGREGATE}{target}": "true" for target in role.aggregate_to}
        metadata = _metadata(name, labels=labels)
        if role.app:
            metadata = {"name": name, "labels": {"k8s-app": role.app, **labels}}
        made: Object = {
            "apiVersion": _API_VERSION,
            "kind": "ClusterRole",
            "metadata": metadata,
            "rules": [rule(text) for text in _rules(name)],
        }
        if role.aggregates:
            selector = {"matchLabels": {f"{_AGGREGATE}{role.aggregates}": "true"}}
            made["aggregationRule"] = {"clusterRoleSelectors": [selector]}
        yield made
    for name, rules in CONTROLLERS.items():
        yield {
            "apiVersion": _API_VERSION,
            "kind": "ClusterRole",
            "metadata": _metadata(f"system:controller:{name}"),
            "rules": [rule(text) for text in rules],
        }


def _rules(name: str) -> tuple[str, ...]:
    """A role's rules; of one that is aggregated, those that the aggregation controller will find."""
    role = ROLES[name]
    if not role.aggregates:
        return role.rules
    parts = sorted(part for part, other in ROLES.items() if role.aggregates in other.aggregate_to)
    return tuple(dict.fromkeys(text for part in parts for text in _rules(part)))


def cluster_role_bindings() -> Iterator[Object]:
    for name, subjects in BINDINGS.items():
        yield _binding("ClusterRoleBinding", "ClusterRole", name, subjects=subjects)
    for name in CONTROLLERS:
        account = ("ServiceAccount", f"kube-system/{name}")
        yield _binding("ClusterRoleBinding", "ClusterRole", f"system:controller:{name}", subjects=(account,))


def _binding(
    kind: str, role_kind: str, name: str, *, subjects: tuple[tuple[str, str], ...], namespace: str = ""
) -> Object:
    made: Object = {
        "apiVersion": _API_VERSION,
        "kind": kind,
        "metadata": _metadata(name, namespace),
        "roleRef": {"apiGroup": RBAC, "kind": role_kind, "name": name},
    }
    if subjects:
        made["subjects"] = [_subject(*subject) for subject in subjects]
    return made


def node_rules() -> tuple[Object, ...]:
    """What all nodes may do, whatever the objects say (bootstrappolicy NodeRules)."""
    return tuple(rule(text) for text in ROLES["system:node"].rules)


def roles() -> Iterator[Object]:
    for name, places in LOCAL_ROLES.items():
        for place in places:
            yield {
                "apiVersion": _API_VERSION,
                "kind": "Role",
                "metadata": _metadata(name, place.namespace),
                "rules": [rule(text) for text in place.rules],
            }


def role_bindings() -> Iterator[Object]:
    for name, places in LOCAL_ROLES.items():
        for place in places:
            if place.subjects:
                yield _binding("RoleBinding", "Role", name, subjects=place.subjects, namespace=place.namespace)
