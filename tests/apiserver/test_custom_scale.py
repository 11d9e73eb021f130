"""What scaling a custom resource says of a Scale, as upstream's ScaleREST and validator.go have it
(apiextensions-apiserver pkg/registry/customresource): replicas are judged in the object, and a uid is a precondition
of who replaces the Scale alone."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import GVR, Object
from engine.client import Client

DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
THINGS = GVR("stable.example.com", "v1", "things")
MERGE = {"content-type": "application/merge-patch+json"}
SCALE: Object = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a", "namespace": "default"}}
ACCESSOR = "accessor error: x is of the type string, expected map[string]interface{}"


def _definition() -> Object:
    paths = {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}, "scale": paths},
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    spec = {"group": THINGS.group, "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": f"things.{THINGS.group}"}, "spec": spec}


# (method, subresource, body, status, words of the answer)
ROWS: list[tuple[str, str, Object, int, str]] = [
    ("PUT", "scale", {"spec": {"replicas": -1}}, 422, ".spec.replicas: Invalid value: -1: should be a non-negative"),
    ("PATCH", "scale", {"spec": {"replicas": -4}}, 422, ".spec.replicas: Invalid value: -4: should be a non-negative"),
    ("PUT", "scale", {"metadata": {"uid": "123"}, "spec": {"replicas": 2}}, 409, "UID in precondition: 123, UID in"),
    ("PATCH", "scale", {"metadata": {"uid": "123"}, "spec": {"replicas": 2}}, 200, ""),
    ("PATCH", "", {"metadata": {"uid": "123"}}, 422, 'metadata.uid: Invalid value: "123": field is immutable'),
    ("PATCH", "status", {"status": "x"}, 422, f".status.replicas {ACCESSOR}"),
    ("PATCH", "status", {"status": {"replicas": 1, "selector": 4}}, 422, "4 is of the type int64, expected string"),
    ("PATCH", "status", {"status": {"replicas": 1, "selector": "a in (b"}}, 200, ""),
]


@pytest.fixture
async def thing(client: Client) -> Object:
    await client.create(DEFINITIONS, _definition())
    made = {"apiVersion": THINGS.api_version, "kind": "Thing", "metadata": {"name": "a"}, "spec": {"replicas": 1}}
    return await client.create(THINGS, made, namespace="default")


async def _send(client: Client, method: str, subresource: str, body: Object, **more: Any) -> tuple[int, Object]:
    path = "/".join(filter(None, (THINGS.path("default"), "a", subresource)))
    answer = await client.send(method, path, body=body, **more)
    return answer.status, answer.body


async def test_what_is_said_of_a_scale(client: Client, thing: Object) -> None:
    for method, subresource, body, status, words in ROWS:
        put = {**SCALE, **body, "metadata": {**SCALE["metadata"], **body.get("metadata", {})}}
        sent, headers = (body, MERGE) if method == "PATCH" else (put, {})
        found, answer = await _send(client, method, subresource, sent, headers=headers)
        assert found == status, (method, subresource, body, answer)
        assert words in answer.get("message", ""), (method, subresource, body)


async def test_what_is_null_has_nothing_in_it(client: Client, thing: Object) -> None:
    """Null on the way to replicas is as if they were not there, and is nothing that they can be put into."""
    resource_version = thing["metadata"]["resourceVersion"]
    given = {**thing, "metadata": {"name": "a", "resourceVersion": resource_version}, "status": None}
    assert (await _send(client, "PUT", "status", given))[0] == 200
    assert (await _send(client, "GET", "scale", {}))[1]["status"] == {"replicas": 0}
    current = await client.get(THINGS, "a", namespace="default")
    assert (await _send(client, "PUT", "", {**current, "spec": None}))[0] == 200
    status, answer = await _send(client, "PUT", "scale", {**SCALE, "spec": {"replicas": 2}})
    assert (status, answer["message"]) == (
        500,
        "value cannot be set because .spec is not a map[string]interface{}",
    )
