"""Custom objects that a webhook converts, in the version that webhooks and policies have asked for (matchPolicy
Equivalent: admission/conversion_test.go, integration/apiserver/admissionwebhook)."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from engine.api.errors import ApiError
from engine.api.types import GVR, Object, copy_object
from engine.controllers.discovery import CUSTOM_RESOURCE_DEFINITIONS
from tests.apiserver.test_mutating_policies import patching as json_patching
from tests.apiserver.test_policies import policy, validating
from tests.apiserver.test_webhooks import GROUP, Hooks, hooks, patching

__all__ = ["hooks"]
V2 = GVR("example.com", "v2", "crows")
ON_V1 = {"operations": ["*"], "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["crows"]}
FAILED = "conversion webhook for example.com/v2, Kind=Crow failed: boom"


def converted(obj: Object, target: str) -> Object:
    """A size is an amount since v2."""
    made, spec = copy_object(obj), obj.get("spec", {})
    made["apiVersion"] = target
    made["spec"] = {"amount" if target.endswith("v2") else "size": value for value in spec.values()}
    return made


def convert(review: Object) -> web.Response:
    request = review["request"]
    objects = [converted(each, request["desiredAPIVersion"]) for each in request["objects"]]
    response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects}
    return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})


def fail(review: Object) -> web.Response:
    response = {"uid": review["request"]["uid"], "result": {"status": "Failure", "message": "boom"}}
    return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})


async def define(hooks: Hooks, *, stored: str) -> None:
    hooks.raw["convert"] = convert
    versions = list[Object]()
    for name, field in (("v1", "size"), ("v2", "amount")):
        spec: Object = {"type": "object", "properties": {field: {"type": "integer"}}}
        schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
        versions.append({"name": name, "served": True, "storage": name == stored, "schema": schema})
    config = {"url": f"{hooks.url}/convert", "caBundle": hooks.bundle}
    webhook = {"clientConfig": config, "conversionReviewVersions": ["v1"]}
    spec = {
        "group": "example.com", "scope": "Cluster", "versions": versions,
        "names": {"plural": "crows", "singular": "crow", "kind": "Crow"},
        "conversion": {"strategy": "Webhook", "webhook": webhook},
    }  # fmt: skip
    made: Object = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "crows.example.com"}, "spec": spec,
    }  # fmt: skip
    await hooks.client.create(CUSTOM_RESOURCE_DEFINITIONS, made)


def crow(amount: int, name: str = "c") -> Object:
    return {"apiVersion": "example.com/v2", "kind": "Crow", "metadata": {"name": name}, "spec": {"amount": amount}}


async def test_webhooks_see_and_change_what_is_converted(hooks: Hooks) -> None:
    await define(hooks, stored="v2")
    await hooks.register("Mutating", "a", patching({"op": "replace", "path": "/spec/size", "value": 7}), rules=[ON_V1])
    condition = {"name": "sized", "expression": "object.spec.size == 7"}
    await hooks.register("Validating", "b", rules=[ON_V1], matchConditions=[condition])
    made = await hooks.client.create(V2, crow(1))
    assert made["spec"] == {"amount": 7}
    asked = {path: request for path, request in hooks.asked if path != "convert"}
    assert [asked[path]["object"]["spec"] for path in "ab"] == [{"size": 1}, {"size": 7}]
    hooks.asked.clear()
    await hooks.client.update(V2, {**made, "spec": {"amount": 2}})
    asked = {path: request for path, request in hooks.asked if path != "convert"}
    assert [(asked[path]["object"]["spec"], asked[path]["oldObject"]["spec"]) for path in "ab"] == [
        ({"size": 2}, {"size": 7}),
        ({"size": 7}, {"size": 7}),
    ]
    assert asked["b"]["object"]["apiVersion"] == "example.com/v1"


async def _refused(call: Any) -> tuple[int, str]:
    with pytest.raises(ApiError) as refused:
        await call
    return refused.value.code, refused.value.message


async def test_policies_see_and_change_what_is_converted(hooks: Hooks) -> None:
    await define(hooks, stored="v2")
    constraints = {"resourceRules": [ON_V1]}
    await validating(hooks.client, {"expression": "object.spec.size <= 9"}, matchConstraints=constraints)
    change = json_patching('[JSONPatch{op: "replace", path: "/spec/size", value: object.spec.size * 2}]')
    doubled = {"matchConstraints": constraints, "reinvocationPolicy": "Never", "mutations": [change]}
    await policy(hooks.client, "Mutating", doubled)
    assert (await hooks.client.create(V2, crow(4)))["spec"] == {"amount": 8}
    code, message = await _refused(hooks.client.create(V2, crow(5, "d")))
    assert (code, message.partition("denied request: ")[2]) == (422, "failed expression: object.spec.size <= 9")


@pytest.mark.parametrize("failure_policy", ["Fail", "Ignore"])
async def test_what_is_not_converted_is_not_asked_about(hooks: Hooks, failure_policy: str) -> None:
    await define(hooks, stored="v2")
    hooks.raw["convert"] = fail
    spec: Object = {"matchConstraints": {"resourceRules": [ON_V1]}, "failurePolicy": failure_policy}
    await validating(hooks.client, {"expression": "true"}, **spec)
    if failure_policy == "Fail":
        code, message = await _refused(hooks.client.create(V2, crow(1)))
        told = message.partition("denied request: ")[2]
        assert (code, told) == (422, f"failed to configure binding: failed to convert object version: {FAILED}")
    else:
        assert (await hooks.client.create(V2, crow(1)))["spec"] == {"amount": 1}
    change = {"mutations": [json_patching("[JSONPatch{op: 'test', path: '/kind'}]")], "reinvocationPolicy": "Never"}
    await policy(hooks.client, "Mutating", {**spec, **change})
    if failure_policy == "Fail":
        told = f'policy "p" denied request: failed to configure policy: {FAILED}'
        assert await _refused(hooks.client.create(V2, crow(1, "d"))) == (403, told)
    else:
        assert (await hooks.client.create(V2, crow(1, "d")))["spec"] == {"amount": 1}
    await hooks.client.delete(GVR(GROUP, "v1", "mutatingadmissionpolicybindings"), "b")
    await hooks.register("Mutating", "a", rules=[ON_V1], failurePolicy=failure_policy)
    refused = await _refused(hooks.client.create(V2, crow(1, "e")))
    assert refused == (500, f"Internal error occurred: {FAILED}")
    assert {path for path, _ in hooks.asked} == {"convert"}
