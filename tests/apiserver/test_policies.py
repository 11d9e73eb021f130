"""Admission policies in CEL."""

from __future__ import annotations

import re
from typing import Any

import pytest

from engine.api.cel.admission import Scope, compiled
from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, GVR, NAMESPACES, PODS, Object
from engine.apiserver.admission.expression_errors import ExpressionError
from engine.apiserver.admission.expressions import check_object, plain
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN, config_map, pod

GROUP = "admissionregistration.k8s.io"
ON_CONFIG_MAPS = {
    "resourceRules": [
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}
    ]
}


async def policy(client: Client, kind: str, spec: Object, binding: Object | None = None) -> None:
    for suffix, name, body in (
        ("", "policies", {"matchConstraints": ON_CONFIG_MAPS, **spec}),
        ("Binding", "policybindings", {"policyName": "p", **(binding or {})}),
    ):
        resource = GVR(GROUP, "v1", f"{kind.lower()}admission{name}")
        obj = {
            "apiVersion": f"{GROUP}/v1",
            "kind": f"{kind}AdmissionPolicy{suffix}",
            "metadata": {"name": "b" if suffix else "p"},
            "spec": body,
        }
        await client.create(resource, obj)


async def validating(client: Client, *validations: Object, binding: Object | None = None, **spec: Any) -> None:
    wanted = {"validationActions": ["Deny"], **(binding or {})}
    await policy(client, "Validating", {"validations": list(validations), **spec}, wanted)


async def refusal(client: Client, obj: Object) -> ApiError:
    with pytest.raises(ApiError) as refused:
        await client.create(CONFIGMAPS, obj, namespace="default")
    return refused.value


DENIED = "configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "
CASES: dict[str, tuple[Object, Object, int, str]] = {
    "by an expression": (
        {"expression": "object.data.size() < 2"},
        config_map("c", a="1", b="2"),
        422,
        "failed expression: object.data.size() < 2",
    ),
    "with a message": (
        {"expression": "false", "message": " no "},
        config_map("c"),
        422,
        "no",
    ),
    "with a message expression": (
        {"expression": "false", "messageExpression": "'not ' + object.metadata.name", "message": "x"},
        config_map("c"),
        422,
        "not c",
    ),
    "with a reason": (
        {"expression": "false", "reason": "RequestEntityTooLarge"},
        config_map("c"),
        413,
        "failed expression: false",
    ),
    "by an error": (
        {"expression": "object.data.x == '1'"},
        config_map("c", a="1"),
        422,
        "expression 'object.data.x == '1'' resulted in error: no such key: x",
    ),
}


@pytest.mark.parametrize("case", CASES)
async def test_what_is_refused(client: Client, case: str) -> None:
    validation, obj, code, message = CASES[case]
    await validating(client, validation)
    error = await refusal(client, obj)
    assert (error.code, error.message) == (code, DENIED + message)


async def test_what_is_refused_is_named_by_the_name_that_it_was_given(client: Client) -> None:
    await validating(client, {"expression": "!object.metadata.generateName.startsWith('c')", "message": "no"})
    generated = config_map("")
    generated["metadata"] = {"generateName": "c-"}
    assert re.fullmatch(r'configmaps "c-[a-z0-9]{5}" is forbidden: .*', (await refusal(client, generated)).message)


async def test_variables_conditions_and_namespaces(client: Client) -> None:
    await validating(
        client,
        {"expression": "variables.size <= 1 && namespaceObject.metadata.name == 'default' && oldObject == null"},
        variables=[{"name": "size", "expression": "object.data.size()"}],
        matchConditions=[{"name": "named", "expression": "object.metadata.name != 'free'"}],
    )
    await client.create(CONFIGMAPS, config_map("one", a="1"), namespace="default")
    await client.create(CONFIGMAPS, config_map("free", a="1", b="2"), namespace="default")
    assert (await refusal(client, config_map("c", a="1", b="2"))).code == 422


async def test_parameters(client: Client) -> None:
    reference = {"name": "limits", "namespace": "default", "parameterNotFoundAction": "Deny"}
    await client.create(CONFIGMAPS, config_map("limits", max="1"), namespace="default")
    await validating(
        client,
        {"expression": "object.data.size() <= int(params.data.max)"},
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        binding={"paramRef": reference},
    )
    await client.create(CONFIGMAPS, config_map("one", a="1"), namespace="default")
    assert (await refusal(client, config_map("c", a="1", b="2"))).code == 422


async def test_a_policy_that_fails_may_be_ignored(client: Client) -> None:
    await validating(client, {"expression": "object.data.x == '1'"}, failurePolicy="Ignore")
    await client.create(CONFIGMAPS, config_map("c", a="1"), namespace="default")


async def test_a_mutating_policy_patches_and_applies(client: Client, default_account: Object) -> None:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
    await policy(
        client,
        "Mutating",
        {
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": rules},
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {
                        "expression": 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "mesh", '
                        'image: "mesh:1"}]}}'
                    },
                },
                {
                    "patchType": "JSONPatch",
                    "jsonPatch": {
                        "expression": '[JSONPatch{op: "add", path: "/metadata/labels", value: {"made/by": "policy"}}]'
                    },
                },
            ],
        },
    )
    made = await client.create(PODS, pod(), namespace="default")
    assert sorted(container["name"] for container in made["spec"]["containers"]) == ["app", "mesh"]
    assert made["metadata"]["labels"] == {"made/by": "policy"}


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("Object{spec: Object.spec{replicas: 1}}", {"spec": {"replicas": 1}}),
        ('Object{spec: Object.spec{labels: {"a": "Object{b: 1}"}}}', {"spec": {"labels": {"a": "Object{b: 1}"}}}),
        ("Object{spec: has(object.a) ? object.b : object.c}", {"spec": 3}),
        ('[JSONPatch{op: "test", path: "/a/" + jsonpatch.escapeKey("b/c~d")}]', [{"op": "test", "path": "/a/b~1c~0d"}]),
        ("Object{spec: Object.spec{x__dash__y: 1, ?z: optional.none()}}", {"spec": {"x-y": 1}}),
    ],
)
def test_literals(source: str, made: Any) -> None:
    program = compiled(source, Scope(patches=True))
    assert plain(program.run({"object": {"c": 3}}).value) == made


def test_a_literal_has_the_type_of_its_field() -> None:
    program = compiled("Object{spec: Object.status{replicas: 1}}", Scope(patches=True))
    with pytest.raises(ExpressionError, match=r'unexpected type name "Object\.status", expected "Object\.spec"'):
        check_object(program.run({}).value)


async def _warned(client: Client, name: str) -> str:
    """What is warned of as a config map is made."""
    answer = await client.send(
        "POST", "/api/v1/namespaces/default/configmaps", body=config_map(name, a="1"),
        headers={"content-type": "application/json"},
    )  # fmt: skip
    assert answer.status == 201, answer.body
    return answer.headers.get("warning", "")


async def test_a_condition_that_fails_is_told_as_the_binding_says(client: Client) -> None:
    conditions = [{"name": name, "expression": "object.data.nope == '1'"} for name in ("c", "d")]
    binding = {"validationActions": ["Warn"]}
    await validating(client, {"expression": "true"}, matchConditions=conditions, binding=binding)
    why = "expression 'object.data.nope == '1'' resulted in error: no such key: nope"
    told = f"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': {why}"
    assert await _warned(client, "c") == f'299 - "{told}"'


async def test_messages_are_worked_out_with_what_the_rules_have_left(client: Client) -> None:
    """All of them, also those of rules that hold; if they cost too much, none holds."""
    costly = f"string(object.data.a.matches('{'b' * 100}'))"
    await validating(client, *[{"expression": "true", "messageExpression": costly}] * 40)
    error = await refusal(client, config_map("c", a="a" * 100_000))
    assert error.message.startswith(f"{DENIED}failed messageExpression: validation failed due to running out of cost")


ASKS = "authorizer.path('/x').check('get').allowed()"
UNASKED: dict[str, tuple[str, Object, Object, str]] = {
    "an annotation": (
        "true", {"valueExpression": f"string({ASKS})"}, {},
        f"expression 'string({ASKS})' resulted in error: no such attribute(s): authorizer",
    ),
    "an annotation about the request's own resource": (
        "true", {"valueExpression": "authorizer.requestResource.check('get').reason()"}, {},
        "expression 'authorizer.requestResource.check('get').reason()' resulted in error: no such attribute(s): "
        "authorizer.requestResource",
    ),
    "an annotation by a variable, though a rule had it": (
        "variables.v", {"valueExpression": "string(variables.v)"}, {},
        "expression 'string(variables.v)' resulted in error: composited variable \"v\" fails to evaluate: no such "
        "attribute(s): authorizer",
    ),
    "a message by a variable": (
        "!variables.v", {"valueExpression": "null"}, {"messageExpression": "'v is ' + string(variables.v)"},
        "failed expression: !variables.v",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNASKED)
async def test_messages_and_annotations_have_no_authorizer(client: Client, case: str) -> None:
    """That it is declared for annotations and variables shows when they are worked out (validator.go)."""
    expression, annotation, more, why = UNASKED[case]
    validation = {"expression": expression, **more}
    variables = [{"name": "v", "expression": ASKS}]
    await validating(client, validation, auditAnnotations=[{"key": "k", **annotation}], variables=variables)
    assert (await refusal(client, config_map("c"))).message == DENIED + why


PARAMETERS: dict[str, tuple[Object, Object, str]] = {
    "a kind that nobody knows": (
        {"apiVersion": "example.com/v1", "kind": "Limit"}, {"name": "x", "parameterNotFoundAction": "Allow"},
        "'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: "
        "'example.com/v1, Kind=Limit'",
    ),
    "a namespace for what is in none": (
        {"apiVersion": "v1", "kind": "Namespace"},
        {"name": "x", "namespace": "default", "parameterNotFoundAction": "Allow"},
        "'p' with binding 'b' denied request: failed to configure binding: paramRef.namespace must not be provided for "
        "a cluster-scoped `paramKind`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PARAMETERS)
async def test_parameters_that_cannot_be_had_refuse_whatever_the_binding_says(client: Client, case: str) -> None:
    kind, reference, why = PARAMETERS[case]
    binding = {"paramRef": reference, "validationActions": ["Audit"]}
    await validating(client, {"expression": "true"}, paramKind=kind, binding=binding)
    error = await refusal(client, config_map("c"))
    assert error.message == f'configmaps "c" is forbidden: ValidatingAdmissionPolicy {why}'


FAILED = (
    '{"message":"failed expression: object.data.size() \\u003e 1 \\u0026\\u0026 true","policy":"p","binding":"b",'
    '"expressionIndex":0,"validationActions":["Warn","Audit"]}'
)
AND_FAILED = '{"message":"no","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Warn","Audit"]}'


@pytest.mark.parametrize(("version", "told"), [("1.37", f"[{FAILED},{AND_FAILED}]"), ("1.36", f"[{FAILED}]")])
async def test_what_fails_is_written_for_the_audit_log_as_go_writes_it(
    world: World, store: SqliteStore, version: str, told: str
) -> None:
    """Since 1.37 all of it: what is there under a key is not written over."""
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version=version))
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="kubectl/v1.37.1")
    checks: list[Object] = [
        {"expression": "object.data.size() > 1 && true"}, {"expression": "false", "message": "no"},
    ]  # fmt: skip
    await validating(client, *checks, binding={"validationActions": ["Warn", "Audit"]})
    await client.create(CONFIGMAPS, config_map("c", a="1"), namespace="default")
    await server.stop()
    found = [span.detail["annotations"] for span in world.tracer.recent if span.detail.get("annotations")]
    assert found == [{"validation.policy.admission.k8s.io/validation_failure": told}]


async def test_a_namespace_is_in_none(client: Client) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["namespaces"]}
    told = "request.namespace + ' ' + string(namespaceObject == null)"
    constraints = {"resourceRules": [rule]}
    await validating(client, {"expression": "false", "messageExpression": told}, matchConstraints=constraints)
    with pytest.raises(ApiError, match="denied request: default true"):
        await client.patch(NAMESPACES, "default", {"metadata": {"labels": {"a": "b"}}})


async def test_what_policies_came_to_is_counted(client: Client) -> None:
    failing, ignored = {"expression": "object.data.x == '1'"}, {"validationActions": ["Deny", "Audit"]}
    await validating(client, failing, {"expression": "false"}, binding=ignored, failurePolicy="Ignore")
    await refusal(client, config_map("c", a="1"))
    body: bytes = (await client.send("GET", "/metrics")).body
    counted = 'apiserver_validating_admission_policy_check_total{{enforcement_action="{}",error_type="{}",'
    named = 'policy="p",policy_binding="b"} 1'
    told = [line for line in body.decode().splitlines() if line.startswith("apiserver_validating_admission_policy_ch")]
    assert [line for line in told if "_total{" in line] == [
        counted.format(*each) + named for each in (("allow", "invalid_error"), ("audit", "no_error"),
                                                   ("deny", "no_error"))
    ]  # fmt: skip
    rejected = 'name="ValidatingAdmissionPolicy",operation="CREATE",rejected="true",type="validate"} 1'
    assert f"apiserver_admission_controller_admission_duration_seconds_count{{{rejected}" in body.decode()
