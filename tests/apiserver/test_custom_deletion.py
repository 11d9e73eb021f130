"""How a definition goes that has no objects of its own to take along, or none that are served
(apiextensions-apiserver pkg/controller/finalizer/crd_finalizer.go)."""

from __future__ import annotations

import asyncio

from engine.api.types import Object, copy_object
from engine.api.wire import MERGE_PATCH
from engine.client import Client
from engine.clock import VirtualClock
from tests.api.crd.samples import definition
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
