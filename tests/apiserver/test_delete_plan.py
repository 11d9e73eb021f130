"""What a delete writes, answers and asks, where deletions are under way or kinds have rules of their own (upstream's
TestGracefulStoreHandleFinalizers and its like, the storages of namespaces and definitions, handlers/delete.go)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from engine.api.types import CONFIGMAPS, GVR, NAMESPACES, PODS, Object
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import config_map, make_namespace, pod
from tests.apiserver.test_admission_configuration import client as client_of
from tests.apiserver.test_delete import bound_pod, is_there

DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
QUOTAS = GVR("", "v1", "resourcequotas")
HOLD = "example.com/hold"


def options(**more: Any) -> Object:
    return {"kind": "DeleteOptions", "apiVersion": "v1", **more}


async def held_pod(client: Client) -> None:
    await bound_pod(client)
    await client.patch(PODS, "web", {"metadata": {"finalizers": [HOLD]}}, namespace="default")


async def test_a_grace_below_zero_is_a_second(client: Client, default_account: Object) -> None:
    await bound_pod(client)
    going = await client.delete(PODS, "web", namespace="default", grace_period_seconds=-7)
    assert going["metadata"]["deletionGracePeriodSeconds"] == 1
    await bound_pod(client, "other")
    await client.delete(PODS, "other", namespace="default", grace_period_seconds=20)
    shorter = await client.delete(PODS, "other", namespace="default", grace_period_seconds=-1)
    assert shorter["metadata"]["deletionGracePeriodSeconds"] == 1


async def test_the_generation_counts_the_deletion_once(client: Client, default_account: Object) -> None:
    await held_pod(client)
    before = (await client.get(PODS, "web", namespace="default"))["metadata"].get("generation", 0)
    found = [
        await client.delete(PODS, "web", namespace="default", grace_period_seconds=grace) for grace in (20, 5, 0, 0)
    ]
    assert [each["metadata"].get("generation", 0) - before for each in found] == [1, 1, 1, 1]
    assert [each["metadata"]["deletionGracePeriodSeconds"] for each in found] == [20, 5, 0, 0]


async def test_a_pod_whose_time_is_up_goes_without_a_further_grace(client: Client, default_account: Object) -> None:
    """Finalizers may be changed again then, and what nothing keeps goes (the deletion may have failed half way)."""
    await bound_pod(client)
    await client.delete(PODS, "web", namespace="default", grace_period_seconds=0, propagation_policy="Foreground")
    orphaning = await client.delete(PODS, "web", namespace="default", propagation_policy="Orphan")
    assert orphaning["metadata"]["finalizers"] == ["orphan"]
    await client.delete(PODS, "web", namespace="default", propagation_policy="Background")
    assert not await is_there(client)


# kind of shortening of 60 s, of which 30 have passed -> the grace asked for, seconds until the end, the grace said
SHORTENED: dict[str, tuple[int, int, int]] = {
    "some time is left": (40, 10, 40),
    "that time has run out": (20, 0, 1),
    "none": (0, 0, 0),
    "below zero": (-5, 0, 1),
}


@pytest.mark.parametrize("row", SHORTENED.values(), ids=SHORTENED.keys())
async def test_a_grace_cannot_be_made_to_end_before_now(
    world: World, client: Client, default_account: Object, row: tuple[int, int, int]
) -> None:
    asked, left, said = row
    await held_pod(client)
    await client.delete(PODS, "web", namespace="default", grace_period_seconds=60)
    await world.clock.sleep(30)
    found = (await client.delete(PODS, "web", namespace="default", grace_period_seconds=asked))["metadata"]
    end = datetime.fromisoformat(found["deletionTimestamp"])
    assert (round((end - world.clock.now()).total_seconds()), found["deletionGracePeriodSeconds"]) == (left, said)


async def test_while_a_grace_runs_its_finalizers_stay(client: Client, default_account: Object) -> None:
    await bound_pod(client)
    await client.delete(PODS, "web", namespace="default")
    again = await client.delete(PODS, "web", namespace="default", propagation_policy="Foreground")
    assert "finalizers" not in again["metadata"]


# kind of deletion -> orphanDependents, whether something keeps the object, the status code
CODES: dict[str, tuple[bool | None, bool, int]] = {
    "gone": (None, False, 200),
    "gone, no orphans": (False, False, 200),
    "kept": (None, True, 200),
    "kept, no orphans": (False, True, 202),
    "kept, orphans": (True, True, 200),
}


@pytest.mark.parametrize("row", CODES.values(), ids=CODES.keys())
async def test_who_wants_no_orphans_is_told_that_it_is_under_way(
    client: Client, row: tuple[bool | None, bool, int]
) -> None:
    orphans, kept, code = row
    made = config_map("web")
    if kept:
        made["metadata"]["finalizers"] = [HOLD]
    await client.create(CONFIGMAPS, made, namespace="default")
    body = options() if orphans is None else options(orphanDependents=orphans)
    answer = await client.send("DELETE", CONFIGMAPS.path("default", "web"), body=body)
    assert answer.status == code


NAMESPACE_FINALIZERS: dict[str, tuple[Object, list[str]]] = {
    "nothing said": ({}, [HOLD]),
    "Foreground": ({"propagationPolicy": "Foreground"}, [HOLD, "foregroundDeletion"]),
    "Orphan": ({"propagationPolicy": "Orphan"}, [HOLD, "orphan"]),
    "Background": ({"propagationPolicy": "Background"}, [HOLD]),
    "no orphans": ({"orphanDependents": False}, [HOLD, "foregroundDeletion"]),
    "orphans": ({"orphanDependents": True}, [HOLD, "orphan"]),
}


@pytest.mark.parametrize("row", NAMESPACE_FINALIZERS.values(), ids=NAMESPACE_FINALIZERS.keys())
async def test_finalizers_of_a_namespace(client: Client, row: tuple[Object, list[str]]) -> None:
    said, finalizers = row
    made: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "finalizers": [HOLD]}}
    await client.create(NAMESPACES, made)
    going = (await client.send("DELETE", NAMESPACES.path(None, "a"), body=options(**said))).body
    assert going["metadata"]["finalizers"] == finalizers
    assert (going["status"]["phase"], "deletionGracePeriodSeconds" in going["metadata"]) == ("Terminating", False)


@pytest.mark.parametrize("resource", [NAMESPACES, DEFINITIONS], ids=["namespace", "definition"])
async def test_preconditions_of_what_looks_first(client: Client, resource: GVR) -> None:
    name = "a" if resource is NAMESPACES else "as.example.com"
    metadata = (await _made(client, resource))["metadata"]
    for asked, what, found in (("uid", "UID", metadata["uid"]), ("resourceVersion", "ResourceVersion", None)):
        body = options(preconditions={asked: "1"})
        answer = await client.send("DELETE", resource.path(None, name), body=body)
        newest = (await client.get(resource, name))["metadata"]["resourceVersion"]
        assert (answer.status, answer.body["message"]) == (
            409,
            f'Operation cannot be fulfilled on {resource.group_resource} "{name}": Precondition failed: '
            f"{what} in precondition: 1, {what} in object meta: {found or newest}",
        )


async def test_a_definition_is_marked_and_nothing_more(client: Client) -> None:
    made = await _made(client, DEFINITIONS)
    body = options(propagationPolicy="Foreground")
    going = (await client.send("DELETE", DEFINITIONS.path(None, "as.example.com"), body=body)).body
    assert going["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert "deletionTimestamp" in going["metadata"]
    assert "deletionGracePeriodSeconds" not in going["metadata"]
    assert going["metadata"]["generation"] == made["metadata"]["generation"]


async def _made(client: Client, resource: GVR) -> Object:
    if resource is NAMESPACES:
        return await make_namespace(client, "a")
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    names = {"plural": "as", "kind": "A"}
    spec = {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return await client.create(DEFINITIONS, {**kind, "metadata": {"name": "as.example.com"}, "spec": spec})


async def test_a_quota_is_shown_as_it_goes(client: Client) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "a"}, "spec": {"hard": {"pods": "1"}}}
    await client.create(QUOTAS, quota, namespace="default")
    assert (await client.delete(QUOTAS, "a", namespace="default"))["kind"] == "ResourceQuota"


async def test_preconditions_come_before_admission(client: Client) -> None:
    """Who asks for another namespace is told so, and not that this one may not be deleted."""
    answer = await client.send("DELETE", NAMESPACES.path(None, "kube-system"), body=options(preconditions={"uid": "1"}))
    assert answer.status == 409


# query, whether there is a body, code and what comes of it
QUERIES: dict[str, tuple[dict[str, str], bool, int, str]] = {
    "a grace that is no number": (
        {"gracePeriodSeconds": "1.5"},
        False,
        400,
        'strconv.ParseInt: parsing "1.5": invalid syntax',
    ),
    "a policy that is none": (
        {"propagationPolicy": "Sideways"},
        False,
        422,
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: '
        '"Foreground", "Background", "Orphan", "nil"',
    ),
    "a dry run": ({"dryRun": "All"}, False, 200, "kept"),
    "a body speaks alone": ({"dryRun": "All"}, True, 200, "gone"),
}


@pytest.mark.parametrize("row", QUERIES.values(), ids=QUERIES.keys())
async def test_options_of_the_query(
    client: Client, store: SqliteStore, row: tuple[dict[str, str], bool, int, str]
) -> None:
    query, with_body, code, outcome = row
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    answer = await client.send(
        "DELETE",
        CONFIGMAPS.path("default", "web"),
        query={key: [value] for key, value in query.items()},
        body=options() if with_body else None,
    )
    there = (await client.send("GET", CONFIGMAPS.path("default", "web"))).status == 200
    assert answer.status == code
    assert outcome == (answer.body["message"] if code != 200 else "kept" if there else "gone")


@pytest.mark.parametrize("body", [b"{}", b"null", b'{"unknown":1}'])
async def test_a_body_without_options_speaks_alone_too(client: Client, body: bytes) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    await client.send("DELETE", CONFIGMAPS.path("default", "web"), query={"dryRun": ["All"]}, body=body)
    assert (await client.send("GET", CONFIGMAPS.path("default", "web"))).status == 404


async def test_preconditions_that_come_twice_are_filled_twice(client: Client) -> None:
    made = await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    version = made["metadata"]["resourceVersion"]
    body = f'{{"preconditions":{{"uid":"x"}},"preconditions":{{"resourceVersion":"{version}"}}}}'.encode()
    answer = await client.send("DELETE", CONFIGMAPS.path("default", "web"), body=body)
    assert (answer.status, "the UID in the precondition (x)" in answer.body["message"]) == (409, True)


async def test_a_pod_that_is_not_told_to_go_stays(client: Client, default_account: Object) -> None:
    await client.create(PODS, pod(), namespace="default")
    shown = (await client.send("DELETE", PODS.path("default", "web"), query={"dryRun": ["All"]})).body
    assert (shown["kind"], await is_there(client)) == ("Pod", True)


GO_TYPE = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'
SCHEME = "pkg/apis/meta/internalversion/scheme/register.go:27"
BODIES: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"{", "couldn't get version/kind; json parse error: unexpected end of JSON input"),
    "no object": (
        b'"Background"',
        f"couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type {GO_TYPE}",
    ),
    "another kind": (
        b'{"kind":"Pod","apiVersion":"v1"}',
        f'no kind "Pod" is registered for version "v1" in scheme "{SCHEME}"',
    ),
    "a grace that is no number": (
        b'{"gracePeriodSeconds":"0"}',
        "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
    ),
    "a policy that is no text": (
        b'{"propagationPolicy":true}',
        "json: cannot unmarshal bool into Go struct field DeleteOptions.propagationPolicy of type "
        "v1.DeletionPropagation",
    ),
    "a number in a list of texts": (
        b'{"dryRun":["All",1]}',
        "json: cannot unmarshal number into Go struct field DeleteOptions.dryRun of type string",
    ),
    "a number within": (
        b'{"preconditions":{"uid":1}}',
        "json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID",
    ),
    "a wrong type before a right one": (
        b'{"gracePeriodSeconds":1.5,"gracePeriodSeconds":1}',
        "json: cannot unmarshal number 1.5 into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
    ),
}


@pytest.mark.parametrize("row", BODIES.values(), ids=BODIES.keys())
async def test_bodies_that_are_no_options(client: Client, row: tuple[bytes, str]) -> None:
    """The decoder's own words, of which 1.35 makes a 400; before it was a 500 that nobody gave a reason to."""
    body, message = row
    answer = await client.send(
        "DELETE", CONFIGMAPS.path("default", "web"), body=body, headers={"content-type": "application/json"}
    )
    assert (answer.status, answer.body.get("reason"), answer.body["message"]) == (400, "BadRequest", message)


async def test_of_an_older_server_they_are_its_own_fault(world: World, store: SqliteStore) -> None:
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version="1.34"))
    await server.start()
    answer = await client_of(server).send("DELETE", CONFIGMAPS.path("default", "web"), body=b'{"dryRun":"All"}')
    await server.stop()
    assert (answer.status, answer.body.get("reason")) == (500, None)
