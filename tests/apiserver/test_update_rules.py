"""Updates without a resourceVersion, updates and applies of what is not there, and names that are taken."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, GVR, LEASES, PODS, Object
from engine.api.wire import APPLY_PATCH, JSON_PATCH, MERGE_PATCH
from engine.client import Client
from engine.rng import Rng
from tests.apiserver.conftest import config_map, pod

BUDGETS = GVR("policy", "v1", "poddisruptionbudgets")
RUNTIMES = GVR("node.k8s.io", "v1", "runtimeclasses")
TAINT_RULES = GVR("resource.k8s.io", "v1", "devicetaintrules")
ROLES = GVR("rbac.authorization.k8s.io", "v1", "roles")
LEASE: Object = {"metadata": {"name": "a", "namespace": "default"}, "spec": {"holderIdentity": "x"}}
BUDGET: Object = {"metadata": {"name": "a", "namespace": "default"}, "spec": {"minAvailable": 1}}
TAINT_RULE: Object = {"metadata": {"name": "a"}, "spec": {"taint": {"key": "a", "effect": "NoSchedule"}}}
RUNTIME: Object = {"metadata": {"name": "a"}, "handler": "runc"}
MAP: Object = {"metadata": {"name": "a", "namespace": "default"}, "data": {"k": "v"}}
ROLE: Object = {"metadata": {"name": "a", "namespace": "default"}, "rules": []}


def of(resource: GVR, obj: Object, kind: str) -> Object:
    return {"apiVersion": resource.api_version, "kind": kind, **obj}


# resource, kind, object, whether an update may leave out the version
UNCONDITIONAL: list[tuple[GVR, str, Object, bool]] = [
    (CONFIGMAPS, "ConfigMap", MAP, True),
    (ROLES, "Role", ROLE, True),
    (LEASES, "Lease", LEASE, False),
    (BUDGETS, "PodDisruptionBudget", BUDGET, False),
    (RUNTIMES, "RuntimeClass", RUNTIME, False),
    (TAINT_RULES, "DeviceTaintRule", TAINT_RULE, False),
]


@pytest.mark.parametrize("row", UNCONDITIONAL, ids=[row[1] for row in UNCONDITIONAL])
async def test_some_kinds_are_updated_only_by_who_says_from_what(client: Client, row: tuple[Any, ...]) -> None:
    resource, kind, obj, allowed = row
    made = await client.create(resource, of(resource, obj, kind), namespace=obj["metadata"].get("namespace"))
    labelled = {**made["metadata"], "labels": {"x": "y"}}
    unsaid = {**made, "metadata": {key: value for key, value in labelled.items() if key != "resourceVersion"}}
    for blank in (unsaid, {**unsaid, "metadata": {**unsaid["metadata"], "resourceVersion": "0"}}):
        answer = await client.send("PUT", resource.path(obj["metadata"].get("namespace"), "a"), body=blank)
        if allowed:
            assert answer.status == 200
            continue
        assert answer.status == 422
        assert answer.body["message"] == (
            f'{resource.group_resource} "a" is invalid: metadata.resourceVersion: Invalid value: 0: '
            "must be specified for an update"
        )
        assert answer.body["details"]["kind"] == resource.resource
    assert (await client.update(resource, {**made, "metadata": labelled}) if not allowed else made)["metadata"]["uid"]


async def test_a_patch_is_of_the_newest_unless_it_takes_the_version_away(client: Client) -> None:
    await client.create(LEASES, of(LEASES, LEASE, "Lease"), namespace="default")
    path = LEASES.path("default", "a")
    ways: list[tuple[str, Any, int]] = [
        (MERGE_PATCH, {"metadata": {"labels": {"x": "y"}}}, 200),
        (MERGE_PATCH, {"metadata": {"resourceVersion": None, "labels": {"x": "z"}}}, 422),
        (JSON_PATCH, [{"op": "remove", "path": "/metadata/resourceVersion"}], 422),
        (APPLY_PATCH, of(LEASES, LEASE, "Lease"), 200),
    ]
    for kind, patch, status in ways:
        query = {"fieldManager": ["m"], **({"force": ["true"]} if kind == APPLY_PATCH else {})}
        answer = await client.send("PATCH", path, body=patch, query=query, headers={"content-type": kind})
        assert answer.status == status, answer.body


@pytest.mark.parametrize("verb", ["PUT", "PATCH"])
async def test_the_version_of_what_is_not_there_counts_for_nothing(client: Client, verb: str) -> None:
    """The generic registry creates it and forgets the version (store.go Update, etcd3 updateState)."""
    sent = of(LEASES, {**LEASE, "metadata": {**LEASE["metadata"], "resourceVersion": "70000"}}, "Lease")
    headers = {"content-type": APPLY_PATCH} if verb == "PATCH" else {}
    answer = await client.send(
        verb, LEASES.path("default", "a"), body=sent, query={"fieldManager": ["m"]}, headers=headers
    )
    assert answer.status == 201
    assert answer.body["metadata"]["resourceVersion"] not in ("", "70000")
    again = await client.send(
        verb, LEASES.path("default", "a"), body=sent, query={"fieldManager": ["m"]}, headers=headers
    )
    assert (again.status, again.body["reason"]) == (409, "Conflict")


async def test_a_class_is_made_by_an_update_and_a_rule_is_not(client: Client) -> None:
    answer = await client.send("PUT", RUNTIMES.path(None, "a"), body=of(RUNTIMES, RUNTIME, "RuntimeClass"))
    assert answer.status == 201
    answer = await client.send("PUT", TAINT_RULES.path(None, "a"), body=of(TAINT_RULES, TAINT_RULE, "DeviceTaintRule"))
    assert answer.status == 404


async def test_an_update_for_an_object_that_is_gone_makes_no_other(client: Client) -> None:
    sent = of(LEASES, {**LEASE, "metadata": {**LEASE["metadata"], "uid": "u1"}}, "Lease")
    with pytest.raises(ApiError) as caught:
        await client.update(LEASES, sent)
    assert caught.value.code == 409
    assert caught.value.message == (
        'Operation cannot be fulfilled on leases.coordination.k8s.io "a": StorageError: invalid object, Code: 4, '
        "Key: /registry/leases/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        "UID in precondition: u1, UID in object meta: "
    )


@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_name_whose_owner_goes(client: Client, dry_run: bool) -> None:
    held = config_map("a")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    await client.create(CONFIGMAPS, held, namespace="default")
    await client.delete(CONFIGMAPS, "a", namespace="default")
    with pytest.raises(ApiError) as caught:
        await client.create(CONFIGMAPS, config_map("a"), namespace="default", dry_run=dry_run)
    assert caught.value.reason == "AlreadyExists"
    assert caught.value.message == 'object is being deleted: configmaps "a" already exists'


async def test_a_name_that_cannot_be_drawn(client: Client) -> None:
    """Two servers with one seed draw the same names: all eight that are tried are taken."""
    twin = Rng(1).stream("apiserver").stream("names")
    taken = [f"a-{twin.name_suffix()}" for _ in range(8)]
    for name in taken:
        await client.create(CONFIGMAPS, config_map(name), namespace="default")
    drawn: Object = {**config_map(""), "metadata": {"generateName": "a-"}}
    answer = await client.send("POST", CONFIGMAPS.path("default"), body=drawn)
    assert (answer.status, answer.body["reason"]) == (409, "AlreadyExists")
    assert answer.body["message"] == (
        f'configmaps "{taken[-1]}" already exists, the server was not able to generate a unique name for the object'
    )
    assert answer.body["details"] == {"name": taken[-1], "kind": "configmaps", "retryAfterSeconds": 1}
    assert answer.headers["retry-after"] == "1"


async def test_what_is_wrong_with_an_update_comes_before_what_is_not_there(client: Client) -> None:
    for body, message in (
        ({**config_map("b")}, "the name of the object (b) does not match the name on the URL (a)"),
        ({**config_map("a"), "data": 1}, 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot '
         "unmarshal number into Go struct field ConfigMap.data of type map[string]string"),
    ):  # fmt: skip
        answer = await client.send("PUT", CONFIGMAPS.path("default", "a"), body=body)
        assert (answer.status, answer.body["message"]) == (400, message)


_TIME = {"deletionTimestamp": "2020-01-01T00:00:00Z"}
_GRACE = {"deletionGracePeriodSeconds": 7}
# where it is written, what is, what is told of it
DELETIONS: list[tuple[str, Object, str | None]] = [
    ("", _TIME, 'metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable'),
    ("", _GRACE, "metadata.deletionGracePeriodSeconds: Invalid value: 7: field is immutable"),
    ("status", _TIME, None),  # a Pod's status is written without it
    ("status", _GRACE, "metadata.deletionGracePeriodSeconds: Invalid value: 7: field is immutable"),
]


@pytest.mark.parametrize("verb", ["PUT", "PATCH"])
@pytest.mark.parametrize(("subresource", "given", "told"), DELETIONS)
async def test_nothing_is_deleted_by_an_update(
    client: Client, default_account: Object, subresource: str, given: Object, told: str | None, verb: str
) -> None:
    made = await client.create(PODS, pod("web"), namespace="default")
    body: Object = {"metadata": given} if verb == "PATCH" else {**made, "metadata": {**made["metadata"], **given}}
    path = f"{PODS.path('default', 'web')}/{subresource}".rstrip("/")
    headers = {"content-type": MERGE_PATCH} if verb == "PATCH" else {}
    answer = await client.send(verb, path, body=body, headers=headers)
    if told is None:
        assert (answer.status, set(given) & set(answer.body["metadata"])) == (200, set())
    else:
        assert (answer.status, answer.body["message"]) == (422, f'Pod "web" is invalid: {told}')


async def test_a_deletion_is_not_undone_by_an_update_and_takes_as_long_as_before(client: Client) -> None:
    held = config_map("a")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    await client.create(CONFIGMAPS, held, namespace="default")
    await client.delete(CONFIGMAPS, "a", namespace="default")
    deleted = await client.get(CONFIGMAPS, "a", namespace="default")
    metadata = {field: value for field, value in deleted["metadata"].items() if field != "deletionGracePeriodSeconds"}
    later = {**metadata, **_TIME, "labels": {"x": "y"}}
    updated = await client.update(CONFIGMAPS, {**deleted, "metadata": later})
    for field in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        assert updated["metadata"][field] == deleted["metadata"][field]
    longer = {**updated["metadata"], **_GRACE}
    with pytest.raises(ApiError, match="deletionGracePeriodSeconds: Invalid value: 7: field is immutable"):
        await client.update(CONFIGMAPS, {**updated, "metadata": longer})
