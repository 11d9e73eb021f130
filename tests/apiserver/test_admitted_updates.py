"""Mutating admission comes before the storage compares revisions and fills in what an update leaves out (store.go
Update, rest.BeforeUpdate): webhooks are shown what the client has sent, as Go writes it, and what they make of it
counts."""

from __future__ import annotations

from typing import Any

from engine.api.types import Object
from tests.apiserver.conftest import config_map
from tests.apiserver.test_webhooks import Hooks, hooks, patching

__all__ = ["hooks"]
PATH = "/api/v1/namespaces/default/configmaps/c"
MERGE = {"content-type": "application/merge-patch+json"}
ON_UPDATE = [{"operations": ["UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]


async def put(hooks: Hooks, **metadata: Any) -> Object:
    body = config_map("c", x="1")
    body["metadata"] |= metadata
    answer: Object = (await hooks.client.send("PUT", PATH, body=body)).body
    return answer


async def test_webhooks_are_shown_what_was_sent(hooks: Hooks) -> None:
    made = await hooks.create()
    await hooks.register("Mutating", "a", rules=ON_UPDATE)
    await hooks.register("Validating", "b", rules=ON_UPDATE)
    written = await put(hooks)
    (_, first), (_, second) = hooks.asked
    assert {"uid", "creationTimestamp", "resourceVersion"}.isdisjoint(first["object"]["metadata"])
    assert first["oldObject"]["metadata"]["uid"] == made["metadata"]["uid"]
    kept = second["object"]["metadata"]
    assert (kept["uid"], kept["resourceVersion"]) == (made["metadata"]["uid"], made["metadata"]["resourceVersion"])
    assert written["metadata"]["uid"] == made["metadata"]["uid"]


async def test_who_changes_objects_is_asked_of_those_that_are_no_longer_as_they_were(hooks: Hooks) -> None:
    made = await hooks.create()
    await hooks.register("Mutating", "a", rules=ON_UPDATE)
    await hooks.register("Validating", "b", rules=ON_UPDATE)
    assert (await put(hooks, resourceVersion=made["metadata"]["resourceVersion"]))["data"] == {"x": "1"}
    hooks.asked.clear()
    assert (await put(hooks, resourceVersion=made["metadata"]["resourceVersion"]))["code"] == 409
    assert [name for name, _ in hooks.asked] == ["a"]


async def test_a_revision_that_a_webhook_makes_is_the_one_that_is_compared(hooks: Hooks) -> None:
    await hooks.create()
    await hooks.register("Mutating", "a", rules=ON_UPDATE)
    for number, (operation, code) in enumerate(
        (
            ({"op": "add", "path": "/metadata/resourceVersion", "value": "1"}, 409),
            ({"op": "add", "path": "/metadata/resourceVersion", "value": "x"}, 500),
            ({"op": "remove", "path": "/metadata/resourceVersion"}, 200),
            ({"op": "remove", "path": "/metadata/uid"}, 200),
        )
    ):
        hooks.answers["a"] = patching(operation)
        answer = await hooks.client.send("PATCH", PATH, body={"data": {"n": str(number)}}, headers=MERGE)
        assert answer.status == code, operation


NOTHING = {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}
STRUCTS: dict[str, tuple[str, Object, Object]] = {
    "a budget": ("/apis/policy/v1/namespaces/default/poddisruptionbudgets", {"spec": {"minAvailable": 1}},
                 {"status": NOTHING}),
    "a quota": ("/api/v1/namespaces/default/resourcequotas", {"spec": {"hard": {"pods": "1"}}}, {"status": {}}),
    "a role": ("/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", {}, {"rules": None}),
    "an ingress": ("/apis/networking.k8s.io/v1/namespaces/default/ingresses",
                   {"spec": {"defaultBackend": {"service": {"name": "x", "port": {"number": 80}}}}},
                   {"status": {"loadBalancer": {}}}),
}  # fmt: skip


async def test_webhooks_and_policies_are_shown_what_a_struct_has_though_nobody_said_it(hooks: Hooks) -> None:
    rules = [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
              "resources": ["poddisruptionbudgets", "resourcequotas", "roles", "ingresses"]}]  # fmt: skip
    condition = "has(object.status) || object.rules == null"
    same = patching({"op": "add", "path": "/metadata/labels", "value": {"a": "b"}})
    await hooks.register("Mutating", "a", same, rules=rules, matchConditions=[{"name": "n", "expression": condition}])
    for case, (path, said, shown) in STRUCTS.items():
        metadata: Object = {"name": "x", "labels": {"a": "b"}}
        body = {"metadata": metadata, **said}
        for verb, at in (("POST", path), ("PUT", f"{path}/x")):
            hooks.world.tracer.recent.clear()
            answer = await hooks.client.send(verb, at, body=body)
            assert answer.status < 300, case
            asked: Object = hooks.asked[-1][1]["object"]
            assert {name: asked[name] for name in shown} == shown, case
            told = [span.detail["annotations"] for span in hooks.world.tracer.recent if "annotations" in span.detail]
            assert '"mutated":false' in told[0]["mutation.webhook.admission.k8s.io/round_0_index_0"], case
            metadata["resourceVersion"] = answer.body["metadata"]["resourceVersion"]
