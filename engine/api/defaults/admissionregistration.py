"""Defaults of admission webhooks and policies (pkg/apis/admissionregistration/v1/defaults.go)."""

from __future__ import annotations

from engine.api.types import Object

_TIMEOUT_SECONDS = 10


def validating_webhooks(obj: Object) -> None:
    for webhook in obj.get("webhooks", ()):
        _webhook(webhook)


def mutating_webhooks(obj: Object) -> None:
    for webhook in obj.get("webhooks", ()):
        _webhook(webhook)
        webhook.setdefault("reinvocationPolicy", "Never")


def _webhook(webhook: Object) -> None:
    webhook.setdefault("failurePolicy", "Fail")
    webhook.setdefault("matchPolicy", "Equivalent")
    webhook.setdefault("namespaceSelector", {})
    webhook.setdefault("objectSelector", {})
    webhook.setdefault("timeoutSeconds", _TIMEOUT_SECONDS)
    _rules(webhook.get("rules", ()))
    service = webhook.get("clientConfig", {}).get("service")
    if service is not None:
        service.setdefault("port", 443)


def _rules(rules: list[Object]) -> None:
    for rule in rules:
        rule.setdefault("scope", "*")


def validating_policy(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("failurePolicy", "Fail")
    _match_resources(spec.get("matchConstraints"))


def mutating_policy(obj: Object) -> None:
    validating_policy(obj)


def policy_binding(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    _match_resources(spec.get("matchResources"))


def _match_resources(match: Object | None) -> None:
    if match is not None:
        match.setdefault("matchPolicy", "Equivalent")
        match.setdefault("namespaceSelector", {})
        match.setdefault("objectSelector", {})
        _rules(match.get("resourceRules", ()))
        _rules(match.get("excludeResourceRules", ()))
