"""Mutating admission comes before the storage compares revisions and fills in what an update leaves out (store.go
Update, rest.BeforeUpdate): webhooks are shown what the client has sent, and what they make of it counts."""

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
