"""Admission webhooks, and the rules by which they and admission policies match requests.

Sources: pkg/apis/admissionregistration/validation, apiserver pkg/util/webhook/validation.go.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.labels import label_selector
from engine.api.validation.problems import Problems
from engine.api.validation.webhook_client import client_config

FAILURE_POLICIES = ("Fail", "Ignore")
MATCH_POLICIES = ("Equivalent", "Exact")
REINVOCATION_POLICIES = ("IfNeeded", "Never")
_RULE_SCOPES = ("*", "Cluster", "Namespaced")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_ALL_SIDE_EFFECTS = ("None", "NoneOnDryRun", "Some", "Unknown")
_REVIEW_VERSIONS = ("v1", "v1beta1")
_SELECTORS = ("namespaceSelector", "objectSelector")
_MOST_CONDITIONS = 64


class _Tolerated(NamedTuple):
    """What older releases let in, and may stay where it was."""

    conditions: bool = False
    side_effects: bool = False
    versions: bool = False
    names: bool = False
    selectors: bool = False


def webhooks(obj: Object, problems: Problems) -> None:
    """Of a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration."""
    _webhooks(obj, problems, _Tolerated())


def webhooks_update(new: Object, old: Object, problems: Problems) -> None:
    before, after = old.get("webhooks") or [], new.get("webhooks") or []
    names = [webhook.get("name", "") for webhook in before]
    versions = [webhook.get("admissionReviewVersions") or [] for webhook in before]
    tolerated = _Tolerated(
        conditions=[each.get("matchConditions") for each in after] == [each.get("matchConditions") for each in before],
        side_effects=any(webhook.get("sideEffects") not in _SIDE_EFFECTS for webhook in before),
        versions=any(found and not set(found) & set(_REVIEW_VERSIONS) for found in versions),
        names=len(set(names)) < len(names),
        selectors=any(_wrong_selectors(webhook) for webhook in before),
    )
    _webhooks(new, problems, tolerated)


def _webhooks(obj: Object, problems: Problems, tolerated: _Tolerated) -> None:
    names = set()
    for index, webhook in enumerate(obj.get("webhooks") or ()):
        path, name = f"webhooks[{index}]", webhook.get("name", "")
        _webhook(webhook, path, problems, tolerated)
        found, at = webhook.get("admissionReviewVersions") or [], f"{path}.admissionReviewVersions"
        _review_versions(found, at, problems, any_version=tolerated.versions)
        if name and name in names and not tolerated.names:
            problems.duplicate(f"{path}.name", name)
        names.add(name)


def _webhook(webhook: Object, path: str, problems: Problems, tolerated: _Tolerated) -> None:
    _qualified_name(webhook.get("name", ""), f"{path}.name", problems)
    for index, rule in enumerate(webhook.get("rules") or ()):
        rule_with_operations(rule, f"{path}.rules[{index}]", problems)
    problems.unless_in(f"{path}.failurePolicy", webhook.get("failurePolicy"), FAILURE_POLICIES)
    problems.unless_in(f"{path}.matchPolicy", webhook.get("matchPolicy"), MATCH_POLICIES)
    allowed = _ALL_SIDE_EFFECTS if tolerated.side_effects else _SIDE_EFFECTS
    if webhook.get("sideEffects") is None:
        problems.required(f"{path}.sideEffects", f"must specify one of {', '.join(allowed)}")
    problems.unless_in(f"{path}.sideEffects", webhook.get("sideEffects"), allowed)
    timeout = webhook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= 30:
        problems.invalid(f"{path}.timeoutSeconds", timeout, "the timeout value must be between 1 and 30 seconds")
    for field in _SELECTORS:
        label_selector(webhook.get(field), f"{path}.{field}", problems, any_values=tolerated.selectors)
    problems.unless_in(f"{path}.reinvocationPolicy", webhook.get("reinvocationPolicy"), REINVOCATION_POLICIES)
    client_config(webhook.get("clientConfig") or {}, f"{path}.clientConfig", problems)
    if not tolerated.conditions:
        match_conditions(webhook.get("matchConditions") or [], f"{path}.matchConditions", problems)


def _wrong_selectors(webhook: Object) -> bool:
    problems = Problems()
    for field in _SELECTORS:
        label_selector(webhook.get(field), field, problems)
    return bool(problems)


def _qualified_name(name: str, path: str, problems: Problems) -> None:
    if not name:
        problems.required(path)
    elif wrong := text.dns_subdomain(name):
        problems.invalid(path, name, ",".join(wrong))
    elif name.count(".") < 2:
        problems.invalid(path, name, "should be a domain with at least three segments separated by dots")


def _review_versions(versions: list[str], path: str, problems: Problems, *, any_version: bool) -> None:
    if not versions:
        problems.required(path, f"must specify one of {', '.join(_REVIEW_VERSIONS)}")
        return
    seen = set()
    for index, version in enumerate(versions):
        if version in seen:
            problems.invalid(f"{path}[{index}]", version, "duplicate version")
        else:
            problems.all_invalid(f"{path}[{index}]", version, text.dns_1035_label(version))
        seen.add(version)
    if not any_version and not seen & set(_REVIEW_VERSIONS):
        problems.invalid(path, versions, f"must include at least one of {', '.join(_REVIEW_VERSIONS)}")


def rule_with_operations(rule: Object, path: str, problems: Problems) -> None:
    operations = rule.get("operations") or []
    if not operations:
        problems.required(f"{path}.operations")
    _alone(operations, f"{path}.operations", "operations", problems)
    for index, operation in enumerate(operations):
        problems.unless_in(f"{path}.operations[{index}]", operation, _OPERATIONS)
    for field, noun in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        values = rule.get(field) or []
        if not values:
            problems.required(f"{path}.{field}")
        _alone(values, f"{path}.{field}", noun, problems)
    for index, version in enumerate(rule.get("apiVersions") or ()):
        if not version:
            problems.required(f"{path}.apiVersions[{index}]")
    _resources(rule.get("resources") or [], f"{path}.resources", problems)
    problems.unless_in(f"{path}.scope", rule.get("scope"), _RULE_SCOPES)


def _alone(values: list[str], path: str, noun: str, problems: Problems) -> None:
    if len(values) > 1 and "*" in values:
        problems.invalid(path, values, f"if '*' is present, must not specify other {noun}")


def _resources(resources: list[str], path: str, problems: Problems) -> None:
    """`*` is all resources without their subresources, `x/*` and `*/y` are all of one side, `*/*` is everything."""
    if not resources:
        problems.required(path)
    all_of_resource: set[str] = set()
    all_of_subresource: set[str] = set()
    plain = False
    for index, name in enumerate(resources):
        resource, slash, subresource = name.partition("/")
        if not name:
            problems.required(f"{path}[{index}]")
        elif not slash:
            plain = name != "*"
        else:
            if resource in all_of_resource:
                detail = f"if '{resource}/*' is present, must not specify {name}"
                problems.invalid(f"{path}[{index}]", name, detail)
            if subresource in all_of_subresource:
                detail = f"if '*/{subresource}' is present, must not specify {name}"
                problems.invalid(f"{path}[{index}]", name, detail)
            all_of_resource |= {resource} if subresource == "*" else set()
            all_of_subresource |= {subresource} if resource == "*" else set()
    if len(resources) > 1 and "*/*" in resources:
        problems.invalid(path, resources, "if '*/*' is present, must not specify other resources")
    if plain and "*" in resources:
        detail = "if '*' is present, must not specify other resources without subresources"
        problems.invalid(path, resources, detail)


def match_conditions(conditions: list[Object], path: str, problems: Problems, *, params: bool = False) -> None:
    from engine.api.validation.expressions import condition

    if len(conditions) > _MOST_CONDITIONS:
        problems.too_many(path, len(conditions), _MOST_CONDITIONS)
    names = set()
    for index, each in enumerate(conditions):
        at, name = f"{path}[{index}]", each.get("name", "")
        expression = each.get("expression", "")
        if not expression.strip():
            problems.required(f"{at}.expression")
        else:
            condition(expression, f"{at}.expression", problems, params=params)
        if not name:
            problems.required(f"{at}.name")
            continue
        problems.all_invalid(f"{at}.name", name, text.qualified_name(name))
        if name in names:
            problems.duplicate(f"{at}.name", name)
        names.add(name)
