"""What the expressions of policies and webhooks know when they run: the authorizer, variables, annotations, budgets."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, CONFIGMAPS, GVR, Object
from engine.client import Client
from tests.apiserver.conftest import ClientFor, config_map
from tests.apiserver.test_policies import DENIED, policy, refusal, validating

WEBHOOKS = GVR("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations")
RBAC = "rbac.authorization.k8s.io/v1"


async def allow(client: Client, user: str, *rules: Object) -> None:
    named = {"metadata": {"name": user}, "apiVersion": RBAC}
    await client.create(CLUSTER_ROLES, {**named, "kind": "ClusterRole", "rules": list(rules)})
    subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": "ClusterRole", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    binding = {**named, "kind": "ClusterRoleBinding", "subjects": [subject], "roleRef": reference}
    await client.create(CLUSTER_ROLE_BINDINGS, binding)


CONFIG_MAPS: Object = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "approve"]}


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("authorizer.requestResource.check('approve').allowed()", True),
        ("authorizer.group('').resource('configmaps').namespace('other').name('x').check('approve').allowed()", True),
        ("authorizer.group('apps').resource('deployments').check('create').allowed()", False),
        ("authorizer.path('/healthz').check('get').allowed()", True),
        ("authorizer.serviceAccount('default', 'x').requestResource.check('create').allowed()", None),
        ("authorizer.serviceAccount('default', 'x').group('').resource('configmaps').check('create').allowed()", False),
        ("authorizer.serviceAccount('default', 'x').path('/version').check('get').allowed()", False),
        ("!authorizer.requestResource.check('approve').errored()", True),
        ("authorizer.requestResource.check('approve').error() == ''", True),
    ],
)
async def test_the_authorizer_is_asked(
    client: Client, client_for: ClientFor, expression: str, allowed: bool | None
) -> None:
    await allow(client, "jane", CONFIG_MAPS, {"nonResourceURLs": ["/healthz"], "verbs": ["get"]})
    if allowed is None:
        with pytest.raises(ApiError, match="does not support field selection"):
            await validating(client, {"expression": expression})
        return
    await validating(client, {"expression": expression})
    jane = client_for("jane")
    if allowed:
        await jane.create(CONFIGMAPS, config_map("c"), namespace="default")
    else:
        assert (await refusal(jane, config_map("c"))).message == f"{DENIED}failed expression: {expression}"


async def test_a_match_condition_may_ask_the_authorizer(client: Client, client_for: ClientFor) -> None:
    await allow(client, "jane", CONFIG_MAPS)
    webhook = {
        "name": "one.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/never"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
        "matchConditions": [{"name": "others", "expression": "!authorizer.requestResource.check('approve').allowed()"}],
    }
    made = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "w"}, "webhooks": [webhook]}  # fmt: skip
    await client.create(WEBHOOKS, made)
    await client_for("jane").create(CONFIGMAPS, config_map("c"), namespace="default")


REFUSALS: dict[str, tuple[Object, str]] = {
    "a variable that fails": (
        {
            "variables": [{"name": "v", "expression": "object.data.nope"}],
            "validations": [{"expression": "variables.v == 1"}],
        },
        "expression 'variables.v == 1' resulted in error: composited variable \"v\" fails to evaluate: no such key: "
        "nope",
    ),
    "a condition that fails": (
        {
            "matchConditions": [{"name": "c", "expression": "object.data.nope == '1'"}],
            "validations": [{"expression": "true"}],
        },
        "expression 'object.data.nope == '1'' resulted in error: no such key: nope",
    ),
    "an annotation that fails": (
        {
            "validations": [{"expression": "true"}],
            "auditAnnotations": [{"key": "k", "valueExpression": "'a' + object.data.nope"}],
        },
        "expression ''a' + object.data.nope' resulted in error: no such key: nope",
    ),
    "a message with line breaks": (
        {"validations": [{"expression": "false", "messageExpression": "'a\\nb'", "message": "told"}]},
        "told",
    ),
    "a costly expression": (
        {"validations": [{"expression": "[1, 2, 3, 4, 5, 6, 7, 8, 9, 0].all(a, " * 6 + "true" + ")" * 6}]},
        f"expression '{'[1, 2, 3, 4, 5, 6, 7, 8, 9, 0].all(a, ' * 6}true{')' * 6}' resulted in error: operation "
        "cancelled: actual cost limit exceeded",
    ),
    "a parameter that is not there": (
        {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "validations": [{"expression": "params == null"}]},
        "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
async def test_what_refuses_because_it_cannot_be_decided(client: Client, case: str) -> None:
    spec, message = REFUSALS[case]
    reference = {"name": "none", "namespace": "default", "parameterNotFoundAction": "Deny"}
    bound: Object = {"validationActions": ["Deny"]} | ({"paramRef": reference} if "paramKind" in spec else {})
    await policy(client, "Validating", spec, bound)
    error = await refusal(client, config_map("c", a="1"))
    assert (error.code, error.reason, error.message) == (422, "Invalid", DENIED + message)


@pytest.mark.parametrize("case", REFUSALS)
async def test_a_policy_that_ignores_failures_lets_pass(client: Client, case: str) -> None:
    spec, message = REFUSALS[case]
    reference = {"name": "none", "namespace": "default", "parameterNotFoundAction": "Deny"}
    bound: Object = {"validationActions": ["Deny"]} | ({"paramRef": reference} if "paramKind" in spec else {})
    await policy(client, "Validating", {**spec, "failurePolicy": "Ignore"}, bound)
    if message == "told":
        assert (await refusal(client, config_map("c", a="1"))).message == f"{DENIED}told"
    else:
        await client.create(CONFIGMAPS, config_map("c", a="1"), namespace="default")


async def test_a_variable_is_worked_out_when_it_is_asked_for(client: Client) -> None:
    variables: list[Any] = [
        {"name": "bad", "expression": "object.data.nope"},
        {"name": "size", "expression": "object.data.size()"},
        {"name": "twice", "expression": "variables.size * 2"},
    ]
    await validating(client, {"expression": "variables.twice < 3 || variables.bad == 'x'"}, variables=variables)
    await client.create(CONFIGMAPS, config_map("c", a="1"), namespace="default")
    assert "fails to evaluate" in (await refusal(client, config_map("d", a="1", b="2"))).message
