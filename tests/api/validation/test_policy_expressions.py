"""Whether the expressions of policies, match conditions and device selectors compile, in upstream's words."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import GVK, Object
from tests.api.objects import problems

_GROUP = "admissionregistration.k8s.io"
WEBHOOKS = GVK(_GROUP, "v1", "ValidatingWebhookConfiguration")
VALIDATING, MUTATING = (GVK(_GROUP, "v1", f"{kind}AdmissionPolicy") for kind in ("Validating", "Mutating"))
CLASS = GVK("resource.k8s.io", "v1", "DeviceClass")
MATCH = {"resourceRules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]}
PARAMS = {"apiVersion": "v1", "kind": "ConfigMap"}


def policy(*validations: Object, **spec: Any) -> Object:
    whole = {"matchConstraints": MATCH, "validations": list(validations) or [{"expression": "true"}], **spec}
    return {"metadata": {"name": "a"}, "spec": whole}


def mutating(*mutations: Object, **spec: Any) -> Object:
    whole = {"matchConstraints": MATCH, "mutations": list(mutations), "reinvocationPolicy": "Never", **spec}
    return {"metadata": {"name": "a"}, "spec": whole}


def applied(expression: str) -> Object:
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def patched(expression: str) -> Object:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def webhooks(expression: str) -> Object:
    webhook = {
        "name": "one.example.com",
        "clientConfig": {"url": "https://example.com/check"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "matchConditions": [{"name": "c", "expression": expression}],
    }
    return {"metadata": {"name": "a"}, "webhooks": [webhook]}


def device(expression: str) -> Object:
    return {"metadata": {"name": "a"}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}


def failed(column: int, text: str, source: str) -> str:
    place = f"{text}\n | {source}\n | {'.' * (column - 1)}^"
    return f"compilation failed: ERROR: <input>:1:{column}: {place}"


_UNDECLARED = "undeclared reference to '{}' (in container '')"
_VALIDATION = 'spec.validations[0].expression: Invalid value: "{}": '
_SYNTAX = "Syntax error: missing ']' at '<EOF>'"
CASES: dict[str, tuple[GVK, Object, list[str]]] = {
    "all that an expression knows": (
        VALIDATING,
        policy(
            {
                "expression": "object.x == oldObject.x && request.userInfo.groups.exists(g, g == 'a') && "
                "namespaceObject.metadata.labels['a'] == params.b && authorizer.group('').resource('pods').check('get')"
                ".allowed() && authorizer.requestResource.check('x').reason() == '' && variables.n > 1",
                "messageExpression": "'n is ' + string(variables.n)",
            },
            paramKind=PARAMS,
            variables=[{"name": "n", "expression": "size(request.name)"}],
            auditAnnotations=[{"key": "k", "valueExpression": "'n' + request.name"}],
            matchConditions=[{"name": "c", "expression": "params.x == 1 && request.operation != 'DELETE'"}],
        ),
        [],
    ),
    "a syntax error": (
        VALIDATING,
        policy({"expression": "object.x in [1, 2, "}),
        [_VALIDATION.format("object.x in [1, 2, ") + failed(20, _SYNTAX, "object.x in [1, 2, ")],
    ),
    "no parameters without their kind": (
        VALIDATING,
        policy({"expression": "params.x == 1"}),
        [_VALIDATION.format("params.x == 1") + failed(1, _UNDECLARED.format("params"), "params.x == 1")],
    ),
    "no such field of a request": (
        VALIDATING,
        policy({"expression": "request.uid == ''"}),
        [_VALIDATION.format("request.uid == ''") + failed(8, "undefined field 'uid'", "request.uid == ''")],
    ),
    "no bool": (
        VALIDATING,
        policy({"expression": "object.x"}),
        [_VALIDATION.format("object.x") + "must evaluate to bool but got dyn"],
    ),
    "a list of nulls": (
        VALIDATING,
        policy({"expression": "[null]"}),
        [_VALIDATION.format("[null]") + "must evaluate to bool but got list(null_type)"],
    ),
    "a time": (
        VALIDATING,
        policy({"expression": "timestamp(0)"}),
        [_VALIDATION.format("timestamp(0)") + "must evaluate to bool but got google.protobuf.Timestamp"],
    ),
    "a variable that comes later": (
        VALIDATING,
        policy(
            {"expression": "variables.a == 1"},
            variables=[{"name": "a", "expression": "variables.b"}, {"name": "b", "expression": "1"}],
        ),
        [
            'spec.variables[0].expression: Invalid value: "variables.b": '
            + failed(10, "undefined field 'b'", "variables.b"),
        ],
    ),
    "variables of types that are not kept, and one that is wrong": (
        VALIDATING,
        policy(
            {"expression": "variables.q + 1 == 2 && variables.l[0] + 1 == 2 && variables.o + 1 == 2"},
            {"expression": "variables.r.nope == variables.w.at.all"},
            {"expression": "variables.m['k'] == 1"},
            variables=[
                {"name": "q", "expression": "quantity('1')"},
                {"name": "l", "expression": "[quantity('1')]"},
                {"name": "o", "expression": "optional.of(1)"},
                {"name": "r", "expression": "request"},
                {"name": "w", "expression": "nope"},
                {"name": "m", "expression": "{'k': 'v'}"},
            ],
        ),
        [
            'spec.variables[4].expression: Invalid value: "nope": '
            + failed(1, "undeclared reference to 'nope' (in container '')", "nope"),
            'spec.validations[2].expression: Invalid value: "variables.m[\'k\'] == 1": '
            + failed(18, "found no matching overload for '_==_' applied to '(string, int)'", "variables.m['k'] == 1"),
        ],
    ),
    "a variable of another type": (
        VALIDATING,
        policy({"expression": "variables.a == 1"}, variables=[{"name": "a", "expression": "'x'"}]),
        [
            _VALIDATION.format("variables.a == 1")
            + failed(13, "found no matching overload for '_==_' applied to '(string, int)'", "variables.a == 1")
        ],
    ),
    "a message without an authorizer": (
        VALIDATING,
        policy({"expression": "true", "messageExpression": "authorizer.path('/x').check('get').reason()"}),
        [
            "spec.validations[0].messageExpression: Invalid value: \"authorizer.path('/x').check('get').reason()\": "
            + failed(1, _UNDECLARED.format("authorizer"), "authorizer.path('/x').check('get').reason()")
        ],
    ),
    "a message that is none": (
        VALIDATING,
        policy({"expression": "true", "messageExpression": "1"}),
        ['spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int'],
    ),
    "an annotation that is neither text nor null": (
        VALIDATING,
        policy(auditAnnotations=[{"key": "k", "valueExpression": "true"}]),
        [
            'spec.auditAnnotations[0].valueExpression: Invalid value: "true": must evaluate to one of '
            "[string null_type] but got bool"
        ],
    ),
    "a condition, trimmed": (
        WEBHOOKS,
        webhooks("object.x in [1, 2, "),
        [
            'webhooks[0].matchConditions[0].expression: Invalid value: "object.x in [1, 2,": '
            + failed(19, _SYNTAX, "object.x in [1, 2,")
        ],
    ),
    "a condition that is none": (
        WEBHOOKS,
        webhooks("6"),
        ['webhooks[0].matchConditions[0].expression: Invalid value: "6": must evaluate to bool but got int'],
    ),
    "patches": (
        MUTATING,
        mutating(
            applied("Object{spec: Object.spec{replicas: object.spec.replicas + 1}}"),
            patched('[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b"), value: 1}]'),
        ),
        [],
    ),
    "no patch type": (
        MUTATING,
        mutating({"applyConfiguration": {"expression": "Object{}"}}),
        ["spec.mutations[0].patchType: Required value"],
    ),
    "the other patch": (
        MUTATING,
        mutating({"patchType": "JSONPatch", "applyConfiguration": {"expression": "Object{}"}}),
        [
            "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
            'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when '
            "patchType is JSONPatch",
        ],
    ),
    "a patch of the wrong type": (
        MUTATING,
        mutating(patched("[{'op': 'add'}]"), applied("{'spec': 1}")),
        [
            "spec.mutations[0].jsonPatch.expression: Invalid value: \"[{'op': 'add'}]\": must evaluate to "
            "list(JSONPatch) but got list(map(string, string))",
            "spec.mutations[1].applyConfiguration.expression: Invalid value: \"{'spec': 1}\": must evaluate to Object "
            "but got map(string, int)",
        ],
    ),
    "a patch without such a field": (
        MUTATING,
        mutating(patched("[JSONPatch{operation: 'add'}]")),
        [
            "spec.mutations[0].jsonPatch.expression: Invalid value: \"[JSONPatch{operation: 'add'}]\": "
            + failed(21, "undefined field 'operation'", "[JSONPatch{operation: 'add'}]")
        ],
    ),
    "objects only where they are made": (
        VALIDATING,
        policy({"expression": "Object{} != null"}),
        [_VALIDATION.format("Object{} != null") + failed(7, _UNDECLARED.format("Object"), "Object{} != null")],
    ),
    "a device": (
        CLASS,
        device(
            "cel.bind(a, device.attributes['x.com'], a.n == 1) && device.driver == 'x.com' && "
            "device.capacity['x.com'].memory.isGreaterThan(quantity('1Gi'))"
        ),
        [],
    ),
    "a device that is not known": (
        CLASS,
        device("noSuchVar"),
        [
            'spec.selectors[0].cel.expression: Invalid value: "noSuchVar": '
            + failed(1, _UNDECLARED.format("noSuchVar"), "noSuchVar")
        ],
    ),
    "a device's text": (
        CLASS,
        device("device.driver"),
        [
            'spec.selectors[0].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown '
            "type, not string"
        ],
    ),
    "a selector that costs too much": (
        CLASS,
        device("device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, "
               "a + b == c + d))))"),
        ["spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_expressions(name: str) -> None:
    gvk, value, expected = CASES[name]
    assert problems(gvk, value) == expected
