"""What mutating policies make of an object, and how they fail (policy/mutating dispatcher_test.go, patch/*_test.go)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, DEPLOYMENTS, GVR, PODS, Object
from engine.client import Client
from tests.apiserver.conftest import config_map, pod
from tests.apiserver.test_policies import GROUP, ON_CONFIG_MAPS, policy

POLICIES = GVR(GROUP, "v1", "mutatingadmissionpolicies")
BINDINGS = GVR(GROUP, "v1", "mutatingadmissionpolicybindings")
ON_DEPLOYMENTS = {
    "resourceRules": [
        {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}
    ]
}
POD = "Object.spec.template.spec"
ENV = [{"name": "twice", "value": "a"}, {"name": "twice", "value": "b"}, {"name": "once", "value": "c"}]


def deployment() -> Object:
    containers = [{"name": "app", "image": "i", "env": ENV}]
    volumes: list[Object] = [{"name": "x", "emptyDir": {}}]
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "labels": {"a": "1"}},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "d"}},
            "template": {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": containers, "volumes": volumes}},
        },
    }  # fmt: skip


def patching(expression: str) -> Object:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def applying(expression: str) -> Object:
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def pod_with(fields: str) -> Object:
    return applying(f"Object{{spec: Object.spec{{template: Object.spec.template{{spec: {POD}{{{fields}}}}}}}}}")


async def mutating(client: Client, *mutations: Object, **spec: Any) -> None:
    wanted = {"reinvocationPolicy": "Never", "matchConstraints": ON_DEPLOYMENTS, "mutations": list(mutations), **spec}
    await policy(client, "Mutating", wanted)


def _labels(made: Object) -> Any:
    return made["metadata"].get("labels")


def _replicas(made: Object) -> Any:
    return made["spec"]["replicas"]


def _volumes(made: Object) -> Any:
    return made["spec"]["template"]["spec"]["volumes"]


def _env(made: Object) -> Any:
    return made["spec"]["template"]["spec"]["containers"][0]["env"]


def _ports(made: Object) -> Any:
    return made["spec"]["template"]["spec"]["containers"][-1].get("ports")


def annotating(value: str) -> Object:
    return patching(f'[JSONPatch{{op: "add", path: "/metadata/annotations", value: {{"a": {value}}}}}]')


def _annotation(made: Object) -> Any:
    return made["metadata"]["annotations"]["a"]


SET_3 = 'JSONPatch{op: "replace", path: "/spec/replicas", value: 3}'
MADE: dict[str, tuple[Object, Callable[[Object], Any], Any]] = {
    "a test that fails leaves all as it is": (
        patching(f'[JSONPatch{{op: "test", path: "/spec/replicas", value: 9}}, {SET_3}]'), _replicas, 1,
    ),
    "a test that holds": (patching(f'[JSONPatch{{op: "test", path: "/spec/replicas", value: 1}}, {SET_3}]'),
        _replicas, 3),
    "a copy": (patching('[JSONPatch{op: "copy", from: "/metadata/labels/a", path: "/metadata/labels/b"}]'),
        _labels, {"a": "1", "b": "1"}),
    "what is patched gets its defaults": (
        patching(f'[JSONPatch{{op: "add", path: "/spec/template/spec/containers/-", value: {POD}.containers{{name: "x",'
                 f' image: "i", ports: [{POD}.containers.ports{{containerPort: 80}}]}}}}]'),
        _ports, [{"containerPort": 80, "protocol": "TCP"}],
    ),
    "elements of a map list come behind": (
        pod_with(f'volumes: [{POD}.volumes{{name: "y"}}]'),
        _volumes, [{"name": "x", "emptyDir": {}}, {"name": "y", "emptyDir": {}}],
    ),
    "an element is merged": (
        pod_with(f'volumes: [{POD}.volumes{{name: "x", emptyDir: {POD}.volumes.emptyDir{{medium: "Memory"}}}}]'),
        _volumes, [{"name": "x", "emptyDir": {"medium": "Memory"}}],
    ),
    "twins are let be": (applying("Object{spec: Object.spec{replicas: 3}}"), _env, ENV),
    "twins become one where they are meant": (
        pod_with(f'containers: [{POD}.containers{{name: "app", env: [{POD}.containers.env{{name: "twice", '
                 'value: "z"}]}]'),
        _env, [{"name": "twice", "value": "z"}, {"name": "once", "value": "c"}],
    ),
    "labels are merged": (applying('Object{metadata: Object.metadata{labels: {"b": "2"}}}'),
        _labels, {"a": "1", "b": "2"}),
    "bytes are base64": (annotating('b"hi?"'), _annotation, "aGk/"),
    "a time is its text": (annotating('timestamp("2024-01-02T03:04:05Z")'), _annotation, "2024-01-02T03:04:05Z"),
    "a duration is its text": (annotating('duration("1h")'), _annotation, "3600s"),
    "an integer that a double cannot hold is its text": (annotating("9007199254740993"), _annotation,
        "9007199254740993"),
    "an optional is its value": (annotating('optional.of("x")'), _annotation, "x"),
    "a whole double is an integer": (patching('[JSONPatch{op: "replace", path: "/spec/replicas", value: 3.0}]'),
        _replicas, 3),
    "nothing is applied": (applying("Object{}"), _labels, {"a": "1"}),
}  # fmt: skip


async def _forget(client: Client) -> None:
    await client.delete(POLICIES, "p")
    await client.delete(BINDINGS, "b")


async def test_what_a_mutation_makes(client: Client) -> None:
    for case, (mutation, part, made) in MADE.items():
        await mutating(client, mutation)
        assert part(await client.create(DEPLOYMENTS, deployment(), namespace="default")) == made, case
        await client.delete(DEPLOYMENTS, "d", namespace="default")
        await _forget(client)


ATOMIC = "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: "
NO_JSON = "JSONPath valueExpression evaluated to a type that could not marshal to JSON: "
UNTYPED = "error applying patch: failed to convert patch object to typed object: "
FAILED: dict[str, tuple[Object, int, str]] = {
    "what is owned as a whole": (
        applying('Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"l": "v"}}}}'),
        403, f"{ATOMIC}.spec.selector",
    ),
    "several that are": (
        pod_with(f'tolerations: [{POD}.tolerations{{key: "y"}}], containers: [{POD}.containers{{name: "app", '
                 'command: ["x"]}]'),
        403, f"{ATOMIC}.spec.template.spec.tolerations, .spec.template.spec.containers[0].command",
    ),
    "a field that there is not": (
        applying("Object{spec: Object.spec{replicasx: 1}}"), 403,
        f"{UNTYPED}.spec.replicasx: field not declared in schema",
    ),
    "a value of another type": (
        applying('Object{spec: Object.spec{replicas: "1"}}'), 403,
        f"{UNTYPED}.spec.replicas: expected numeric (int or float), got string",
    ),
    "a literal of another place": (
        applying("Object{spec: Object.specx{replicas: 1}}"), 403,
        'type mismatch: unexpected type name "Object.specx", expected "Object.spec", which matches field name path '
        "from root Object type",
    ),
    "the same in a patch": (
        patching(f'[JSONPatch{{op: "add", path: "/spec/template/spec", value: {POD}{{volumes: [{POD}.volumesx{{'
                 'name: "y"}]}}]'),
        403,
        f'type mismatch: unexpected type name "{POD}.volumesx", expected "{POD}.volumes", which matches field name '
        "path from root Object type",
    ),
    "a patched field that there is not": (
        patching('[JSONPatch{op: "add", path: "/spec/replicasx", value: 1}]'), 500,
        'Internal error occurred: strict decoding error: unknown field "spec.replicasx"',
    ),
    "a patched value of another type": (
        patching('[JSONPatch{op: "replace", path: "/spec/replicas", value: "three"}]'), 500,
        "Internal error occurred: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of "
        "type int32",
    ),
    "a key that is no string": (
        patching('[JSONPatch{op: "add", path: "/metadata/annotations", value: {1: "x"}}]'), 403,
        f"{NO_JSON}unsupported type conversion from 'int' to string",
    ),
    "a key that is true": (
        patching('[JSONPatch{op: "add", path: "/metadata/annotations", value: {true: "x"}}]'), 403,
        f"{NO_JSON}type conversion error from bool to 'string'",
    ),
    "a value that is not there": (annotating("optional.none()"), 403, f"{NO_JSON}optional.none() dereference"),
    "a number that JSON has not": (
        annotating("0.0 / 0.0"), 403,
        f"{NO_JSON}json: error calling MarshalJSON for type *structpb.Value: proto: google.protobuf.Value.number_value "
        "cannot have NaN value",
    ),
    "a value of a library": (
        annotating('quantity("1")'), 403, f"{NO_JSON}type conversion error from 'Quantity' to '*structpb.Value'",
    ),
    "a type": (annotating("type(1)"), 403, f"{NO_JSON}type conversion not supported for 'type'"),
    "a time in a literal": (
        patching('[JSONPatch{op: "add", path: "/metadata", value: Object.metadata{annotations: '
                 '{"a": duration("1s")}}}]'),
        403, f"{NO_JSON}proto: invalid type: time.Duration",
    ),
    "an operation whose name is a number": (
        patching('[JSONPatch{op: dyn(1), path: "/spec"}]'), 403,
        "expression '[JSONPatch{op: dyn(1), path: \"/spec\"}]' resulted in error: unexpected type int for "
        "JSONPatchType 'op' field",
    ),
    "a patch that does not fit": (
        patching('[JSONPatch{op: "replace", path: "/spec/template/spec/containers/-", value: {"name": "x"}}]'), 403,
        "JSON Patch: replace operation does not apply: doc is missing key: /spec/template/spec/containers/-: missing "
        "value",
    ),
}  # fmt: skip


async def test_how_a_mutation_fails(client: Client) -> None:
    named = "policy 'p' with binding 'b' denied request: "
    for case, (mutation, code, why) in FAILED.items():
        await mutating(client, mutation)
        with pytest.raises(ApiError) as caught:
            await client.create(DEPLOYMENTS, deployment(), namespace="default")
        error, message = caught.value, why if code == 500 else named + why
        assert (error.code, error.message) == (code, message), case
        assert error.reason == ("InternalError" if code == 500 else "Invalid"), case
        assert error.details is not None
        assert [each["message"] for each in error.details["causes"]] == [message.removeprefix(
            "Internal error occurred: ")], case  # fmt: skip
        await _forget(client)


BROKEN = applying('Object{metadata: Object.metadata{labels: {"x": object.data.nope}}}')
LABEL = 'Object{{metadata: Object.metadata{{labels: {{"{0}": "{0}"}}}}}}'


async def test_all_failures_are_told_and_what_did_not_fail_is_done(client: Client) -> None:
    spec: Object = {"matchConstraints": ON_CONFIG_MAPS, "mutations": [BROKEN, applying(LABEL.format("a")), BROKEN]}
    await mutating(client, **spec)
    why = (
        "expression 'Object{metadata: Object.metadata{labels: {\"x\": object.data.nope}}}' resulted in error: no such "
    )
    with pytest.raises(ApiError) as caught:
        await client.create(CONFIGMAPS, config_map("c", k="v"), namespace="default")
    assert caught.value.message == f"policy 'p' with binding 'b' denied request: {why}key: nope"
    assert len((caught.value.details or {})["causes"]) == 2
    await _forget(client)
    await mutating(client, **spec, failurePolicy="Ignore")
    made = await client.create(CONFIGMAPS, config_map("c", k="v"), namespace="default")
    assert made["metadata"]["labels"] == {"a": "a"}


async def test_a_policy_whose_parameters_nobody_knows(client: Client) -> None:
    kind = {"apiVersion": "example.com/v1", "kind": "Limit"}
    await mutating(client, applying(LABEL.format("a")), matchConstraints=ON_CONFIG_MAPS, paramKind=kind)
    with pytest.raises(ApiError) as caught:
        await client.create(CONFIGMAPS, config_map("c"), namespace="default")
    assert (caught.value.code, caught.value.reason) == (403, "Forbidden")
    assert caught.value.message == (
        'policy "p" denied request: failed to configure policy: failed to find resource referenced by paramKind: '
        "'example.com/v1, Kind=Limit'"
    )


async def test_who_wants_to_is_asked_again_after_others_but_once(client: Client) -> None:
    count = applying(
        'Object{metadata: Object.metadata{annotations: {"n": string(int(object.metadata.annotations["n"]) + 1)}}}'
    )
    for name, again in (("one", "IfNeeded"), ("two", "IfNeeded"), ("three", "Never")):
        spec = {"reinvocationPolicy": again, "matchConstraints": ON_CONFIG_MAPS, "mutations": [count]}
        for resource, kind, body in (
            (POLICIES, "MutatingAdmissionPolicy", spec), (BINDINGS, "MutatingAdmissionPolicyBinding",
             {"policyName": name}),
        ):  # fmt: skip
            await client.create(
                resource, {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}, "spec": body}
            )
    counted = config_map("c")
    counted["metadata"]["annotations"] = {"n": "0"}
    made = await client.create(CONFIGMAPS, counted, namespace="default")
    assert made["metadata"]["annotations"]["n"] == "5"


async def _bound(client: Client, name: str, spec: Object, binding: Object | None = None) -> None:
    for resource, kind, body in (
        (POLICIES, "MutatingAdmissionPolicy", {"matchConstraints": ON_CONFIG_MAPS, **spec}),
        (BINDINGS, "MutatingAdmissionPolicyBinding", {"policyName": name, **(binding or {})}),
    ):
        obj = {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}, "spec": body}
        await client.create(resource, obj)


async def test_what_policies_have_made_decides_of_conditions_but_not_of_what_they_match(client: Client) -> None:
    """Who is concerned is found out before the first of them (policy_dispatcher.go)."""

    def labelling(name: str, **spec: Any) -> Object:
        mutation = applying(f'Object{{metadata: Object.metadata{{labels: {{"{name}": "1"}}}}}}')
        return {"reinvocationPolicy": "IfNeeded", "mutations": [mutation], **spec}

    made = {"objectSelector": {"matchLabels": {"first": "1"}}}
    await _bound(client, "first", labelling("first"))
    await _bound(client, "policy", labelling("policy", matchConstraints={**ON_CONFIG_MAPS, **made}))
    await _bound(client, "binding", labelling("binding"), {"matchResources": made})
    conditions = [{"name": "c", "expression": "'first' in object.metadata.labels"}]
    await _bound(client, "second", labelling("second", matchConditions=conditions))
    created = await client.create(CONFIGMAPS, config_map("c", {"for": "c"}), namespace="default")
    assert created["metadata"]["labels"] == {"for": "c", "first": "1", "second": "1"}


async def _calls(client: Client) -> float:
    """How often a plugin has been called for what is made."""
    counted = 'seconds_count{name="LimitRanger",operation="CREATE",rejected="false",type="admit"}'
    body: bytes = (await client.send("GET", "/metrics")).body
    found = [line for line in body.decode().splitlines() if counted in line]
    return float(found[0].rpartition(" ")[2])


async def test_what_leaves_the_object_as_it_is_calls_plugins_again_too(client: Client) -> None:
    """A patch that was made is a reason, whatever came of it (mutating/dispatcher.go)."""
    before = await _calls(client)
    await client.create(CONFIGMAPS, config_map("before"), namespace="default")
    same = patching('[JSONPatch{op: "test", path: "/metadata/name", value: "other"}]')
    await _bound(client, "p", {"reinvocationPolicy": "Never", "mutations": [same]})
    between = await _calls(client)
    await client.create(CONFIGMAPS, config_map("c"), namespace="default")
    assert await _calls(client) - between == 2
    assert between > before


async def test_what_a_connection_asks_for_is_of_no_known_kind(client: Client, default_account: Object) -> None:
    await client.create(PODS, pod("a"), namespace="default")
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CONNECT"], "resources": ["pods/exec"]}]
    await mutating(client, applying("Object{}"), matchConstraints={"resourceRules": rules})
    answer = await client.send("POST", "/api/v1/namespaces/default/pods/a/exec", query={"command": ["ls"]})
    assert (answer.status, answer.body["message"]) == (
        503, "Resource kind /v1, Kind=PodExecOptions not found. There can be a delay between when "
        "CustomResourceDefinitions are created and when they are available.",
    )  # fmt: skip
