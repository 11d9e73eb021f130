"""Flow schemas and priority levels of API priority and fairness (pkg/apis/flowcontrol/validation)."""

from __future__ import annotations

import math

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.mandatory_flow_control import EXEMPT, mandatory_level, mandatory_schema
from engine.api.validation.problems import Problems

_HIGHEST_PRECEDENCE = 10000
_ZERO_SHARES = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
_DISTINGUISHERS = ("ByNamespace", "ByUser")
_SUBJECTS = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_NAMESPACE_TEXT = "each member of this list must be '*' or a DNS-1123 label; "
_COUNT_TEXT = "must be a non-negative integer"
_PERCENT_TEXT = "must be between 0 and 100, inclusive"
_MOST_QUEUES = 10_000_000
_HASH_BITS = 60  # that a request's hash has for the choice of its queues


def flow_schema(obj: Object, problems: Problems) -> None:
    spec, name = obj.get("spec") or {}, obj.get("metadata", {}).get("name", "")
    _precedence(spec.get("matchingPrecedence", 0), name, problems)
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in _DISTINGUISHERS:
        shown = {"Type": method.get("type", "")}
        problems.not_supported("spec.distinguisherMethod.type", shown, _DISTINGUISHERS)
    level = (spec.get("priorityLevelConfiguration") or {}).get("name", "")
    if level:
        problems.all_invalid("spec.priorityLevelConfiguration.name", level, text.dns_subdomain(level))
    else:
        problems.required("spec.priorityLevelConfiguration.name", "must reference a priority level")
    for index, rule in enumerate(spec.get("rules") or ()):
        _rule(rule, f"spec.rules[{index}]", problems)
    mandatory_schema(name, spec, problems)


def _precedence(value: int, name: str, problems: Problems) -> None:
    path = "spec.matchingPrecedence"
    if value <= 0:
        problems.invalid(path, value, "must be a positive value")
    if value > _HIGHEST_PRECEDENCE:
        problems.invalid(path, value, f"must not be greater than {_HIGHEST_PRECEDENCE}")
    if value == 1 and name != EXEMPT:
        problems.invalid(path, value, "only the schema named 'exempt' may have matchingPrecedence 1")


def _rule(rule: Object, path: str, problems: Problems) -> None:
    for index, subject in enumerate(rule.get("subjects") or ()):
        _subject(subject, f"{path}.subjects[{index}]", problems)
    if not rule.get("subjects"):
        problems.required(f"{path}.subjects", "subjects must contain at least one value")
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        detail = "at least one of resourceRules and nonResourceRules has to be non-empty"
        problems.required(path, detail)
    for index, found in enumerate(rule.get("resourceRules") or ()):
        _resource_rule(found, f"{path}.resourceRules[{index}]", problems)
    for index, found in enumerate(rule.get("nonResourceRules") or ()):
        _non_resource_rule(found, f"{path}.nonResourceRules[{index}]", problems)


def _subject(subject: Object, path: str, problems: Problems) -> None:
    kind = subject.get("kind", "")
    own = _SUBJECTS.get(kind)
    if own is None:
        problems.not_supported(f"{path}.kind", kind, sorted(_SUBJECTS))
        return
    found = subject.get(own)
    if found is None:
        problems.required(f"{path}.{own}", f"{own} is required when subject kind is '{kind}'")
    else:
        _named_subject(found, f"{path}.{own}", problems, account=own == "serviceAccount")
    for other in ("serviceAccount", "user", "group"):
        if other != own and subject.get(other) is not None:
            other_kind = next(word for word, field in _SUBJECTS.items() if field == other)
            detail = f"{other} is forbidden when subject kind is not '{other_kind}'"
            problems.forbidden(f"{path}.{other}", detail)


def _named_subject(subject: Object, path: str, problems: Problems, *, account: bool) -> None:
    name = subject.get("name", "")
    if not name:
        problems.required(f"{path}.name")
    elif account and name != "*":
        problems.all_invalid(f"{path}.name", name, text.dns_subdomain(name))
    if account:
        namespace = subject.get("namespace", "")
        if namespace:
            problems.all_invalid(f"{path}.namespace", namespace, text.dns_label(namespace))
        else:
            problems.required(f"{path}.namespace", "must specify namespace for service account")


def _verbs(rule: Object, path: str, problems: Problems) -> None:
    verbs = rule.get("verbs") or []
    if not verbs:
        problems.required(f"{path}.verbs", "verbs must contain at least one value")
    elif "*" in verbs:
        _alone(verbs, f"{path}.verbs", "verbs", problems)
    elif not set(verbs) <= set(_VERBS):
        problems.not_supported(f"{path}.verbs", verbs, _VERBS)


def _alone(values: list[str], path: str, noun: str, problems: Problems) -> None:
    """All says it: what else is named beside it is a mistake."""
    if len(values) > 1:
        problems.invalid(path, values, f"if '*' is present, must not specify other {noun}")


def _resource_rule(rule: Object, path: str, problems: Problems) -> None:
    _verbs(rule, path, problems)
    for field, one, many in (("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")):
        values = rule.get(field) or []
        if not values:
            problems.required(f"{path}.{field}", f"resource rules must supply at least one {one}")
        elif "*" in values:
            _alone(values, f"{path}.{field}", many, problems)
    _namespaces(rule, f"{path}.namespaces", problems)


def _namespaces(rule: Object, path: str, problems: Problems) -> None:
    names = rule.get("namespaces") or []
    if not names and not rule.get("clusterScope"):
        detail = "resource rules that are not cluster scoped must supply at least one namespace"
        problems.required(path, detail)
    elif "*" in names:
        _alone(names, path, "namespaces", problems)
    else:
        for index, name in enumerate(names):
            problems.all_invalid(f"{path}[{index}]", name, (_NAMESPACE_TEXT + why for why in text.dns_label(name)))


def _non_resource_rule(rule: Object, path: str, problems: Problems) -> None:
    _verbs(rule, path, problems)
    urls = rule.get("nonResourceURLs") or []
    if not urls:
        problems.required(f"{path}.nonResourceURLs", "nonResourceURLs must contain at least one value")
    elif "*" in urls:
        _alone(urls, f"{path}.nonResourceURLs", "non-resource URLs", problems)
    else:
        for index, url in enumerate(urls):
            if error := _url_error(url):
                problems.invalid(f"{path}.nonResourceURLs[{index}]", url, error)


def _url_error(url: str) -> str:
    if not url:
        return "must not be empty"
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    if url.count("*") > 1 or ("*" in url and not url.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""


def priority_level(obj: Object, problems: Problems) -> None:
    spec, name = obj.get("spec") or {}, obj.get("metadata", {}).get("name", "")
    kind, limited, exempt = spec.get("type", ""), spec.get("limited"), spec.get("exempt")
    if _ZERO_SHARES in (obj.get("metadata", {}).get("annotations") or {}):
        problems.forbidden("metadata.annotations", f"annotation '{_ZERO_SHARES}' is forbidden")
    if (name == EXEMPT) != (kind == "Exempt"):
        problems.invalid("spec.type", kind, "must be 'Exempt' if and only if `name` is 'exempt'")
    if kind == "Exempt":
        if limited is not None:
            problems.forbidden("spec.limited", "must be nil if the type is not Limited")
        _shares(exempt or {}, "spec.exempt", problems)
    elif kind == "Limited":
        if exempt is not None:
            problems.forbidden("spec.exempt", "must be nil if the type is Limited")
        if limited is None:
            problems.required("spec.limited", "must not be empty when type is Limited")
        else:
            _limited(limited, "spec.limited", problems)
    else:
        problems.one_of("spec.type", kind, ("Exempt", "Limited"))
    mandatory_level(name, spec, problems)


def _shares(limits: Object, path: str, problems: Problems) -> None:
    shares, lendable = limits.get("nominalConcurrencyShares"), limits.get("lendablePercent")
    if shares is not None and shares < 0:
        problems.invalid(f"{path}.nominalConcurrencyShares", shares, _COUNT_TEXT)
    if lendable is not None and not 0 <= lendable <= 100:
        problems.invalid(f"{path}.lendablePercent", lendable, _PERCENT_TEXT)


def _limited(limited: Object, path: str, problems: Problems) -> None:
    shares = limited.get("nominalConcurrencyShares")
    if shares is not None and shares < 0:
        problems.invalid(f"{path}.nominalConcurrencyShares", shares, _COUNT_TEXT)
    _limit_response(limited.get("limitResponse") or {}, f"{path}.limitResponse", problems)
    lendable, borrowing = limited.get("lendablePercent"), limited.get("borrowingLimitPercent")
    if lendable is not None and not 0 <= lendable <= 100:
        problems.invalid(f"{path}.lendablePercent", lendable, _PERCENT_TEXT)
    if borrowing is not None and borrowing < 0:
        problems.invalid(f"{path}.borrowingLimitPercent", borrowing, f"if specified, {_COUNT_TEXT}")


def _limit_response(response: Object, path: str, problems: Problems) -> None:
    kind, queuing = response.get("type", ""), response.get("queuing")
    if kind == "Reject":
        if queuing is not None:
            problems.forbidden(f"{path}.queuing", "must be nil if limited.limitResponse.type is not Limited")
    elif kind == "Queue":
        if queuing is None:
            problems.required(f"{path}.queuing", "must not be empty if limited.limitResponse.type is Limited")
        else:
            _queuing(queuing, f"{path}.queuing", problems)
    else:
        problems.one_of(f"{path}.type", kind, ("Queue", "Reject"))


def _queuing(queuing: Object, path: str, problems: Problems) -> None:
    queues, hand, length = (queuing.get(field, 0) for field in ("queues", "handSize", "queueLengthLimit"))
    if length <= 0:
        problems.invalid(f"{path}.queueLengthLimit", length, "must be positive")
    if queues <= 0:
        problems.invalid(f"{path}.queues", queues, "must be positive")
    elif queues > _MOST_QUEUES:
        problems.invalid(f"{path}.queues", queues, f"must not be greater than {_MOST_QUEUES}")
    if hand <= 0:
        problems.invalid(f"{path}.handSize", hand, "must be positive")
    elif hand > queues:
        problems.invalid(f"{path}.handSize", hand, f"should not be greater than queues ({queues})")
    elif math.ceil(math.log2(queues) * hand) > _HASH_BITS:
        detail = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {_HASH_BITS}"
        )
        problems.invalid(f"{path}.handSize", hand, detail)


def status(new: Object, old: Object, problems: Problems) -> None:
    """Conditions of either kind: each type once."""
    seen = set()
    for index, condition in enumerate((new.get("status") or {}).get("conditions") or ()):
        kind, path = condition.get("type", ""), f"status.conditions[{index}].type"
        if kind in seen:
            problems.duplicate(path, kind)
        seen.add(kind)
        if not kind:
            problems.required(path)
