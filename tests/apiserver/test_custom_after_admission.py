"""What becomes of a custom object that a webhook or a policy has made into none of its kind, version or form: Go's
generic objects hold nothing, and only what comes after mutating admission does."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, Object
from engine.controllers.discovery import CUSTOM_RESOURCE_DEFINITIONS
from tests.apiserver.test_mutating_policies import patching as json_patching
from tests.apiserver.test_policies import policy
from tests.apiserver.test_webhooks import Hooks, hooks, patching

__all__ = ["hooks"]
CROWS = GVR("example.com", "v1", "crows")
RULE = {"operations": ["*"], "apiGroups": ["example.com"], "apiVersions": ["*"], "resources": ["crows"]}


async def define(hooks: Hooks) -> None:
    within = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    properties = {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}, "egg": within}
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    versions = [
        {"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2")
    ]  # fmt: skip
    spec = {
        "group": "example.com", "scope": "Namespaced", "names": {"kind": "Crow", "plural": "crows"},
        "versions": versions,
    }  # fmt: skip
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "crows.example.com"},
        "spec": spec,
    }
    await hooks.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition)


def crow(**metadata: Any) -> Object:
    return {"apiVersion": "example.com/v1", "kind": "Crow", "metadata": {"name": "c", **metadata}, "spec": {"size": 1}}


def egg(**metadata: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Egg", "metadata": metadata, "more": 1}


def replaced(path: str, value: Any) -> Object:
    return {"op": "add", "path": path, "value": value}


UNREAD = "json: cannot unmarshal {} into Go struct field ObjectMeta.{} of type {}"
NAMELESS = 'Crow.example.com "" is invalid: metadata.name: Required value: name or generateName is required'
REFUSED: dict[str, tuple[Object, int, str, str]] = {
    "another kind": (replaced("/kind", "Rook"), 422, "Invalid",
                     'Rook.example.com "c" is invalid: kind: Invalid value: "Rook": must be Crow'),
    "an unknown version": (replaced("/apiVersion", "example.com/v3"), 500, "",
                           "request to convert CR from an invalid group/version: example.com/v3"),
    "another group": (replaced("/apiVersion", "v1"), 500, "",
                      'v1, Kind=Crow is unsuitable for converting to "example.com/v1"'),
    "labels of another type": (replaced("/metadata/labels", {"a": 1}), 500, "",
                               UNREAD.format("number", "labels", "string")),
    "owners of another type": (replaced("/metadata/ownerReferences", {}), 500, "",
                               UNREAD.format("object", "ownerReferences", "[]v1.OwnerReference")),
    "a name that is none": (replaced("/metadata/name", 5), 422, "Invalid", NAMELESS),
    "an egg whose labels are none": (
        replaced("/egg", egg(labels=5)), 422, "Invalid",
        'Crow.example.com "c" is invalid: egg.metadata: Invalid value: {"labels":5}: '
        + UNREAD.format("number", "labels", "map[string]string"),
    ),
    "an egg whose label is none": (
        replaced("/egg", egg(labels={"a": 1})), 422, "Invalid",
        'Crow.example.com "c" is invalid: egg.metadata: Invalid value: {"labels":{"a":1}}: '
        + UNREAD.format("number", "labels", "string"),
    ),
    "metadata that are none": (replaced("/metadata", "x"), 422, "Invalid", NAMELESS),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
async def test_what_is_no_such_object_any_more_is_refused(hooks: Hooks, case: str) -> None:
    operation, code, reason, message = REFUSED[case]
    await define(hooks)
    await hooks.register("Mutating", "a", patching(operation), rules=[RULE])
    with pytest.raises(ApiError) as refused:
        await hooks.client.create(CROWS, crow(), namespace="default")
    assert (refused.value.code, refused.value.reason, refused.value.message) == (code, reason, message)


@pytest.mark.parametrize("operation", [{"op": "remove", "path": "/kind"}, replaced("/apiVersion", "a/b/c")])
async def test_a_patch_leaves_a_kind(hooks: Hooks, operation: Object) -> None:
    await define(hooks)
    await hooks.register("Mutating", "a", patching(operation), rules=[RULE])
    with pytest.raises(ApiError) as refused:
        await hooks.client.create(CROWS, crow(), namespace="default")
    assert refused.value.message.startswith("Internal error occurred: Object 'Kind' is missing in '{\"apiVersion\":")
    assert refused.value.code == 500


async def test_what_the_metadata_of_a_resource_within_do_not_know_is_dropped(hooks: Hooks) -> None:
    await define(hooks)
    await hooks.register("Mutating", "a", patching(replaced("/egg", egg(name="e", more=1))), rules=[RULE])
    assert (await hooks.client.create(CROWS, crow(), namespace="default"))["egg"] == egg(name="e")


KEPT: dict[str, tuple[Object, Object]] = {
    "another version": (replaced("/apiVersion", "example.com/v2"), {}),
    "what metadata do not know": (replaced("/metadata/more", "x"), {}),
    "a label": (replaced("/metadata/labels", {"a": "b"}), {"labels": {"a": "b"}}),
    "what the server sets": (replaced("/metadata/uid", 5), {}),
    "when it was made": (replaced("/metadata/creationTimestamp", "x"), {}),
}  # fmt: skip


@pytest.mark.parametrize("case", KEPT)
async def test_what_is_made_of_one_is_one(hooks: Hooks, case: str) -> None:
    operation, added = KEPT[case]
    await define(hooks)
    await hooks.register("Mutating", "a", patching(operation), rules=[RULE])
    made = await hooks.client.create(CROWS, crow(), namespace="default")
    again = await hooks.client.send("PUT", f"{CROWS.path('default')}/c", body={**crow(), "metadata": made["metadata"]})
    assert (again.status, len(hooks.asked)) == (200, 2)
    for obj in (made, again.body):
        metadata = obj.pop("metadata")
        assert obj == {"apiVersion": "example.com/v1", "kind": "Crow", "spec": {"size": 1}}
        own = {"creationTimestamp", "generation", "managedFields", "name", "namespace", "resourceVersion", "uid"}
        assert {key: value for key, value in metadata.items() if key not in own} == added
        assert len(metadata["uid"]) == 36
        assert metadata["creationTimestamp"].endswith("Z")


async def test_policies_are_held_to_it_too(hooks: Hooks) -> None:
    await define(hooks)
    change = json_patching("[JSONPatch{op: 'replace', path: '/kind', value: 'Rook'}]")
    spec = {"matchConstraints": {"resourceRules": [RULE]}, "reinvocationPolicy": "Never", "mutations": [change]}
    await policy(hooks.client, "Mutating", spec)
    with pytest.raises(ApiError, match="must be Crow"):
        await hooks.client.create(CROWS, crow(), namespace="default")
