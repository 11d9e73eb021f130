"""How a definition goes that has no objects of its own to take along, or none that are served
(apiextensions-apiserver pkg/controller/finalizer/crd_finalizer.go)."""

from __future__ import annotations

import asyncio

import orjson
import pytest

from engine.api.errors import ApiError
from engine.api.types import Object, copy_object
from engine.api.wire import APPLY_PATCH, MERGE_PATCH
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.api.crd.samples import definition
from tests.apiserver.conftest import ADMIN
from tests.apiserver.test_custom_resources import API_SERVICES, CRON_TABS, DEFINITIONS, NAME

HOLD: Object = {"metadata": {"finalizers": ["e.org/hold"]}}
A_WHILE = 10.0


def _named(plural: str, kind: str, **names: object) -> Object:
    made = definition()
    del made["metadata"]["uid"], made["status"]
    made["spec"]["names"] = {"plural": plural, "kind": kind, **names}
    made["metadata"]["name"] = f"{plural}.{made['spec']['group']}"
    return made


async def _terminating(client: Client, clock: VirtualClock, name: str) -> tuple[str, str, str]:
    """What is said of the deletion of a definition that somebody holds."""
    await client.patch(DEFINITIONS, name, HOLD, content_type=MERGE_PATCH)
    await client.delete(DEFINITIONS, name)
    await clock.sleep(A_WHILE)
    status = (await client.get(DEFINITIONS, name))["status"]
    (found,) = (each for each in status["conditions"] if each["type"] == "Terminating")
    return found["status"], found["reason"], found["message"]


async def test_a_definition_that_was_never_established(client: Client, virtual_clock: VirtualClock) -> None:
    await client.create(DEFINITIONS, _named("tabs", "Tab"))
    other = await client.create(DEFINITIONS, _named("others", "Other", shortNames=["tabs"]))
    assert await _terminating(client, virtual_clock, other["metadata"]["name"]) == (
        "False",
        "NeverEstablished",
        "resource was never established",
    )


async def test_a_definition_of_what_the_server_has_itself(client: Client, virtual_clock: VirtualClock) -> None:
    made = _named("apiservices", "APIService")
    made["spec"] |= {"group": API_SERVICES.group, "scope": "Cluster"}
    name = f"apiservices.{API_SERVICES.group}"
    made["metadata"] = {"name": name, "annotations": {"api-approved.kubernetes.io": "unapproved, a test"}}
    await client.create(DEFINITIONS, made)
    before = (await client.list(API_SERVICES)).items
    assert await _terminating(client, virtual_clock, name) == (
        "False",
        "OverlappingBuiltInResource",
        "instances overlap with built-in resources in storage",
    )
    assert (await client.list(API_SERVICES)).items == before


async def test_objects_of_a_version_that_is_not_served_go_too(client: Client, virtual_clock: VirtualClock) -> None:
    made = definition()
    del made["metadata"]["uid"]
    served = await client.create(DEFINITIONS, copy_object(made))
    tab = {"apiVersion": CRON_TABS.api_version, "kind": "CronTab", "metadata": {"name": "a"}}
    await client.create(CRON_TABS, tab, namespace="default")
    versions = copy_object(served["spec"])["versions"]
    versions[0]["served"] = False
    await client.patch(DEFINITIONS, NAME, {"spec": {"versions": versions}}, content_type=MERGE_PATCH)
    await client.delete(DEFINITIONS, NAME)
    await virtual_clock.sleep(A_WHILE)
    await client.create(DEFINITIONS, made)
    assert (await client.list(CRON_TABS)).items == []


async def test_objects_that_stay_are_told_of_each_minute(client: Client, virtual_clock: VirtualClock) -> None:
    made = definition()
    del made["metadata"]["uid"]
    await client.create(DEFINITIONS, made)
    held = {"apiVersion": CRON_TABS.api_version, "kind": "CronTab", "metadata": {"name": "a", **HOLD["metadata"]}}
    await client.create(CRON_TABS, held, namespace="default")
    await client.delete(DEFINITIONS, NAME)
    began, told = virtual_clock.monotonic(), list[tuple[str, str]]()
    async with await client.watch(DEFINITIONS, resource_version="0") as watch, asyncio.timeout(200):
        async for event in watch:
            if event.type == "DELETED":
                break
            (found,) = (each for each in event.object["status"]["conditions"] if each["type"] == "Terminating")
            if not told or told[-1][0] != found["reason"]:
                told.append((found["reason"], found["message"]))
            if len(told) == 4:  # a minute is over, and the next one has begun
                assert 60 <= virtual_clock.monotonic() - began < 61
                free = {"metadata": {"finalizers": None}}
                await client.patch(CRON_TABS, "a", free, namespace="default", content_type=MERGE_PATCH)
    assert 60 <= virtual_clock.monotonic() - began < 63
    assert told[1:4] == [
        ("InstanceDeletionInProgress", "CustomResource deletion is in progress"),
        (
            "InstanceDeletionCheck",
            "could not confirm zero CustomResources remaining: context deadline exceeded",
        ),
        ("InstanceDeletionInProgress", "CustomResource deletion is in progress"),
    ]


_ENDS = "create not allowed while custom resource definition is terminating"
_TAB: Object = {"apiVersion": CRON_TABS.api_version, "kind": "CronTab"}


@pytest.mark.parametrize(
    ("version", "posted", "applied"),
    [
        pytest.param("1.37", (403, f'{CRON_TABS.group_resource} "new" is forbidden: {_ENDS}'), 403, id="forbidden"),
        pytest.param("1.33", (405, _ENDS), 201, id="no such method, but an apply creates"),
    ],
)
async def test_nothing_new_of_a_definition_that_goes(
    store: SqliteStore, world: World, version: str, posted: tuple[int, str], applied: int
) -> None:
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version=version))
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="kubectl/v1.37.1")
    made = definition()
    del made["metadata"]["uid"]
    try:
        await client.create(DEFINITIONS, made)
        held = {**_TAB, "metadata": {"name": "held", "finalizers": ["e.org/hold"]}}
        await client.create(CRON_TABS, held, namespace="default")
        await client.delete(DEFINITIONS, NAME)
        with pytest.raises(ApiError) as refused:
            await client.create(CRON_TABS, {**_TAB, "metadata": {"name": "new"}}, namespace="default")
        assert (refused.value.code, refused.value.message) == posted
        for name, query in (("tried", {"dryRun": ["All"]}), ("made", {}), ("held", {"dryRun": ["All"]})):
            response = await client.send(
                "PATCH",
                CRON_TABS.path("default", name),
                body=orjson.dumps({**_TAB, "metadata": {"name": name, "labels": {"a": "b"}}}),
                headers={"content-type": APPLY_PATCH},
                query={"fieldManager": ["a"], **query},
            )
            assert response.status == (200 if name == "held" else applied), name
        names = {each["metadata"]["name"] for each in (await client.list(CRON_TABS)).items}
        assert names == {"held", *(["made"] if applied == 201 else [])}
    finally:
        await server.stop()
