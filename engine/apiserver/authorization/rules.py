"""PolicyRules: does one cover a request (pkg/apis/rbac/v1 evaluation_helpers.go)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.types import Object

ALL = "*"


def covers_resource(rule: Object, *, verb: str, group: str, resource: str, subresource: str) -> bool:
    """Whether a rule covers a verb on a resource, its resourceNames left aside."""
    verbs = rule.get("verbs") or ()
    if verb not in verbs and ALL not in verbs:
        return False
    groups = rule.get("apiGroups") or ()
    if group not in groups and ALL not in groups:
        return False
    resources = rule.get("resources") or ()
    if ALL in resources:
        return True
    if not subresource:
        return resource in resources
    return f"{resource}/{subresource}" in resources or f"*/{subresource}" in resources


def covers_path(rule: Object, *, verb: str, path: str) -> bool:
    verbs = rule.get("verbs") or ()
    if verb not in verbs and ALL not in verbs:
        return False
    return any(path_matches(pattern, path) for pattern in rule.get("nonResourceURLs") or ())


def path_matches(pattern: str, path: str) -> bool:
    if pattern in (ALL, path):
        return True
    return pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL))


def names_of(rule: Object) -> frozenset[str] | None:
    """The only names that a rule is for; None for all."""
    names: Iterable[str] = rule.get("resourceNames") or ()
    return frozenset(names) or None
