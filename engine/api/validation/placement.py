"""Where a Pod may run: affinity, tolerations, taints, spread constraints (core validation)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.go_values import internal
from engine.api.validation.labels import label_key, label_selector, label_values
from engine.api.validation.problems import Problems

_OPERATORS = ("Equal", "Exists", "Lt", "Gt")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_WEIGHT_TEXT = "must be in the range 1-100"
_NO_SELECTOR = "must not be specified when labelSelector is not set"
_IN_BOTH = "exists in both matchLabelKeys and labelSelector"
_ALL_KEYS_TEXT = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'


def affinity(found: Object, path: str, problems: Problems) -> None:
    if "nodeAffinity" in found:
        _node_affinity(found["nodeAffinity"], f"{path}.nodeAffinity", problems)
    for side in ("podAffinity", "podAntiAffinity"):
        if side in found:
            _pod_affinity(found[side], f"{path}.{side}", problems)


def _node_affinity(found: Object, path: str, problems: Problems) -> None:
    if _REQUIRED in found:
        node_selector(found[_REQUIRED], f"{path}.{_REQUIRED}", problems)
    for index, term in enumerate(found.get(_PREFERRED, ())):
        at = f"{path}.{_PREFERRED}[{index}]"
        _weight(term, at, problems)
        node_selector_term(term.get("preference", {}), f"{at}.preference", problems, check_values=False)


def _weight(term: Object, path: str, problems: Problems) -> None:
    weight = term.get("weight", 0)
    if not 1 <= weight <= 100:
        problems.invalid(f"{path}.weight", weight, _WEIGHT_TEXT)


def node_selector(selector: Object, path: str, problems: Problems, *, check_values: bool = True) -> None:
    terms = selector.get("nodeSelectorTerms", ())
    if not terms:
        problems.required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        node_selector_term(term, f"{path}.nodeSelectorTerms[{index}]", problems, check_values=check_values)


def node_selector_term(term: Object, path: str, problems: Problems, *, check_values: bool = True) -> None:
    for index, requirement in enumerate(term.get("matchExpressions", ())):
        _node_requirement(requirement, f"{path}.matchExpressions[{index}]", problems, check_values=check_values)
    for index, requirement in enumerate(term.get("matchFields", ())):
        _node_field(requirement, f"{path}.matchFields[{index}]", problems)


def _node_requirement(requirement: Object, path: str, problems: Problems, *, check_values: bool) -> None:
    operator, values = requirement.get("operator", ""), requirement.get("values", ())
    if operator in ("In", "NotIn"):
        if not values:
            problems.required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            problems.forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            problems.required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        problems.invalid(f"{path}.operator", operator, "not a valid selector operator")
    label_key(requirement.get("key", ""), f"{path}.key", problems)
    if check_values:
        label_values(values, f"{path}.values", problems)


def _node_field(requirement: Object, path: str, problems: Problems) -> None:
    operator, values = requirement.get("operator", ""), requirement.get("values", ())
    if operator not in ("In", "NotIn"):
        problems.invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        problems.required(f"{path}.values", detail)
    if requirement.get("key") != "metadata.name":
        problems.invalid(f"{path}.key", requirement.get("key", ""), "not a valid field selector key")
    else:
        for index, value in enumerate(values):
            problems.all_invalid(f"{path}.values[{index}]", value, text.dns_subdomain(value))


def _pod_affinity(found: Object, path: str, problems: Problems) -> None:
    for index, term in enumerate(found.get(_REQUIRED, ())):
        _pod_term(term, f"{path}.{_REQUIRED}[{index}]", problems)
    for index, weighted in enumerate(found.get(_PREFERRED, ())):
        at = f"{path}.{_PREFERRED}[{index}]"
        _weight(weighted, at, problems)
        _pod_term(weighted.get("podAffinityTerm", {}), f"{at}.podAffinityTerm", problems)


def _pod_term(term: Object, path: str, problems: Problems) -> None:
    label_selector(term.get("labelSelector"), f"{path}.labelSelector", problems)
    label_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector", problems)
    for name in term.get("namespaces", ()):
        problems.all_invalid(f"{path}.namespace", name, text.dns_label(name))
    _match_label_keys(term, path, problems)
    key = term.get("topologyKey", "")
    if not key:
        problems.required(f"{path}.topologyKey", "can not be empty")
    label_key(key, f"{path}.topologyKey", problems)


def _match_label_keys(term: Object, path: str, problems: Problems) -> None:
    """Labels that are to be as (or other than) the Pod's own; those that match have become part of the selector."""
    same, other, selector = term.get("matchLabelKeys", ()), term.get("mismatchLabelKeys", ()), term.get("labelSelector")
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        if selector is None and term.get(field):
            problems.forbidden(f"{path}.{field}", _NO_SELECTOR)
        elif selector is not None:
            for index, key in enumerate(term.get(field, ())):
                label_key(key, f"{path}.{field}[{index}]", problems)
    places = {key: index for index, key in enumerate(same)}
    seen = set((selector or {}).get("matchLabels", {}))
    for expression in (selector or {}).get("matchExpressions", ()):
        key = expression.get("key", "")
        if key in places and key in seen:
            problems.invalid(f"{path}[{places[key]}]", key, _IN_BOTH)
        seen.add(key)
    for index, key in enumerate(same):
        if key in other:
            detail = "exists in both matchLabelKeys and mismatchLabelKeys"
            problems.invalid(f"{path}.matchLabelKeys[{index}]", key, detail)


def tolerations(found: Sequence[Object], path: str, problems: Problems) -> None:
    for index, toleration in enumerate(found):
        _toleration(toleration, f"{path}[{index}]", problems)


def _toleration(toleration: Object, path: str, problems: Problems) -> None:
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    value, effect = toleration.get("value", ""), toleration.get("effect", "")
    if key:
        label_key(key, f"{path}.key", problems)
    elif operator != "Exists":
        problems.invalid(f"{path}.operator", operator, _ALL_KEYS_TEXT)
    if "tolerationSeconds" in toleration and effect != "NoExecute":
        problems.invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    if operator in ("Equal", ""):
        wrong = text.label_value(value)
        if wrong:
            problems.invalid(f"{path}.operator", value, ";".join(wrong))
    elif operator == "Exists":
        if value:
            problems.invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    else:  # Lt and Gt are known, though only for clusters that turn the feature on
        known = _OPERATORS if operator in _OPERATORS else _OPERATORS[:2]
        problems.not_supported(f"{path}.operator", operator, known)
    if effect and effect not in _EFFECTS:
        problems.not_supported(f"{path}.effect", effect, _EFFECTS)


def taints(found: Sequence[Object], path: str, problems: Problems) -> None:
    seen = set()
    for index, taint in enumerate(found):
        at = f"{path}[{index}]"
        key, effect = taint.get("key", ""), taint.get("effect", "")
        label_key(key, f"{at}.key", problems)
        wrong = text.label_value(taint.get("value", ""))
        if wrong:
            problems.invalid(f"{at}.value", taint.get("value", ""), ";".join(wrong))
        problems.one_of(f"{at}.effect", effect, _EFFECTS)
        if (key, effect) in seen:
            problems.duplicate(at, internal("Taint", taint), "taints must be unique by key and effect pair")
        seen.add((key, effect))


def spread_constraints(found: Sequence[Object], path: str, problems: Problems) -> None:
    pairs = [(each.get("topologyKey", ""), each.get("whenUnsatisfiable", "")) for each in found]
    last = {pair: index for index, pair in enumerate(pairs)}
    for index, constraint in enumerate(found):
        at = f"{path}[{index}]"
        skew = constraint.get("maxSkew", 0)
        if skew <= 0:
            problems.invalid(f"{at}.maxSkew", skew, "must be greater than zero")
        key, when = pairs[index]
        if not key:
            problems.required(f"{at}.topologyKey", "can not be empty")
        if when not in ("DoNotSchedule", "ScheduleAnyway"):
            problems.not_supported(f"{at}.whenUnsatisfiable", when, ("DoNotSchedule", "ScheduleAnyway"))
        if last[key, when] > index:  # the earlier one is blamed
            problems.duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {when}}}")
        _spread_options(constraint, at, problems)


def _spread_options(constraint: Object, path: str, problems: Problems) -> None:
    least, when = constraint.get("minDomains"), constraint.get("whenUnsatisfiable", "")
    if least is not None:
        if least <= 0:
            problems.invalid(f"{path}.minDomains", least, "must be greater than zero")
        if when != "DoNotSchedule":
            detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
            problems.invalid(f"{path}.minDomains", least, detail)
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if field in constraint and constraint[field] not in ("Honor", "Ignore"):
            problems.not_supported(f"{path}.{field}", constraint[field], ("Honor", "Ignore"))
    _match_label_keys(constraint, path, problems)
    label_selector(constraint.get("labelSelector"), f"{path}.labelSelector", problems)
