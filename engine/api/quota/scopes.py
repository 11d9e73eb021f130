"""Which objects a quota with scopes is about (pkg/quota/v1/evaluator/core pods.go podMatchesScopeFunc)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from engine.api.qos import qos_class
from engine.api.types import Object


def matches(quota_spec: Object, group_resource: str, obj: Object) -> bool:
    """Whether all scopes of the quota match an object. Only Pods have scopes, and claims a class of attributes."""
    return all(_matches(term, group_resource, obj) for term in terms(quota_spec))


def matching_terms(of: Iterable[Object], group_resource: str, obj: Object) -> list[Object]:
    """Those that match an object (the evaluators' MatchingScopes)."""
    return [term for term in of if _matches(term, group_resource, obj)]


def terms(quota_spec: Object) -> Iterator[Object]:
    """The old scopes, and the terms of the scope selector."""
    for scope in quota_spec.get("scopes") or ():
        yield {"scopeName": scope, "operator": "Exists"}
    yield from (quota_spec.get("scopeSelector") or {}).get("matchExpressions") or ()


def _matches(term: Object, group_resource: str, obj: Object) -> bool:
    scope = term["scopeName"]
    if group_resource == "persistentvolumeclaims" and scope == "VolumeAttributesClass":
        return any(_selected(term, name) for name in _attributes_classes(obj) or [""])
    if group_resource != "pods":
        return False
    spec = obj.get("spec") or {}
    match scope:
        case "Terminating":
            return is_terminating(obj)
        case "NotTerminating":
            return not is_terminating(obj)
        case "BestEffort":
            return qos_class(obj) == "BestEffort"
        case "NotBestEffort":
            return qos_class(obj) != "BestEffort"
        case "PriorityClass":
            return _selected(term, spec.get("priorityClassName") or "")
        case "CrossNamespacePodAffinity":
            return _crosses_namespaces(spec.get("affinity") or {})
    return False


def is_terminating(pod: Object) -> bool:
    """Whether a Pod ends by itself, in the words of the scope Terminating."""
    deadline = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return deadline is not None and deadline >= 0


def _attributes_classes(claim: Object) -> list[str]:
    """All that a claim has to do with: the class that it asks for, the one it has, and the one it is brought to."""
    spec, status = claim.get("spec") or {}, claim.get("status") or {}
    target = (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName")
    names = (spec.get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName"), target)
    return [name for name in names if name]


def _selected(term: Object, value: str) -> bool:
    values = term.get("values") or ()
    match term.get("operator"):
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return bool(value)
        case "DoesNotExist":
            return not value
    return False


def _crosses_namespaces(affinity: Object) -> bool:
    for kind in ("podAffinity", "podAntiAffinity"):
        part = affinity.get(kind) or {}
        found: list[Any] = [*(part.get("requiredDuringSchedulingIgnoredDuringExecution") or ())]
        preferred = part.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        found += [weighted.get("podAffinityTerm") or {} for weighted in preferred]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in found):
            return True
    return False
