"""Restart policies of single containers and their rules (KEP-5307, core validation validateContainerRestartPolicy)."""

from __future__ import annotations

from engine.api.types import Object
from engine.api.validation.problems import Problems

_POLICIES = ("Always", "Never", "OnFailure")
_ACTIONS = ("Restart", "RestartAllContainers")
_OPERATORS = ("In", "NotIn")
_MAX_RULES, _MAX_CODES = 20, 255


def restart_rules(container: Object, path: str, problems: Problems) -> None:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules", ())
    if policy is None:
        if rules:
            problems.required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
    elif policy not in _POLICIES:
        problems.not_supported(f"{path}.restartPolicy", policy, _POLICIES)
    if len(rules) > _MAX_RULES:
        problems.too_many(f"{path}.restartPolicyRules", len(rules), _MAX_RULES)
    for index, rule in enumerate(rules):
        _rule(rule, f"{path}.restartPolicyRules[{index}]", problems)


def _rule(rule: Object, path: str, problems: Problems) -> None:
    if rule.get("action", "") not in _ACTIONS:
        problems.not_supported(f"{path}.action", rule.get("action", ""), _ACTIONS)
    codes = rule.get("exitCodes")
    if codes is None:
        problems.required(f"{path}.exitCodes", "must be specified")
        return
    if codes.get("operator", "") not in _OPERATORS:
        problems.not_supported(f"{path}.exitCodes.operator", codes.get("operator", ""), _OPERATORS)
    if len(codes.get("values", ())) > _MAX_CODES:
        problems.too_many(f"{path}.exitCodes.values", len(codes["values"]), _MAX_CODES)
