"""The bootstrap policy's table as RBAC objects, those of one release of Kubernetes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from engine.api.types import Object
from engine.apiserver.authorization.controller_policy import CONTROLLERS, CONTROLLERS_SINCE
from engine.apiserver.authorization.policy import BINDINGS, LOCAL_ROLES, RBAC, ROLES

_API_VERSION = f"{RBAC}/v1"
_LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_ANNOTATIONS = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
_AGGREGATE = f"{RBAC}/aggregate-to-"
_NAMED = re.compile(r"(.+)\((.+)\)")


def rule(text: str) -> Object:
    """A PolicyRule of `groups: resources: verbs`, each part in order; behind `=` as it stands."""
    in_order: Callable[[Iterable[str]], list[str]] = list if text.startswith("=") else sorted
    groups, targets, verbs = text.removeprefix("=").split(": ")
    made: Object = {"verbs": in_order(verbs.split(","))}
    if groups == "url":
        return {"nonResourceURLs": in_order(targets.split(",")), **made}
    named = _NAMED.fullmatch(targets)
    if named is not None:
        targets = named[1]
        made["resourceNames"] = in_order(named[2].split(","))
    made["apiGroups"] = in_order("" if group == "core" else group for group in groups.split(","))
    made["resources"] = in_order(targets.split(","))
    return made


def _rules(texts: Iterable[str], release: tuple[int, int]) -> Iterator[Object]:
    """The rules that a release has."""
    for text in texts:
        told, _, since = text.partition(" @")
        if not since or tuple(map(int, since.split("."))) <= release:
            yield rule(told)


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


def cluster_roles(release: tuple[int, int]) -> Iterator[Object]:
    for name, role in ROLES.items():
        if release < role.since:
            continue
        labels = {f"{_AGGREGATE}{target}": "true" for target in role.aggregate_to}
        metadata = _metadata(name, labels=labels)
        if role.app:
            metadata = {"name": name, "labels": {"k8s-app": role.app, **labels}}
        made: Object = {
            "apiVersion": _API_VERSION,
            "kind": "ClusterRole",
            "metadata": metadata,
            "rules": list(_rules(_texts(name), release)),
        }
        if role.aggregates:
            selector = {"matchLabels": {f"{_AGGREGATE}{role.aggregates}": "true"}}
            made["aggregationRule"] = {"clusterRoleSelectors": [selector]}
        yield made
    for name in _controllers(release):
        yield {
            "apiVersion": _API_VERSION,
            "kind": "ClusterRole",
            "metadata": _metadata(f"system:controller:{name}"),
            "rules": list(_rules(CONTROLLERS[name], release)),
        }


def _controllers(release: tuple[int, int]) -> Iterator[str]:
    return (name for name in CONTROLLERS if release >= CONTROLLERS_SINCE.get(name, (0, 0)))


def _texts(name: str) -> tuple[str, ...]:
    """A role's rules; of one that is aggregated, those that the aggregation controller will find."""
    role = ROLES[name]
    if not role.aggregates:
        return role.rules
    parts = sorted(part for part, other in ROLES.items() if role.aggregates in other.aggregate_to)
    return tuple(dict.fromkeys(text for part in parts for text in _texts(part)))


def cluster_role_bindings(release: tuple[int, int]) -> Iterator[Object]:
    for name, subjects in BINDINGS.items():
        if release >= ROLES[name].since:
            yield _binding("ClusterRoleBinding", "ClusterRole", name, subjects=subjects)
    for name in _controllers(release):
        account = ("ServiceAccount", f"kube-system/{name}")
        yield _binding("ClusterRoleBinding", "ClusterRole", f"system:controller:{name}", subjects=(account,))


def _binding(
    kind: str,
    role_kind: str,
    role: str,
    *,
    subjects: tuple[tuple[str, str], ...],
    namespace: str = "",
    name: str = "",
) -> Object:
    """Of the role's name, unless it has its own."""
    made: Object = {
        "apiVersion": _API_VERSION,
        "kind": kind,
        "metadata": _metadata(name or role, namespace),
        "roleRef": {"apiGroup": RBAC, "kind": role_kind, "name": role},
    }
    if subjects:
        made["subjects"] = [_subject(*subject) for subject in subjects]
    return made


def node_rules(release: tuple[int, int]) -> tuple[Object, ...]:
    """What all nodes may do, whatever the objects say (bootstrappolicy NodeRules)."""
    return tuple(_rules(ROLES["system:node"].rules, release))


def roles(release: tuple[int, int]) -> Iterator[Object]:
    for name, places in LOCAL_ROLES.items():
        for place in places:
            yield {
                "apiVersion": _API_VERSION,
                "kind": "Role",
                "metadata": _metadata(name, place.namespace),
                "rules": list(_rules(place.rules, release)),
            }


def role_bindings() -> Iterator[Object]:
    for name, places in LOCAL_ROLES.items():
        for place in places:
            if place.subjects:
                where, own = place.namespace, place.binding
                yield _binding("RoleBinding", "Role", name, subjects=place.subjects, namespace=where, name=own)
