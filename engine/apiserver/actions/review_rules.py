"""What a SubjectAccessReview and its sisters must be (pkg/apis/authorization/validation)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.api.errors import ApiError, Cause
from engine.api.selectors import FieldSelector, LabelSelector
from engine.api.types import Object
from engine.api.validation.go_values import internal
from engine.api.validation.labels import label_requirement
from engine.api.validation.problems import Problems

_OWN, _LOCAL = "SelfSubjectAccessReview", "LocalSubjectAccessReview"
_UNION_SINCE = (1, 37)
_ONE_OF_BOTH = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
_WITH_VALUES, _WITHOUT_VALUES = ("In", "NotIn"), ("Exists", "DoesNotExist")


def access_causes(review: Object, namespace: str, release: tuple[int, int]) -> list[Cause]:
    """`namespace` is that of the request; since 1.37 what is asked of both or of neither is wrong with the spec."""
    kind, spec = review["kind"], review.get("spec") or {}
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    problems = Problems()
    if release >= _UNION_SINCE:
        if (resource is None) == (path is None):
            problems.invalid("spec", None if path is None else internal("NonResourceAttributes", path), _ONE_OF_BOTH)
    elif resource is not None and path is not None:
        text = "cannot be specified in combination with resourceAttributes"
        problems.invalid("spec.nonResourceAttributes", internal("NonResourceAttributes", path), text)
    elif resource is None and path is None:
        problems.invalid("spec.resourceAttributes", None, _ONE_OF_BOTH)
    if kind != _OWN and not spec.get("user") and not spec.get("groups"):
        problems.invalid("spec.user", "", "at least one of user or group must be specified")
    if resource is not None:
        _selectors(resource, problems)
    _metadata(kind, review.get("metadata") or {}, problems)
    if kind == _LOCAL:
        if resource is not None and resource.get("namespace", "") != namespace:
            path_ = "spec.resourceAttributes.namespace"
            problems.invalid(path_, resource.get("namespace", ""), "must match metadata.namespace")
        if path is not None:
            shown = internal("NonResourceAttributes", path)
            problems.invalid("spec.nonResourceAttributes", shown, "disallowed on this kind of request")
    return problems


def _metadata(kind: str, metadata: Object, problems: Problems) -> None:
    allowed = ("managedFields", "creationTimestamp", *(("namespace",) if kind == _LOCAL else ()))
    if any(value for field, value in metadata.items() if field not in allowed):
        shown = {field: value for field, value in metadata.items() if value is not None}
        problems.invalid("metadata", shown, f"must be empty{' except for namespace' if kind == _LOCAL else ''}")


def _selectors(resource: Object, problems: Problems) -> None:
    for field in ("fieldSelector", "labelSelector"):
        selector = resource.get(field)
        if selector is None:
            continue
        path = f"spec.resourceAttributes.{field}"
        raw, requirements = selector.get("rawSelector", ""), selector.get("requirements") or ()
        if raw and requirements:
            problems.invalid(f"{path}.rawSelector", raw, "may not specified at the same time as requirements")
        if not raw and not requirements:
            text = f"when {path} is specified, requirements or rawSelector is required"
            problems.required(f"{path}.requirements", text)
        for position, requirement in enumerate(requirements):
            at = f"{path}.requirements[{position}]"
            if field == "labelSelector":
                label_requirement(requirement, at, problems, any_operator=True)
            else:
                _field_requirement(at, requirement, problems)


def _field_requirement(path: str, requirement: Any, problems: Problems) -> None:
    """Operators that are not known are let pass: newer clients may know them."""
    operator, values = requirement.get("operator", ""), requirement.get("values")
    if not requirement.get("key"):
        problems.required(f"{path}.key", "must be specified")
    if operator in _WITH_VALUES and not values:
        problems.required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    if operator in _WITHOUT_VALUES and values:
        problems.forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")


def evaluation_error(resource: Object) -> str:
    """Which selectors of a question count for nothing, or not as a whole (registry/authorization/util helpers.go)."""
    told = []
    for field, parse, is_known in (
        ("fieldSelector", FieldSelector.parse, _is_known_field),
        ("labelSelector", LabelSelector.parse, _is_known_label),
    ):
        selector = resource.get(field) or {}
        known = [is_known(each) for each in selector.get("requirements") or ()]
        if raw := selector.get("rawSelector"):
            known.append(_parses(parse, raw))
        if not all(known):
            partially = "partially " if any(known) else ""
            told.append(f"spec.resourceAttributes.{field} {partially}ignored due to parse error")
    return "; ".join(told)


def _is_known_field(requirement: Object) -> bool:
    return requirement.get("operator") in _WITH_VALUES and len(requirement.get("values") or ()) == 1


def _is_known_label(requirement: Object) -> bool:
    return requirement.get("operator") in (*_WITH_VALUES, *_WITHOUT_VALUES)


def _parses(parse: Callable[[str], object], raw: str) -> bool:
    try:
        parse(raw)
    except ApiError:
        return False
    return True


def field_selector(attributes: Object) -> str:
    """The selector as a request has it; what only a newer server would understand restricts nothing."""
    if raw := attributes.get("rawSelector"):
        return str(raw)
    terms = []
    for requirement in attributes.get("requirements") or ():
        values = requirement.get("values") or []
        sign = {"In": "=", "NotIn": "!="}.get(requirement.get("operator", ""))
        if sign is not None and len(values) == 1:
            terms.append(f"{requirement.get('key', '')}{sign}{values[0]}")
    return ",".join(terms)
