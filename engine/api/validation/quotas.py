"""ResourceQuotas and LimitRanges (core validation)."""

from __future__ import annotations

from typing import Any

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.go_values import internal
from engine.api.validation.problems import IMMUTABLE, Problems
from engine.api.validation.resources import (
    container_resource_name,
    overcommit,
    quantity,
    quota_resource_name,
    resource_name,
    standard_quota_resource,
)

_TERMINATING = ("Terminating", "NotTerminating")
_EXISTS_ONLY = (*_TERMINATING, "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity")
_SCOPES = (*_EXISTS_ONLY, "PriorityClass", "VolumeAttributesClass")
_CONFLICTS = (("BestEffort", "NotBestEffort"), _TERMINATING)
_NOT_EXISTS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
_OF_PODS = frozenset(("pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"))


def resource_quota(obj: Object, problems: Problems) -> None:
    _spec(obj.get("spec", {}), problems)
    resource_quota_status(obj, obj, problems)


def _spec(spec: Object, problems: Problems) -> None:
    hard, scopes = spec.get("hard", {}), spec.get("scopes", [])
    _amounts(hard, "spec.hard", problems)
    for scope in scopes:
        _scope(scope, hard, "spec.scopes", problems, shown=scopes, unknown_path="spec.scopes", unknown=scopes)
    _conflicts(scopes, scopes, "spec.scopes", problems)
    if "scopeSelector" in spec:
        _selector(spec, hard, "spec.scopeSelector.matchExpressions", problems)


def _amounts(amounts: Object, path: str, problems: Problems) -> None:
    for name, amount in amounts.items():
        quota_resource_name(name, f"{path}[{name}]", problems)
        quantity(name, amount, f"{path}[{name}]", problems)


def _scope(
    scope: str, hard: Object, path: str, problems: Problems, *, shown: Any, unknown_path: str, unknown: Any
) -> None:
    if scope not in _SCOPES:
        problems.invalid(unknown_path, unknown, "unsupported scope")
    for name in sorted(hard):
        if standard_quota_resource(name) and not _applies(scope, name):
            problems.invalid(path, shown, "unsupported scope applied to resource")


def _applies(scope: str, name: str) -> bool:
    """Which resources may be counted by scope (IsResourceQuotaScopeValidForResource)."""
    claims = name in ("persistentvolumeclaims", "requests.storage")
    match scope:
        case "BestEffort":
            return name == "pods"
        case "VolumeAttributesClass":
            return claims
        case "Terminating" | "NotTerminating" | "NotBestEffort" | "PriorityClass" | "CrossNamespacePodAffinity":
            return name in _OF_PODS
        case _:
            return True


def _conflicts(scopes: list[str], shown: Any, path: str, problems: Problems) -> None:
    for pair in _CONFLICTS:
        if all(scope in scopes for scope in pair):
            problems.invalid(path, shown, "conflicting scopes")


def _selector(spec: Object, hard: Object, path: str, problems: Problems) -> None:
    expressions = spec["scopeSelector"].get("matchExpressions", [])
    shown = {"MatchExpressions": [internal("ScopedResourceSelectorRequirement", each) for each in expressions]}
    for expression in expressions:
        scope, operator = expression.get("scopeName", ""), expression.get("operator", "")
        values = expression.get("values", [])
        _scope(scope, hard, path, problems, shown=shown, unknown_path=f"{path}.scopeName", unknown=scope)
        if scope in _EXISTS_ONLY and operator != "Exists":
            problems.invalid(f"{path}.operator", operator, _NOT_EXISTS)
        if operator in ("In", "NotIn"):
            if not values:
                detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                problems.required(f"{path}.values", detail)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                problems.invalid(f"{path}.values", values, detail)
        else:
            problems.invalid(f"{path}.operator", operator, "not a valid selector operator")
    _conflicts([each.get("scopeName", "") for each in expressions], spec.get("scopes"), path, problems)


def resource_quota_update(new: Object, old: Object, problems: Problems) -> None:
    _spec(new.get("spec", {}), problems)
    scopes, before = new.get("spec", {}).get("scopes", []), old.get("spec", {}).get("scopes", [])
    if set(scopes) != set(before):
        problems.invalid("spec.scopes", scopes or None, IMMUTABLE)


def resource_quota_status(new: Object, old: Object, problems: Problems) -> None:
    for field in ("hard", "used"):
        _amounts(new.get("status", {}).get(field, {}), f"status.{field}", problems)


_LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")


def limit_range(obj: Object, problems: Problems) -> None:
    seen = set()
    for index, limit in enumerate(obj.get("spec", {}).get("limits", ())):
        path, kind = f"spec.limits[{index}]", limit.get("type", "")
        wrong = text.qualified_name(kind)
        problems.all_invalid(f"{path}.type", kind, wrong)
        if not wrong and "/" not in kind and kind not in _LIMIT_TYPES:
            problems.invalid(f"{path}.type", kind, "must be a standard limit type or fully qualified")
        if kind in seen:
            problems.duplicate(f"{path}.type", kind)
        seen.add(kind)
        _limit_names(limit, path, kind, problems)
        fields = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
        for name in dict.fromkeys(name for field in fields for name in limit.get(field, {})):
            _limit(limit, name, path, kind, problems)


def _limit_names(limit: Object, path: str, kind: str, problems: Problems) -> None:
    rule = container_resource_name if kind in ("Pod", "Container") else resource_name
    for field in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
        if field == "maxLimitRequestRatio" and kind == "PersistentVolumeClaim":
            _storage_bounds(limit, path, problems)
        if kind == "Pod" and field.startswith("default"):
            if limit.get(field):
                problems.forbidden(f"{path}.{field}", "may not be specified when `type` is 'Pod'")
            continue
        for name in limit.get(field, {}):
            rule(name, f"{path}.{field}[{name}]", problems)


def _storage_bounds(limit: Object, path: str, problems: Problems) -> None:
    if not any("storage" in limit.get(field, {}) for field in ("min", "max")):
        detail = "either minimum or maximum storage value is required, but neither was provided"
        problems.required(f"{path}.limits", detail)


# What may not be more than what, whose field and which of the two the error names, and in which words.
_ORDER = (
    ("min", "max", "min", "min", "min value {} is greater than max value {}"),
    (
        "min",
        "defaultRequest",
        "defaultRequest",
        "defaultRequest",
        "min value {} is greater than default request value {}",
    ),
    (
        "defaultRequest",
        "max",
        "defaultRequest",
        "defaultRequest",
        "default request value {} is greater than max value {}",
    ),
    (
        *("defaultRequest", "default", "defaultRequest", "defaultRequest"),
        "default request value {} is greater than default limit value {}",
    ),
    ("min", "default", "default", "min", "min value {} is greater than default value {}"),
    ("default", "max", "default", "max", "default value {} is greater than max value {}"),
)


def _limit(limit: Object, name: str, path: str, kind: str, problems: Problems) -> None:
    amounts = {field: amount[name] for field, amount in limit.items() if isinstance(amount, dict) and name in amount}
    if kind == "Pod":
        amounts = {field: amount for field, amount in amounts.items() if not field.startswith("default")}
    for low, high, at, shown, words in _ORDER:
        if low in amounts and high in amounts and Quantity.parse(amounts[low]) > Quantity.parse(amounts[high]):
            detail = words.format(amounts[low], amounts[high])
            problems.invalid(f"{path}.{at}[{name}]", amounts[shown], detail)
    if "maxLimitRequestRatio" in amounts:
        _ratio(amounts, f"{path}.maxLimitRequestRatio[{name}]", problems)
    default, request = amounts.get("default"), amounts.get("defaultRequest")
    if None in (default, request) or overcommit(name):
        return
    if Quantity.parse(amounts["default"]) != Quantity.parse(amounts["defaultRequest"]):
        detail = f"default value {default} must equal to defaultRequest value {request} in {name}"
        problems.invalid(f"{path}.defaultRequest[{name}]", request, detail)


def _ratio(amounts: Object, path: str, problems: Problems) -> None:
    """How many times its request a limit may be: at least once, and no more than the bounds allow."""
    ratio = amounts["maxLimitRequestRatio"]
    value = Quantity.parse(ratio)
    if value < Quantity.of(1):
        problems.invalid(path, ratio, f"ratio {ratio} is less than 1")
    least, most = (Quantity.parse(amounts.get(field, "0")).milli for field in ("min", "max"))
    if least and "max" in amounts and value.milli / 1000 > most / least:
        problems.invalid(path, ratio, f"ratio {ratio} is greater than max/min = {most / least:f}")
