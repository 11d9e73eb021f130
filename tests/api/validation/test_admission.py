"""Admission webhooks and policies, and aggregated APIs, after upstream's tables of their validation."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import GVK, Object
from engine.api.validation import validate_status_update, validate_update
from tests.api.objects import info, prepared, problems

_GROUP = "admissionregistration.k8s.io"
WEBHOOKS = GVK(_GROUP, "v1", "ValidatingWebhookConfiguration")
POLICY, BINDING = (GVK(_GROUP, "v1", f"ValidatingAdmissionPolicy{suffix}") for suffix in ("", "Binding"))
API = GVK("apiregistration.k8s.io", "v1", "APIService")
MUTATING = GVK(_GROUP, "v1", "MutatingAdmissionPolicy")
MUTATING_BINDING = GVK(_GROUP, "v1", "MutatingAdmissionPolicyBinding")

_RULE = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
_MATCH = {"resourceRules": [_RULE]}


def webhooks(**fields: Any) -> Object:
    webhook = {
        "name": "one.example.com",
        "clientConfig": {"url": "https://example.com/check"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "rules": [_RULE],
        **fields,
    }
    return {"metadata": {"name": "a"}, "webhooks": [webhook]}


def resources(*names: str) -> Object:
    return webhooks(rules=[{**_RULE, "resources": list(names)}])


def url(text: str) -> Object:
    return webhooks(clientConfig={"url": text})


def policy(**spec: Any) -> Object:
    whole = {"matchConstraints": _MATCH, "validations": [{"expression": "true"}], **spec}
    return {"metadata": {"name": "a"}, "spec": whole}


def binding(**spec: Any) -> Object:
    return {"metadata": {"name": "a"}, "spec": {"policyName": "a", "validationActions": ["Deny"], **spec}}


def api(**spec: Any) -> Object:
    whole = {"group": "example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10, **spec}
    return {"metadata": {"name": f"{whole['version']}.{whole['group']}"}, "spec": whole}


_RESOURCES = "webhooks[0].rules[0].resources"
_CONFIG = "webhooks[0].clientConfig"
_FORM = "; desired format: https://host[/path]"
CASES: dict[str, tuple[GVK, Object, list[str]]] = {
    "a webhook": (WEBHOOKS, webhooks(), []),
    "all of a resource and a part of it": (
        WEBHOOKS,
        resources("pods/*", "pods/status", "*/scale", "replicasets/scale"),
        [
            f"{_RESOURCES}[1]: Invalid value: \"pods/status\": if 'pods/*' is present, must not specify pods/status",
            f"{_RESOURCES}[3]: Invalid value: \"replicasets/scale\": if '*/scale' is present, must not specify "
            "replicasets/scale",
        ],
    ),
    "everything and more": (
        WEBHOOKS,
        resources("*/*", "pods"),
        [f'{_RESOURCES}: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify other resources'],
    ),
    "all and one": (
        WEBHOOKS,
        resources("*", "pods"),
        [
            f'{_RESOURCES}: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources '
            "without subresources"
        ],
    ),
    "all and all their scales": (WEBHOOKS, resources("*", "*/scale"), []),
    "all operations and one": (
        WEBHOOKS,
        webhooks(rules=[{**_RULE, "operations": ["*", "CREATE"], "apiVersions": ["v1", ""]}]),
        [
            'webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify '
            "other operations",
            "webhooks[0].rules[0].apiVersions[1]: Required value",
        ],
    ),
    "a URL that says too much": (
        WEBHOOKS,
        url("http://jane@example.com/a?b=c#d"),
        [
            f"{_CONFIG}.url: Invalid value: \"http\": 'https' is the only allowed URL scheme{_FORM}",
            f'{_CONFIG}.url: Invalid value: "jane": user information is not permitted in the URL',
            f'{_CONFIG}.url: Invalid value: "d": fragments are not permitted in the URL',
            f'{_CONFIG}.url: Invalid value: "b=c": query parameters are not permitted in the URL',
        ],
    ),
    "a URL of nobody": (
        WEBHOOKS,
        url("https:///a"),
        [f'{_CONFIG}.url: Invalid value: "": host must be specified{_FORM}'],
    ),
    "a path of nothing": (
        WEBHOOKS,
        webhooks(clientConfig={"service": {"name": "a", "namespace": "b", "path": "/x//y/", "port": 0}}),
        [
            f"{_CONFIG}.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
            f'{_CONFIG}.service.path: Invalid value: "/x//y/": segment[1] may not be empty',
        ],
    ),
    "a Service of nothing": (
        WEBHOOKS,
        webhooks(clientConfig={"service": {}}),
        [f"{_CONFIG}.service.name: Required value", f"{_CONFIG}.service.namespace: Required value"],
    ),
    "versions of reviews": (
        WEBHOOKS,
        webhooks(admissionReviewVersions=["v9", "v9"]),
        [
            'webhooks[0].admissionReviewVersions[1]: Invalid value: "v9": duplicate version',
            'webhooks[0].admissionReviewVersions: Invalid value: ["v9","v9"]: must include at least one of v1, v1beta1',
        ],
    ),
    "a condition without a name": (
        WEBHOOKS,
        webhooks(matchConditions=[{"name": "", "expression": " "}]),
        [
            "webhooks[0].matchConditions[0].expression: Required value",
            "webhooks[0].matchConditions[0].name: Required value",
        ],
    ),
    "a policy": (POLICY, policy(), []),
    "a policy that checks nothing": (
        POLICY,
        policy(validations=[]),
        [
            f"spec.{field}: Required value: validations or auditAnnotations must contain at least one item"
            for field in ("validations", "auditAnnotations")
        ],
    ),
    "a policy with parameters of no version": (
        POLICY,
        policy(paramKind={"apiVersion": "example.com/", "kind": "my kind"}),
        [
            'spec.paramKind.apiVersion: Invalid value: "example.com/": version must be specified',
            'spec.paramKind.kind: Invalid value: "my kind": may have mixed case, but should otherwise match: a '
            "DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
            "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
            "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        ],
    ),
    "a message of two lines": (
        POLICY,
        policy(validations=[{"expression": "true", "message": "a\nb", "reason": "Teapot", "messageExpression": " "}]),
        [
            'spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
            'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
            'spec.validations[0].reason: Unsupported value: "Teapot": supported values: "Forbidden", "Invalid", '
            '"RequestEntityTooLarge"',
        ],
    ),
    "a variable that is no identifier": (
        POLICY,
        policy(variables=[{"name": "a-b", "expression": ""}]),
        [
            'spec.variables[0].name: Invalid value: "a-b": must be a valid CEL identifier',
            "spec.variables[0].expression: Required value: expression is not specified",
        ],
    ),
    "a variable by a word of the language": (
        POLICY,
        policy(variables=[{"name": "namespace", "expression": "1"}, {"name": "in", "expression": "1"}]),
        [
            'spec.variables[0].name: Invalid value: "namespace": must be a valid CEL identifier',
            'spec.variables[1].name: Invalid value: "in": must be a valid CEL identifier',
        ],
    ),
    "an annotation without a key, and one that says too much": (
        POLICY,
        policy(auditAnnotations=[{"valueExpression": "'a'"}, {"key": "k", "valueExpression": f"'{'a' * 5120}'"}]),
        [
            f'spec.auditAnnotations[0].key: Invalid value: "a/": {why}'
            for why in (
                "name part must be non-empty",
                "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
                "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            )
        ]
        + ["spec.auditAnnotations[1].valueExpression: Required value: must not exceed 5120 bytes in length"],
    ),
    "a mutation of what is being deleted": (
        MUTATING,
        {
            "metadata": {"name": "a"},
            "spec": {
                "matchConstraints": {"resourceRules": [{**_RULE, "operations": ["CREATE", "DELETE"]}]},
                "reinvocationPolicy": "Never",
                "mutations": [
                    {
                        "patchType": "JSONPatch",
                        "jsonPatch": {"expression": " "},
                        "applyConfiguration": {"expression": "Object{}"},
                    }
                ],
            },
        },
        [
            'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", '
            '"CONNECT", "CREATE", "UPDATE"',
            "spec.mutations[0].jsonPatch.expression: Required value",
            'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when '
            "patchType is JSONPatch",
        ],
    ),
    "an annotation twice": (
        POLICY,
        policy(auditAnnotations=[{"key": "k", "valueExpression": "'a'"}, {"key": "k", "valueExpression": ""}]),
        [
            "spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified",
            'spec.auditAnnotations[1].key: Duplicate value: "k"',
        ],
    ),
    "a name of a resource twice": (
        POLICY,
        policy(matchConstraints={"resourceRules": [{**_RULE, "resourceNames": ["a", "a"]}]}),
        ['spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"'],
    ),
    "a binding": (BINDING, binding(), []),
    "a binding that denies and warns": (
        BINDING,
        binding(validationActions=["Deny", "Warn", "Warn"]),
        [
            'spec.validationActions[2]: Duplicate value: "Warn"',
            'spec.validationActions: Invalid value: ["Deny","Warn","Warn"]: must not contain both Deny and Warn '
            "(repeating the same validation failure information in the API response and headers serves no purpose)",
        ],
    ),
    "parameters by name and by label": (
        BINDING,
        binding(paramRef={"name": "a", "selector": {}, "parameterNotFoundAction": "Shrug"}),
        [
            "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
            "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
            'spec.paramRef.parameterNotFoundAction: Unsupported value: "Shrug": supported values: "Deny", "Allow"',
        ],
    ),
    "an API of no group": (
        API,
        api(group="", version="v2"),
        ["spec.group: Required value: only v1 may have an empty group and it better be legacy kube"],
    ),
    "a local API with trust in itself": (
        API,
        api(caBundle="aGVsbG8=", insecureSkipTLSVerify=True),
        [
            'spec.caBundle: Invalid value: "5 bytes": local APIServices may not have a caBundle',
            "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
        ],
    ),
    "an API at no port": (
        API,
        api(service={"namespace": "a", "name": "b", "port": 0}),
        ["spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive"],
    ),
    "a mutating binding has no actions": (
        MUTATING_BINDING,
        {"metadata": {"name": "a"}, "spec": {"policyName": "a"}},
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_admission(name: str) -> None:
    gvk, value, expected = CASES[name]
    assert problems(gvk, value) == expected


_BROKEN = {"matchConditions": [{"name": "a", "expression": "what"}]}
_VALUES = {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["-b"]}]}}
_EXPRESSION = "webhooks[0].namespaceSelector.matchExpressions[0]"
_OLD: dict[str, tuple[GVK, Object, Object, list[str]]] = {
    "conditions of a webhook that are as they were": (WEBHOOKS, webhooks(**_BROKEN), webhooks(**_BROKEN), []),
    "side effects and versions of old": (
        WEBHOOKS,
        webhooks(sideEffects="Some", admissionReviewVersions=["v0"]),
        webhooks(sideEffects="Unknown", admissionReviewVersions=["v0"], timeoutSeconds=31),
        ["webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
    ),
    "side effects that are new": (
        WEBHOOKS,
        webhooks(),
        webhooks(sideEffects="Some"),
        ['webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    ),
    "selectors by what is no value of labels": (
        WEBHOOKS,
        webhooks(objectSelector={"matchExpressions": [{"key": "c", "operator": "In", "values": ["-d"]}]}),
        webhooks(**_VALUES),
        [],
    ),
    "such selectors that are new": (
        WEBHOOKS,
        webhooks(),
        webhooks(**_VALUES),
        [
            f'{_EXPRESSION}.values[0]: Invalid value: "-b": a valid label must be an empty string or consist of '
            "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
            "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
            "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        ],
    ),
    "conditions of a policy that are as they were": (POLICY, policy(**_BROKEN), policy(**_BROKEN), []),
}


@pytest.mark.parametrize("name", _OLD)
def test_what_was_so_before_is_let_be(name: str) -> None:
    gvk, before, after, expected = _OLD[name]
    old, new = prepared(gvk, before), prepared(gvk, after)
    for obj in (old, new):
        obj["metadata"]["resourceVersion"] = "1"
    assert [str(cause) for cause in validate_update(info(gvk), new, old)] == expected


def test_the_status_of_a_policy() -> None:
    old = prepared(POLICY, policy())
    old["metadata"]["resourceVersion"] = "1"
    warnings = [{"fieldRef": " ", "warning": ""}, {"fieldRef": "spec[a]", "warning": "b"}]
    condition = {"type": "a", "status": "True", "reason": "A"}
    new = {**old, "status": {"typeChecking": {"expressionWarnings": warnings}, "conditions": [condition]}}
    assert [str(cause) for cause in validate_status_update(info(POLICY), new, old)] == [
        "status.typeChecking.expressionWarnings[0].warning: Required value",
        "status.typeChecking.expressionWarnings[0].fieldRef: Required value",
        'status.typeChecking.expressionWarnings[1].fieldRef: Invalid value: "spec[a]": invalid JSONPath: invalid array '
        "index a",
        "status.conditions[0].lastTransitionTime: Required value",
    ]
