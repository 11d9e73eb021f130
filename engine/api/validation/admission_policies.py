"""Admission policies and their bindings (pkg/apis/admissionregistration/validation)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.api.jsonpath import JsonPath, JsonPathError
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.conditions import conditions
from engine.api.validation.go_values import internal
from engine.api.validation.labels import label_selector
from engine.api.validation.problems import Problems
from engine.api.validation.webhooks import (
    FAILURE_POLICIES,
    MATCH_POLICIES,
    REINVOCATION_POLICIES,
    match_conditions,
    rule_with_operations,
)

if TYPE_CHECKING:  # what is written in CEL is loaded with the first policy
    from engine.api.validation.expressions import Expressions

_ACTIONS = ("Audit", "Deny", "Warn")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_NOT_FOUND_ACTIONS = ("Deny", "Allow")
_PATCHES = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
_MUTABLE = ("*", "CONNECT", "CREATE", "UPDATE")
_MOST_ANNOTATIONS, _LONGEST_VALUE = 20, 5 * 1024
_LITERALS = ("true", "false", "null", "in")
_IDENTIFIER = re.compile("[_a-zA-Z][_a-zA-Z0-9]*")
_ONE_ITEM = "validations or auditAnnotations must contain at least one item"
_BOTH_TOLD = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
    "headers serves no purpose)"
)
_EXCLUSIVE = "name and selector are mutually exclusive"


def validating_policy(obj: Object, problems: Problems) -> None:
    _validating(obj, problems, old=None)


def validating_policy_update(new: Object, old: Object, problems: Problems) -> None:
    _validating(new, problems, old=old)


def _validating(obj: Object, problems: Problems, *, old: Object | None) -> None:
    spec = obj.get("spec") or {}
    expressions = _policy(spec, problems, old=old, patches=False)
    validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not validations and not annotations:
        for field in ("validations", "auditAnnotations"):
            problems.required(f"spec.{field}", _ONE_ITEM)
    for index, validation in enumerate(validations):
        _validation(validation, f"spec.validations[{index}]", problems, expressions)
    _annotations(annotations, obj.get("metadata", {}).get("name", ""), problems, expressions)


def mutating_policy(obj: Object, problems: Problems) -> None:
    _mutating(obj, problems, old=None)


def mutating_policy_update(new: Object, old: Object, problems: Problems) -> None:
    _mutating(new, problems, old=old)


def _mutating(obj: Object, problems: Problems, *, old: Object | None) -> None:
    spec = obj.get("spec") or {}
    expressions = _policy(spec, problems, old=old, patches=True)
    if not spec.get("mutations"):
        problems.required("spec.mutations", "mutations must contain at least one item")
    for index, mutation in enumerate(spec.get("mutations") or ()):
        _mutation(mutation, f"spec.mutations[{index}]", problems, expressions)
    if not spec.get("reinvocationPolicy"):
        problems.required("spec.reinvocationPolicy")
    else:
        problems.unless_in("spec.reinvocationPolicy", spec["reinvocationPolicy"], REINVOCATION_POLICIES)


def _policy(spec: Object, problems: Problems, *, old: Object | None, patches: bool) -> Expressions:
    """What is the same in both kinds; the expressions of the rest can speak of the policy's variables. Conditions that
    have not changed, nor what they can speak of, are let be."""
    from engine.api.validation.expressions import Expressions

    problems.one_of("spec.failurePolicy", spec.get("failurePolicy"), FAILURE_POLICIES)
    if spec.get("paramKind") is not None:
        _param_kind(spec["paramKind"], "spec.paramKind", problems)
    match = spec.get("matchConstraints")
    if match is None:
        problems.required("spec.matchConstraints")
    else:
        _match_resources(match, "spec.matchConstraints", problems)
        if not match.get("resourceRules"):
            problems.required("spec.matchConstraints.resourceRules")
        if patches:
            _mutable(match, "spec.matchConstraints", problems)
    params, before = spec.get("paramKind") is not None, (old or {}).get("spec") or {}
    if old is None or any(spec.get(field) != before.get(field) for field in ("paramKind", "matchConditions")):
        match_conditions(spec.get("matchConditions") or [], "spec.matchConditions", problems, params=params)
    expressions = Expressions(problems, params=params, patches=patches)
    for index, variable in enumerate(spec.get("variables") or ()):
        _variable(variable, f"spec.variables[{index}]", problems, expressions)
    return expressions


def _param_kind(kind: Object, path: str, problems: Problems) -> None:
    version, name = kind.get("apiVersion", ""), kind.get("kind", "")
    if not version:
        problems.required(f"{path}.apiVersion")
    else:
        _group_version(version, f"{path}.apiVersion", problems)
    if not name:
        problems.required(f"{path}.kind")
    elif wrong := text.dns_1035_label(name.lower()):
        detail = f"may have mixed case, but should otherwise match: {','.join(wrong)}"
        problems.invalid(f"{path}.kind", name, detail)


def _group_version(value: str, path: str, problems: Problems) -> None:
    if value.count("/") > 1:
        problems.invalid(path, value, f"unexpected GroupVersion string: {value}")
        return
    group, _, version = value.rpartition("/")
    if group and (wrong := text.dns_subdomain(group)):
        problems.invalid(path, group, ",".join(wrong))
    if not version:
        problems.invalid(path, value, "version must be specified")
    elif wrong := text.dns_1035_label(version):
        problems.invalid(path, version, ",".join(wrong))


def _match_resources(match: Object, path: str, problems: Problems) -> None:
    problems.one_of(f"{path}.matchPolicy", match.get("matchPolicy"), MATCH_POLICIES)
    for field in ("namespaceSelector", "objectSelector"):
        if match.get(field) is None:
            problems.required(f"{path}.{field}")
        else:
            label_selector(match[field], f"{path}.{field}", problems)
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(field) or ()):
            _named_rule(rule, f"{path}.{field}[{index}]", problems)


def _mutable(match: Object, path: str, problems: Problems) -> None:
    """What is being deleted cannot be changed."""
    for rule in match.get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            problems.unless_in(f"{path}.resourceRules.operations", operation, _MUTABLE)


def _named_rule(rule: Object, path: str, problems: Problems) -> None:
    names = set()
    for index, name in enumerate(rule.get("resourceNames") or ()):
        problems.all_invalid(f"{path}.resourceNames[{index}]", name, text.path_segment(name))
        if name in names:
            problems.duplicate(f"{path}.resourceNames[{index}]", name)
        names.add(name)
    rule_with_operations(rule, path, problems)


def _variable(variable: Object, path: str, problems: Problems, expressions: Expressions) -> None:
    from engine.api.cel.parser import RESERVED

    name = variable.get("name", "")
    if not name.strip():
        problems.required(f"{path}.name", "name is not specified")
    elif not _IDENTIFIER.fullmatch(name) or name in _LITERALS or name in RESERVED:
        problems.invalid(f"{path}.name", name, "must be a valid CEL identifier")
    if not variable.get("expression", "").strip():
        problems.required(f"{path}.expression", "expression is not specified")
    else:
        expressions.variable(name, variable["expression"], f"{path}.expression")


def _mutation(mutation: Object, path: str, problems: Problems, expressions: Expressions) -> None:
    """Of the two kinds of patches the one that the patch type says, and not the other."""
    patch_type = mutation.get("patchType", "")
    if not patch_type:
        problems.required(f"{path}.patchType")
        return
    if patch_type not in _PATCHES:
        problems.not_supported(f"{path}.patchType", patch_type, tuple(sorted(_PATCHES)))
        return
    field = _PATCHES[patch_type]
    patch, path_of_patch = mutation.get(field), f"{path}.{field}"
    if patch is None:
        problems.required(path_of_patch, f"must be specified when patchType is {patch_type}")
    elif not patch.get("expression", "").strip():
        problems.required(f"{path_of_patch}.expression")
    else:
        expressions.patch(patch["expression"], f"{path_of_patch}.expression", json=patch_type == "JSONPatch")
    for other in _PATCHES.values():
        if other != field and mutation.get(other) is not None:
            detail = f"must not be specified when patchType is {patch_type}"
            problems.invalid(f"{path}.{other}", f"{{{other}}}", detail)


def _validation(validation: Object, path: str, problems: Problems, expressions: Expressions) -> None:
    if not validation.get("expression", "").strip():
        problems.required(f"{path}.expression", "expression is not specified")
    else:
        expressions.validation(validation["expression"], f"{path}.expression")
    computed, message = validation.get("messageExpression", ""), validation.get("message", "")
    if computed and not computed.strip():
        problems.invalid(f"{path}.messageExpression", computed, "must be non-empty if specified")
    elif computed:
        expressions.message(computed, f"{path}.messageExpression")
    if message and not message.strip():
        problems.invalid(f"{path}.message", message, "must be non-empty if specified")
    elif "\n" in message.strip() or "\r" in message.strip():
        problems.invalid(f"{path}.message", message, "must not contain line breaks")
    problems.unless_in(f"{path}.reason", validation.get("reason"), _REASONS)


def _annotations(annotations: list[Object], policy: str, problems: Problems, expressions: Expressions) -> None:
    path = "spec.auditAnnotations"
    if len(annotations) > _MOST_ANNOTATIONS:
        detail = f"must not have more than {_MOST_ANNOTATIONS} auditAnnotations"
        problems.invalid(path, [internal("AuditAnnotation", each) for each in annotations], detail)
    keys = set()
    for index, annotation in enumerate(annotations):
        at, key = f"{path}[{index}]", annotation.get("key", "")
        if not policy:
            problems.invalid(f"{at}.key", key, "requires metadata.name be non-empty")
        else:
            problems.all_invalid(f"{at}.key", f"{policy}/{key}", text.qualified_name(f"{policy}/{key}"))
        value = annotation.get("valueExpression", "").strip()
        if not value:
            problems.required(f"{at}.valueExpression", "valueExpression is not specified")
        elif len(value.encode()) > _LONGEST_VALUE:
            problems.required(f"{at}.valueExpression", f"must not exceed {_LONGEST_VALUE} bytes in length")
        else:
            expressions.annotation(annotation["valueExpression"], f"{at}.valueExpression")
        if key in keys:
            problems.duplicate(f"{at}.key", key)
        keys.add(key)


def validating_binding(obj: Object, problems: Problems) -> None:
    _binding(obj, problems)
    _actions((obj.get("spec") or {}).get("validationActions") or [], "spec.validationActions", problems)


def mutating_binding(obj: Object, problems: Problems) -> None:
    _binding(obj, problems)
    match = (obj.get("spec") or {}).get("matchResources")
    if match is not None:
        _mutable(match, "spec.matchResources", problems)


def validating_policy_status(new: Object, old: Object, problems: Problems) -> None:
    status = new.get("status") or {}
    for index, warning in enumerate((status.get("typeChecking") or {}).get("expressionWarnings") or ()):
        path = f"status.typeChecking.expressionWarnings[{index}]"
        if not warning.get("warning"):
            problems.required(f"{path}.warning")
        _field_reference(warning.get("fieldRef", "").strip(), f"{path}.fieldRef", problems)
    conditions(status.get("conditions") or (), "status.conditions", problems)


def _field_reference(reference: str, path: str, problems: Problems) -> None:
    if not reference:
        problems.required(path)
        return
    try:
        JsonPath(f"{{{reference}}}")
    except JsonPathError as error:
        problems.invalid(path, reference, f"invalid JSONPath: {error}")


def _binding(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec") or {}
    policy = spec.get("policyName", "")
    if not policy:
        problems.required("spec.policyName")
    else:
        problems.all_invalid("spec.policyName", policy, text.dns_subdomain(policy))
    if spec.get("paramRef") is not None:
        _param_ref(spec["paramRef"], "spec.paramRef", problems)
    if spec.get("matchResources") is not None:
        _match_resources(spec["matchResources"], "spec.matchResources", problems)


def _param_ref(reference: Object, path: str, problems: Problems) -> None:
    name, selector = reference.get("name", ""), reference.get("selector")
    if name:
        problems.all_invalid(f"{path}.name", name, text.path_segment(name))
        if selector is not None:
            problems.forbidden(f"{path}.name", _EXCLUSIVE)
    if selector is not None:
        label_selector(selector, f"{path}.selector", problems)
        if name:
            problems.forbidden(f"{path}.selector", _EXCLUSIVE)
    if not name and selector is None:
        problems.required(path, "one of name or selector must be specified")
    action = reference.get("parameterNotFoundAction")
    problems.one_of(f"{path}.parameterNotFoundAction", action, _NOT_FOUND_ACTIONS)


def _actions(actions: list[str], path: str, problems: Problems) -> None:
    seen = set()
    for index, action in enumerate(actions):
        problems.unless_in(f"{path}[{index}]", action, _ACTIONS)
        if action in seen:
            problems.duplicate(f"{path}[{index}]", action)
        seen.add(action)
    if {"Deny", "Warn"} <= seen:
        problems.invalid(path, actions, _BOTH_TOLD)
    if not seen:
        problems.required(path, "at least one validation action is required")
