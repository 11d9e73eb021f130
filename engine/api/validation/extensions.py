"""Kinds that extend the API: aggregated APIs, admission webhooks and policies, flow control.

Sources: kube-aggregator pkg/apis/apiregistration/validation, pkg/apis/admissionregistration/validation,
pkg/apis/flowcontrol/validation.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.labels import label_selector
from engine.api.validation.problems import Problems

_RULE_SCOPES = ("*", "Cluster", "Namespaced")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_FAILURE = ("Fail", "Ignore")
_MATCH = ("Equivalent", "Exact")
_ACTIONS = ("Audit", "Deny", "Warn")
_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_REVIEW_VERSIONS = ("v1", "v1beta1")


def api_service(obj: Object, problems: Problems) -> None:
    spec, name = obj.get("spec", {}), obj.get("metadata", {}).get("name", "")
    group, version = spec.get("group", ""), spec.get("version", "")
    if name != f"{version}.{group}":
        problems.invalid("metadata.name", name, f'must be `spec.version+"."+spec.group`: "{version}.{group}"')
    if version:
        problems.all_invalid("spec.version", version, text.dns_1035_label(version))
    else:
        problems.required("spec.version")
    for field, limit in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        value = spec.get(field, 0)
        if not 0 < value <= limit:
            problems.invalid(f"spec.{field}", value, f"must be positive and less than {limit}")
    service = spec.get("service")
    if service is None:
        if spec.get("caBundle"):
            problems.invalid(
                "spec.caBundle", f"{len(spec['caBundle'])} bytes", "local APIServices may not have a caBundle"
            )
        return
    for field in ("namespace", "name"):
        if not service.get(field):
            problems.required(f"spec.service.{field}")
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        problems.invalid("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present")


def validating_webhooks(obj: Object, problems: Problems) -> None:
    _webhooks(obj, problems)


def mutating_webhooks(obj: Object, problems: Problems) -> None:
    _webhooks(obj, problems)
    for index, webhook in enumerate(obj.get("webhooks", ())):
        policy = webhook.get("reinvocationPolicy")
        if policy is not None and policy not in ("IfNeeded", "Never"):
            problems.not_supported(f"webhooks[{index}].reinvocationPolicy", policy, ("IfNeeded", "Never"))


def _webhooks(obj: Object, problems: Problems) -> None:
    names = set()
    for index, webhook in enumerate(obj.get("webhooks", ())):
        path, name = f"webhooks[{index}]", webhook.get("name", "")
        _webhook(webhook, path, problems)
        if name in names:
            problems.duplicate(f"{path}.name", name)
        names.add(name)


def _webhook(webhook: Object, path: str, problems: Problems) -> None:
    name = webhook.get("name", "")
    if not name:
        problems.required(f"{path}.name")
    elif text.dns_subdomain(name):
        problems.invalid(f"{path}.name", name, ",".join(text.dns_subdomain(name)))
    elif name.count(".") < 2:
        problems.invalid(f"{path}.name", name, "should be a domain with at least three segments separated by dots")
    _rules(webhook.get("rules", []), f"{path}.rules", problems)
    _choice(webhook, "failurePolicy", path, _FAILURE, problems)
    _choice(webhook, "matchPolicy", path, _MATCH, problems)
    if "sideEffects" not in webhook:
        problems.required(f"{path}.sideEffects", "must specify one of None, NoneOnDryRun")
    else:
        _choice(webhook, "sideEffects", path, _SIDE_EFFECTS, problems)
    timeout = webhook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= 30:
        problems.invalid(f"{path}.timeoutSeconds", timeout, "the timeout value must be between 1 and 30 seconds")
    for field in ("namespaceSelector", "objectSelector"):
        label_selector(webhook.get(field), f"{path}.{field}", problems)
    versions = webhook.get("admissionReviewVersions", [])
    if not versions:
        problems.required(f"{path}.admissionReviewVersions", f"must specify one of {', '.join(_REVIEW_VERSIONS)}")
    elif not any(version in _REVIEW_VERSIONS for version in versions):
        detail = f"must include at least one of {', '.join(_REVIEW_VERSIONS)}"
        problems.invalid(f"{path}.admissionReviewVersions", versions, detail)
    _client_config(webhook.get("clientConfig", {}), f"{path}.clientConfig", problems)


def _choice(obj: Object, field: str, path: str, words: tuple[str, ...], problems: Problems) -> None:
    if field in obj and obj[field] not in words:
        problems.not_supported(f"{path}.{field}", obj[field], words)


def _client_config(config: Object, path: str, problems: Problems) -> None:
    if ("url" in config) == ("service" in config):
        problems.required(path, "exactly one of url or service is required")
        return
    if "service" in config:
        for field in ("name", "namespace"):
            if not config["service"].get(field):
                problems.required(f"{path}.service.{field}", f"service {field} is required")
        port = config["service"].get("port", 443)
        problems.all_invalid(f"{path}.service.port", port, text.port_number(port))
        return
    parts = urlsplit(config["url"])
    if parts.scheme != "https":
        problems.invalid(
            f"{path}.url", parts.scheme, "'https' is the only allowed URL scheme; desired format: https://host[/path]"
        )
    if not parts.netloc:
        problems.invalid(f"{path}.url", parts.netloc, "host must be specified; desired format: https://host[/path]")


def _rules(rules: list[Object], path: str, problems: Problems) -> None:
    for index, rule in enumerate(rules):
        at = f"{path}[{index}]"
        if not rule.get("operations"):
            problems.required(f"{at}.operations")
        for number, operation in enumerate(rule.get("operations", ())):
            if operation not in _OPERATIONS:
                problems.not_supported(f"{at}.operations[{number}]", operation, _OPERATIONS)
        for field in ("apiGroups", "apiVersions", "resources"):
            if not rule.get(field):
                problems.required(f"{at}.{field}")
            elif "*" in rule[field] and len(rule[field]) > 1:
                detail = f"if '*' is present, must not specify other {'API groups' if field == 'apiGroups' else field}"
                problems.invalid(f"{at}.{field}", rule[field], detail)
        _choice(rule, "scope", at, _RULE_SCOPES, problems)


def validating_policy(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    _policy(spec, problems)
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        problems.required("spec.validations", "validations or auditAnnotations must contain at least one item")
    for index, validation in enumerate(spec.get("validations", ())):
        if not validation.get("expression", "").strip():
            problems.required(f"spec.validations[{index}].expression", "expression is not specified")


def mutating_policy(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    _policy(spec, problems)
    if not spec.get("mutations"):
        problems.required("spec.mutations", "must contain at least one item")


def _policy(spec: Object, problems: Problems) -> None:
    _choice(spec, "failurePolicy", "spec", _FAILURE, problems)
    match = spec.get("matchConstraints")
    if match is None:
        problems.required("spec.matchConstraints")
        return
    if not match.get("resourceRules"):
        problems.required("spec.matchConstraints.resourceRules")
    for field in ("resourceRules", "excludeResourceRules"):
        _rules(match.get(field, []), f"spec.matchConstraints.{field}", problems)
    _choice(match, "matchPolicy", "spec.matchConstraints", _MATCH, problems)


def policy_binding(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    if not spec.get("policyName"):
        problems.required("spec.policyName")
    if obj.get("kind", "").startswith("Validating"):
        if not spec.get("validationActions"):
            problems.required("spec.validationActions", "at least one validation action is required")
        for index, action in enumerate(spec.get("validationActions", ())):
            if action not in _ACTIONS:
                problems.not_supported(f"spec.validationActions[{index}]", action, _ACTIONS)


def flow_schema(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    precedence = spec.get("matchingPrecedence", 0)
    if not 1 <= precedence <= 10000:
        detail = "must be a positive value" if precedence <= 0 else "must not be greater than 10000"
        problems.invalid("spec.matchingPrecedence", precedence, detail)
    name = spec.get("priorityLevelConfiguration", {}).get("name", "")
    if not name:
        problems.required("spec.priorityLevelConfiguration.name", "must reference a priority level")


def priority_level(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    kind = spec.get("type", "")
    if kind not in ("Exempt", "Limited"):
        problems.not_supported("spec.type", kind, ("Exempt", "Limited"))
    elif kind == "Limited" and "limited" not in spec:
        problems.required("spec.limited", "must not be empty when type is Limited")
    elif kind == "Exempt" and "limited" in spec:
        problems.forbidden("spec.limited", "must be nil if the type is not Limited")
