"""Which requests webhooks are asked about, and how often (predicates rules_test.go, namespace matcher_test.go, mutating
dispatcher.go, reinvocation_test.go)."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from engine.api.types import GVR, NAMESPACES, NODES, Object
from engine.controllers.discovery import CUSTOM_RESOURCE_DEFINITIONS
from tests.apiserver.test_webhooks import GROUP, Answer, Hooks, hooks, patching

__all__ = ["hooks"]
SCOPED = {"Namespaced": ["configmaps"], "Cluster": ["namespaces", "nodes"], "*": ["namespaces", "nodes", "configmaps"]}


def rule(*resources: str, group: str = "", version: str = "v1", **more: Any) -> Object:
    return {"operations": ["*"], "apiGroups": [group], "apiVersions": [version], "resources": [*resources], **more}


@pytest.mark.parametrize("scope", SCOPED)
async def test_a_namespace_is_of_the_cluster_and_within_itself(hooks: Hooks, scope: str) -> None:
    rules = [rule("namespaces", "namespaces/*", "nodes", "configmaps", scope=scope)]
    await hooks.register("Validating", "a", rules=rules)
    space: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    made = await hooks.client.create(NAMESPACES, space)
    await hooks.client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
    await hooks.create()
    asked = [request["resource"]["resource"] for _, request in hooks.asked]
    assert asked == SCOPED[scope]
    hooks.asked.clear()
    labels = {**made["metadata"]["labels"], "a": "b"}
    await hooks.client.update(NAMESPACES, {**made, "metadata": {**made["metadata"], "labels": labels}})
    generated: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "g-"}}
    await hooks.client.create(NAMESPACES, generated)
    places = [(request["operation"], request.get("namespace")) for _, request in hooks.asked]
    assert places == ([] if scope == "Namespaced" else [("UPDATE", "n"), ("CREATE", None)])


async def test_a_namespace_says_itself_when_it_is_made(hooks: Hooks) -> None:
    await hooks.register("Validating", "a", rules=[rule("namespaces")])
    await hooks.client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
    assert [request["namespace"] for _, request in hooks.asked] == ["n"]


def definition(*versions: str) -> Object:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = [{"name": each, "served": True, "storage": each == "v1", "schema": schema} for each in versions]
    names = {"plural": "crows", "singular": "crow", "kind": "Crow"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "crows.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": names, "versions": served},
    }  # fmt: skip


async def test_of_versions_that_are_the_same_the_first_rule_has_its_own(hooks: Hooks) -> None:
    await hooks.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition("v1", "v2", "v3"))
    rules = [rule("crows", group="example.com", version=version) for version in ("v3", "v2")]
    for order, expected in ((rules, "v3"), (rules[::-1], "v2")):
        await hooks.register("Validating", "a", rules=order)
        crow: Object = {"apiVersion": "example.com/v1", "kind": "Crow", "metadata": {"name": expected}}
        await hooks.client.create(GVR("example.com", "v1", "crows"), crow)
        assert hooks.asked[-1][1]["resource"]["version"] == expected
        await hooks.client.delete(GVR(GROUP, "v1", "validatingwebhookconfigurations"), "a")


async def test_custom_objects_are_shown_in_another_version_each_as_it_is(hooks: Hooks) -> None:
    """They have no revision yet, or are no longer what was read at it."""
    client = hooks.client
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    made = definition("v1", "v2")
    for version in made["spec"]["versions"]:
        version["schema"] = {"openAPIV3Schema": schema}
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, made)
    unknown = patching({"op": "add", "path": "/spec/nope", "value": 1})
    await hooks.register("Mutating", "a", unknown, rules=[rule("crows", group="example.com")])
    v1, v2 = GVR("example.com", "v1", "crows"), GVR("example.com", "v2", "crows")
    for resource in (v2, v2, v1):
        name = f"c{len(hooks.asked)}"
        body: Object = {"apiVersion": f"example.com/{resource.version}", "kind": "Crow", "metadata": {"name": name}}
        created = await client.create(resource, {**body, "spec": {"size": 1}})
        assert (created["metadata"]["name"], created["spec"]) == (name, {"size": 1})
        assert hooks.asked[-1][1]["object"]["metadata"]["name"] == name
    changed = await client.update(v2, {**await client.get(v2, "c0"), "spec": {"size": 2}})
    told = hooks.asked[-1][1]
    assert (
        changed["spec"] == (await client.get(v2, "c0"))["spec"] == (await client.get(v1, "c0"))["spec"] == {"size": 2}
    )
    assert (told["object"]["spec"], told["oldObject"]["spec"]) == ({"size": 2}, {"size": 1})
    assert (told["object"]["apiVersion"], told["requestKind"]["version"]) == ("example.com/v1", "v2")
    dry = await client.update(v2, {**changed, "spec": {"size": 3}}, dry_run=True)
    assert (dry["spec"], (await client.get(v1, "c0"))["spec"]) == ({"size": 3}, {"size": 2})


async def test_annotations_under_keys_that_are_none_or_taken_are_left_out(hooks: Hooks) -> None:
    said = iter(("3", "4"))
    keys = {"invalid*key": "1", "a/b": "2"}
    for kind in ("Mutating", "Validating"):  # both of the same name
        await hooks.register(
            kind, "a", lambda request: {"allowed": True, "auditAnnotations": {**keys, "k": next(said)}}
        )
    await hooks.create()
    found: Object = {}
    for span in hooks.world.tracer.recent:
        found |= span.detail.get("annotations") or {}
    assert {key: value for key, value in found.items() if key.startswith("a.example.com")} == {"a.example.com/k": "3"}


def setting(key: str, value: str) -> Answer:
    return patching({"op": "add", "path": f"/metadata/labels/{key}", "value": value})


AGAIN: dict[str, tuple[list[tuple[str, Answer, bool]], list[str]]] = {
    "what is changed and changed back has changed": (
        [("a", setting("x", "1"), True), ("b", setting("x", "2"), False), ("c", setting("x", "1"), False)],
        ["a", "b", "c", "a"],
    ),
    "what changes again calls those behind it again": (
        [("a", setting("x", "1"), True), ("b", setting("x", "2"), True)], ["a", "b", "a", "b"],
    ),
    "who changes nothing calls nobody": (
        [("a", lambda request: {"allowed": True}, True), ("b", setting("for", "c"), True)], ["a", "b"],
    ),
    "defaults that are taken away are a change, though they come again": (
        [("a", lambda request: {"allowed": True}, True),
         ("b", patching({"op": "remove", "path": "/spec/ports/0/protocol"}), False)],
        ["a", "b", "a"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", AGAIN)
async def test_who_is_asked_in_the_second_round(hooks: Hooks, case: str) -> None:
    webhooks, expected = AGAIN[case]
    for name, answer, again in webhooks:
        policy = {"reinvocationPolicy": "IfNeeded"} if again else {}
        await hooks.register("Mutating", name, answer, rules=[rule("services")], **policy)
    service: Object = {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "labels": {"for": "c"}},
        "spec": {"ports": [{"port": 80}]},
    }  # fmt: skip
    made = await hooks.client.create(GVR("", "v1", "services"), service, namespace="default")
    assert [name for name, _ in hooks.asked] == expected
    assert made["spec"]["ports"][0]["protocol"] == "TCP"


async def test_conditions_are_asked_in_the_second_round_of_those_too_that_are_not_called_again(hooks: Hooks) -> None:
    conditions = [{"name": "n", "expression": "object.data.x == '1'"}]
    await hooks.register("Mutating", "a", matchConditions=conditions)
    text = base64.b64encode(orjson.dumps([{"op": "remove", "path": "/data/x"}])).decode()
    await hooks.register("Mutating", "b", lambda request: {"allowed": True, "patchType": "JSONPatch", "patch": text})
    body: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"x": "1", "y": "2"}}
    answer = await hooks.client.send("POST", "/api/v1/namespaces/default/configmaps", body=body)
    assert (answer.status, answer.body["message"]) == (
        403, "configmaps \"c\" is forbidden: expression 'object.data.x == '1'' resulted in error: no such key: x",
    )  # fmt: skip
    assert [name for name, _ in hooks.asked] == ["a", "b"]
